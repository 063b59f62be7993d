// SPDX-License-Identifier: GPL-2.0

//! The report, made from the raw results alone.

use crate::chart::Chart;
use crate::dataset::{Column, Dataset};
use crate::figure::{self, Figure, Source, Way, FIGURES, WAYS};
use crate::markdown::Table;
use crate::plan::{self, Extent, KERNELS};
use crate::replay::{self, PolicyRecord};
use crate::stats::Spread;
use std::collections::{BTreeMap, BTreeSet};
use vm::point::{Age, Figures, Point};
use vm::settings::{show_size, IoMode, Transport, MIB};

/// Folder of the plots, beside the report.
pub const PLOTS: &str = "plots";

/// Raw results of the replay, beside those of the benchmark.
pub const REPLAYED: &str = "policy.jsonl";

/// The font of the plots, of the package fonts-dejavu-core.
pub const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

/// Figures of DESIGN that counters in a guest do not give.
const ELSEWHERE: &str = "\
Not in this report, since these counters do not give it:

* DMA mappings: soft-RoCE and soft-iWARP use virtual DMA and map nothing.
* Send SGEs: no event of the base counts them.
* Memory after pressure: no pressure is made here.
* The cost of the builders in time per page: `make microbench` measures it.
* Lock contention and throughput of real hardware: two virtual CPUs and a software device say \
nothing about either.
";

