// SPDX-License-Identifier: GPL-2.0

//! The closing table of a measured run.

use crate::counts::Counts;
use crate::job::{Costs, Measured, Phase};
use crate::settings::{GIB, MIB};

const LABEL: usize = 46;
const COLUMN: usize = 14;

/// Only shown where READs are spliced.
const SPLICED: &str = "buffers spliced per MiB, READ";

/// A figure that may not apply.
type Figure = Option<f64>;

/// One line: a label, how many digits matter, and the figure.
struct Line {
    label: &'static str,
    digits: usize,
    figure: fn(&Measured) -> Figure,
}

const LINES: [Line; 15] = [
    Line { label: "written and verified, MiB", digits: 0, figure: |m| per(m.write.bytes, MIB) },
    Line { label: "read back and verified, MiB", digits: 0, figure: |m| per(m.read.bytes, MIB) },
    Line {
        label: "compared with the backing file, MiB",
        digits: 1,
        figure: |m| per(m.compared, MIB),
    },
    Line {
        label: "fsx operations verified",
        digits: 0,
        figure: |m| Some(f64::from(m.fsx_operations)),
    },
    Line { label: "bvecs per MiB at the file system, READ", digits: 2, figure: read_bvecs },
    Line {
        label: "bvecs per MiB at the file system, WRITE",
        digits: 2,
        figure: |m| per_mib(&m.write, m.write.counts.fs_write.bvecs),
    },
    Line { label: SPLICED, digits: 2, figure: |m| per_mib(&m.read, m.read.counts.spliced) },
    Line {
        label: "RDMA work requests per MiB, READ",
        digits: 2,
        figure: |m| per_mib(&m.read, m.read.counts.rdma_write.requests),
    },
    Line {
        label: "RDMA work requests per MiB, WRITE",
        digits: 2,
        figure: |m| per_mib(&m.write, m.write.counts.rdma_read.requests),
    },
    Line {
        label: "pages allocated by nfsd per GiB, READ",
        digits: 0,
        figure: |m| per_gib(&m.read, Counts::nfsd_pages),
    },
    Line {
        label: "pages allocated by nfsd per GiB, WRITE",
        digits: 0,
        figure: |m| per_gib(&m.write, Counts::nfsd_pages),
    },
    Line {
        label: "CPU ticks of nfsd per GiB, READ",
        digits: 0,
        figure: |m| per_gib(&m.read, |c| c.nfsd_ticks),
    },
    Line {
        label: "CPU ticks of nfsd per GiB, WRITE",
        digits: 0,
        figure: |m| per_gib(&m.write, |c| c.nfsd_ticks),
    },
    Line { label: "seconds, READ", digits: 1, figure: |m| Some(m.read.seconds) },
    Line { label: "seconds, WRITE", digits: 1, figure: |m| Some(m.write.seconds) },
];

/// The table of kernel `name`, beside the plain kernel's figures if there are
/// any. No line is longer than 100 columns.
pub fn render(name: &str, own: &Measured, plain: Option<&Measured>) -> String {
    let mut text = row("", name, plain.map(|_| ("plain", "ratio")));
    let spliced = own.read.counts.spliced > 0;
    for line in LINES.iter().filter(|line| spliced || line.label != SPLICED) {
        let mine = (line.figure)(own);
        let theirs = plain.map(|plain| (line.figure)(plain));
        let beside = theirs.map(|theirs| (show(theirs, line.digits), ratio(mine, theirs)));
        let beside = beside.as_ref().map(|(figure, ratio)| (figure.as_str(), ratio.as_str()));
        text += &row(line.label, &show(mine, line.digits), beside);
    }
    text
}

fn row(label: &str, own: &str, beside: Option<(&str, &str)>) -> String {
    let mut line = format!("{label:<LABEL$}{own:>COLUMN$}");
    if let Some((plain, ratio)) = beside {
        line += &format!("{plain:>COLUMN$}{ratio:>COLUMN$}");
    }
    line + "\n"
}

fn show(figure: Figure, digits: usize) -> String {
    figure.map_or("n/a (splice)".to_owned(), |figure| format!("{figure:.digits$}"))
}

fn ratio(own: Figure, plain: Figure) -> String {
    match (own, plain) {
        (Some(own), Some(plain)) if plain > 0.0 => format!("{:.3}", own / plain),
        _ => "-".to_owned(),
    }
}

/// A buffered READ is spliced and never becomes an iterator.
fn read_bvecs(measured: &Measured) -> Figure {
    let io = measured.read.counts.fs_read;
    (io.calls > 0).then(|| per_mib(&measured.read, io.bvecs)).flatten()
}

fn per_mib(phase: &Phase, count: u64) -> Figure {
    per(count, 1).map(|count| count * MIB as f64 / phase.bytes as f64)
}

fn per_gib(phase: &Phase, count: fn(&Counts) -> u64) -> Figure {
    per(count(&phase.counts), 1).map(|count| count * GIB as f64 / phase.bytes as f64)
}

fn per(count: u64, unit: u64) -> Figure {
    Some(count as f64 / unit as f64)
}

/// The costs of functions, a line for each boot.
pub fn costs(boots: &[(String, Costs)]) -> String {
    let mut text = "cost for each MiB of payload: median (first to third quartile)\n".to_owned();
    let functions = boots.first().map(|(_, costs)| costs.0.as_slice()).unwrap_or_default();
    for (number, function) in functions.iter().enumerate() {
        text += &format!("{}()\n", function.function);
        for (kernel, costs) in boots {
            let Some(cost) = costs.0.get(number) else { continue };
            let (low, high) = cost.quartiles;
            text += &format!("    {kernel:<10} {:>10} ({low} to {high})\n", cost.median);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::{FileIo, Posts};
    use crate::job::Cost;

    fn measured(bvecs: u64) -> Measured {
        let io = FileIo { calls: u64::from(bvecs > 0) * 64, bvecs, bytes: 64 * MIB };
        let counts = Counts {
            fs_read: io,
            fs_write: io,
            rdma_read: Posts { chunks: 64, requests: 512 },
            rdma_write: Posts { chunks: 64, requests: 3584 },
            bulk_pages: 16384,
            nfsd_ticks: 25,
            ..Counts::default()
        };
        let phase = Phase { bytes: 64 * MIB, seconds: 1.25, counts };
        Measured { write: phase.clone(), read: phase, compared: 17 * MIB, fsx_operations: 500 }
    }

    fn line<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap();
        line[label.len()..].split_whitespace().collect()
    }

    #[test]
    fn figures_are_scaled_and_compared() {
        let text = render("ours", &measured(64), Some(&measured(64 * 256)));
        assert_eq!(line(&text, LINES[4].label), ["1.00", "256.00", "0.004"]);
        assert_eq!(line(&text, "RDMA work requests per MiB, READ"), ["56.00", "56.00", "1.000"]);
        assert_eq!(
            line(&text, "pages allocated by nfsd per GiB, READ"),
            ["262144", "262144", "1.000"]
        );
    }

    #[test]
    fn spliced_reads_have_no_bvecs() {
        let mut own = measured(0);
        assert!(!render("ours", &own, None).contains(SPLICED));
        own.read.counts.spliced = 64 * 16;
        let text = render("ours", &own, Some(&measured(0)));
        assert_eq!(line(&text, SPLICED), ["16.00", "0.00", "-"]);
        assert_eq!(line(&text, LINES[4].label), ["n/a", "(splice)", "n/a", "(splice)", "-"]);
    }

    #[test]
    fn the_table_is_narrow_and_aligned() {
        for plain in [None, Some(&measured(1))] {
            let text = render("ours", &measured(64), plain);
            let widths: Vec<usize> = text.lines().map(str::len).collect();
            assert!(widths.iter().all(|width| *width == widths[0] && *width <= 100), "{text}");
        }
    }

    #[test]
    fn costs_stand_below_their_function() {
        let cost = Cost { function: "f".into(), median: 5, quartiles: (4, 6) };
        let boots = ["plain", "ours"].map(|name| (name.to_owned(), Costs(vec![cost.clone()])));
        let text = costs(&boots);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines[0], "f()");
        assert_eq!(lines[1], "    plain               5 (4 to 6)");
        assert!(lines[2].starts_with("    ours "), "{text}");
    }
}