/// The whole report.
pub fn render(data: &Dataset<'_>, charts: &[Chart], replayed: &[PolicyRecord]) -> String {
    let parts = [
        "# Benchmark of the NFS server over RDMA\n".to_owned(),
        origin(data),
        absent(data, replayed),
        headline(data),
        plots(charts),
        FIGURES.iter().map(|figure| section(data, figure)).collect(),
        by_order(data),
        replay::render(replayed),
    ];
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The figures of one large request, for the terminal, too.
pub fn headline(data: &Dataset<'_>) -> String {
    let Some(point) = data.points.iter().find(|point| is_headline(point)) else {
        return String::new();
    };
    let mut table = Table::new(header(data, &["figure", "direction"], &[None]), 2);
    for figure in &FIGURES {
        for way in figure.ways() {
            let direction = match figure.source {
                Source::Phase(_) => way.name(),
                Source::Point(_) => "both",
            };
            let cells = [figure.name.to_owned(), direction.to_owned()].into_iter();
            let values = data.columns.iter().map(|column| cell(data, column, point, figure, *way));
            table.row(cells.chain(values).collect());
        }
    }
    format!("## Large direct requests: {point}\n\n{}", table.render())
}

fn is_headline(point: &Point) -> bool {
    let Point { session, block, age, .. } = point;
    (session.transport, session.io, session.threads) == (Transport::Rdma, IoMode::Direct, 8)
        && (*block, *age) == (MIB, Age::Fresh)
}

fn origin(data: &Dataset<'_>) -> String {
    let Some(setup) = data.setup else {
        return "There are no results.\n".to_owned();
    };
    let mut kernels = Table::new(["kernel", "release", "image"].map(str::to_owned).to_vec(), 3);
    let mut lines = String::new();
    for Column { kernel, release, parameters } in &data.columns {
        let image = kernel.image.chars().take(12).collect();
        kernels.row(vec![kernel.flavour.clone(), release.clone(), image]);
        lines += &format!("* {}: `` {parameters} ``\n", kernel.flavour);
    }
    format!(
        "`make bench` measured this in guests with {} of memory and {} CPUs, executed by {}, on \
         this processor: {}. Server and client are in one guest. The client uses direct I/O, so \
         that a block is a request, with as many requests in flight as the server has threads; \
         the mode named is the server's. fio verified every byte.\n\n\
         The kernels took turns. A cell is the median of {} repetition(s), or of as many as it \
         says, with the least and the most of them where they differ. A fresh server's threads \
         have just started; an aged one has seen a mixed load, and the load that is then \
         measured.\n\n{}\nTheir command lines:\n\n{lines}",
        show_size(setup.machine.memory / MIB * MIB),
        setup.machine.cpus,
        setup.accel,
        setup.processor,
        data.repetitions(),
        kernels.render()
    )
}

fn absent(data: &Dataset<'_>, replayed: &[PolicyRecord]) -> String {
    let mut lines: Vec<String> = Vec::new();
    if replayed.is_empty() {
        lines.push(
            "* Policies of allocating pages were not compared: `make policy` does.".to_owned(),
        );
    }
    let measured = |name: &&&str| data.columns.iter().any(|column| column.kernel.flavour == **name);
    for name in KERNELS.iter().filter(|name| !measured(name)) {
        lines.push(format!("* The kernel {name} was not measured."));
    }
    lines.extend(subset(data));
    for failure in &data.failures {
        let (flavour, point, number) = (&failure.flavour, &failure.point, failure.repetition + 1);
        lines.push(format!("* {flavour}, {point}, repetition {number}: {}.", failure.reason));
    }
    let aged = aged(data);
    lines.extend(aged);
    if data.left_out > 0 {
        let count = data.left_out;
        lines.push(format!("* {count} results of other images or machines are left out."));
    }
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let lines = if lines.is_empty() { lines } else { format!("{lines}\n") };
    format!("## What was not measured\n\n{lines}{ELSEWHERE}")
}

/// Which part of the full benchmark there is.
fn subset(data: &Dataset<'_>) -> Option<String> {
    let device = data.points.first()?.session.device;
    let full = Extent::Full.groups(device).concat();
    let found = |point: &&Point| data.points.iter().any(|other| plan::alike(other, point));
    let there = full.iter().filter(found).count();
    (there < full.len()).then(|| {
        format!(
            "* This is a subset: {there} of the {} settings of the full benchmark (`make bench` \
             without `QUICK=1`). Rows that are missing below were not measured.",
            full.len()
        )
    })
}

/// How much of a mixed load the aged servers had seen.
fn aged(data: &Dataset<'_>) -> Option<String> {
    let figures = data
        .columns
        .iter()
        .flat_map(|column| data.points.iter().flat_map(move |point| data.figures(column, point)));
    let spread = Spread::of(figures.filter_map(|figures| Some(figures.aged_by? as f64)))?;
    let ask = if spread.least < 1e5 { ", fewer than the 10^5 of the full benchmark" } else { "" };
    Some(format!(
        "* Aged servers had seen {:.0} to {:.0} requests of a mixed load of 4 KiB to 1 MiB{ask}.",
        spread.least, spread.most
    ))
}

fn plots(charts: &[Chart]) -> String {
    let shown = charts.iter().map(|Chart { stem, title, .. }| {
        format!("![{title}]({PLOTS}/{stem}.png)\n\n[as SVG]({PLOTS}/{stem}.svg)\n\n")
    });
    let shown: String = shown.collect();
    if shown.is_empty() {
        return String::new();
    }
    format!("## Plots\n\n{}\n", shown.trim_end())
}

fn section(data: &Dataset<'_>, figure: &Figure) -> String {
    let ways: Vec<Option<Way>> = match figure.source {
        Source::Phase(_) => WAYS.map(Some).to_vec(),
        Source::Point(_) => vec![None],
    };
    let mut table = Table::new(header(data, &PLACE, &ways), PLACE.len());
    for point in &data.points {
        let mut cells = place(point);
        for way in figure.ways() {
            let values = data.columns.iter().map(|column| cell(data, column, point, figure, *way));
            cells.extend(values);
        }
        table.row(cells);
    }
    format!("## {}\n\n{}\n\n{}\n", capital(figure.name), figure.note, table.render())
}

/// Columns that say which point a row is about.
const PLACE: [&str; 6] = ["transport", "threads", "age", "server I/O", "request", "moved"];

fn place(point: &Point) -> Vec<String> {
    let Point { session, block, size, age } = point;
    let transport = match session.transport {
        Transport::Rdma => session.device.to_string(),
        Transport::Tcp => "tcp".to_owned(),
    };
    vec![
        transport,
        session.threads.to_string(),
        age.to_string(),
        session.io.to_string(),
        show_size(*block),
        show_size(*size),
    ]
}

fn header(data: &Dataset<'_>, texts: &[&str], ways: &[Option<Way>]) -> Vec<String> {
    let mut header: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    for way in ways {
        let name = |column: &Column| match way {
            Some(way) => format!("{} {}", way.name(), column.kernel.flavour),
            None => column.kernel.flavour.clone(),
        };
        header.extend(data.columns.iter().map(name));
    }
    header
}

fn cell(data: &Dataset<'_>, column: &Column, point: &Point, figure: &Figure, way: Way) -> String {
    if data.figures(column, point).next().is_none() {
        return "not measured".to_owned();
    }
    let spread = data.spread(column, point, |figures| figure.value(figures, way, point));
    let show = |spread| show(&spread, figure.digits, data.repetitions());
    spread.map_or("n/a".to_owned(), show)
}

/// `12.5 (12.0 to 13.0)`, and how many there are if that is unusual.
fn show(spread: &Spread, digits: usize, expected: usize) -> String {
    let number = |value: f64| format!("{value:.digits$}");
    let Spread { median, least, most, count } = spread;
    let mut text = number(*median);
    if number(*least) != number(*most) {
        text += &format!(" ({} to {})", number(*least), number(*most));
    }
    if *count != expected {
        text += &format!(" n={count}");
    }
    text
}

/// What the threads allocated, by order.
fn by_order(data: &Dataset<'_>) -> String {
    let ways: Vec<Option<Way>> = WAYS.map(Some).to_vec();
    let mut table = Table::new(header(data, &PLACE, &ways), PLACE.len());
    for point in &data.points {
        let mut cells = place(point);
        for way in WAYS {
            cells.extend(data.columns.iter().map(|column| orders(data, column, point, way)));
        }
        table.row(cells);
    }
    format!(
        "## Objects allocated by nfsd threads, by order, per GiB\n\n\
         `order: median`; the bulk allocator's pages are of order 0, those of the page cache are \
         left out.\n\n{}",
        table.render()
    )
}

fn orders(data: &Dataset<'_>, column: &Column, point: &Point, way: Way) -> String {
    let all: Vec<BTreeMap<u32, f64>> = data
        .figures(column, point)
        .map(|figures: &Figures| figure::orders(way.phase(figures)))
        .collect();
    if all.is_empty() {
        return "not measured".to_owned();
    }
    let names: BTreeSet<u32> = all.iter().flat_map(|orders| orders.keys().copied()).collect();
    let medians = names.iter().filter_map(|order| {
        let values = all.iter().map(|orders| orders.get(order).copied().unwrap_or(0.0));
        let median = Spread::of(values)?.median;
        (median >= 0.5).then(|| format!("{order}: {median:.0}"))
    });
    let medians: Vec<String> = medians.collect();
    if medians.is_empty() {
        return "none".to_owned();
    }
    medians.join(", ")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| match text.starts_with("bio_") {
        true => letter.to_string(),
        false => letter.to_uppercase().to_string(),
    });
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{canned, chart};

    fn report() -> String {
        let records = canned::records();
        let data = Dataset::new(&records);
        render(&data, &chart::all(&data), &[])
    }

    fn row<'a>(text: &'a str, heading: &str, start: &str) -> Vec<&'a str> {
        let section = text.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
        let line = section.lines().find(|line| line.contains(start)).unwrap();
        line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect()
    }

    #[test]
    fn rows_have_all_kernels_in_both_directions() {
        let cells = row(&report(), "RDMA work requests", "| 1 MiB").len();
        assert_eq!(cells, PLACE.len() + 4);
        let text = report();
        let cells = row(&text, "RDMA work requests", "| 1 MiB");
        assert_eq!(cells[PLACE.len()..], ["56.00", "8.00", "56.00", "8.00"]);
    }

    #[test]
    fn nothing_is_left_out_silently() {
        let text = report();
        let cells = row(&text, "RDMA work requests", "| 4 KiB");
        assert_eq!(cells[PLACE.len()..][..2], ["56.00 n=1", "not measured"]);
        assert!(text.contains("* The kernel rfc-c was not measured.\n"));
        assert!(text.contains("* This is a subset: 2 of the 72 settings"), "{text}");
        let failure = "* ours, rxe, 8 threads, fresh, direct, 4 KiB, repetition 1: \
                       fio ended with error 84.\n";
        assert!(text.contains(failure));
        assert!(row(&text, "bio_vecs", "| 1 MiB").contains(&"n/a"));
        assert!(text.contains("* DMA mappings:"));
    }

    #[test]
    fn origins_and_plots_are_named() {
        let text = report();
        assert!(text.contains("| plain  | 7.3.4   | p1    |\n"), "{text}");
        assert!(text.contains("* plain: `` quiet ``\n"));
        assert!(text.contains("(plots/requests-read-rdma.png)"));
        assert_eq!(row(&text, "Objects allocated", "| 1 MiB")[PLACE.len()], "0: 261376, 3: 96");
    }

    #[test]
    fn an_empty_file_gives_a_report_that_says_so() {
        let text = render(&Dataset::new(&[]), &[], &[]);
        assert!(text.contains("There are no results.\n"));
        assert!(text.contains("* The kernel ours was not measured.\n"));
    }

    #[test]
    fn spreads_are_short() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied()).unwrap();
        assert_eq!(show(&spread(&[1.0, 1.001]), 2, 2), "1.00");
        assert_eq!(show(&spread(&[1.0, 2.0]), 1, 2), "1.5 (1.0 to 2.0)");
        assert_eq!(show(&spread(&[1.0]), 0, 3), "1 n=1");
    }
}
