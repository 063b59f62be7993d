// SPDX-License-Identifier: GPL-2.0

//! What the plots show, apart from drawing them.

use crate::dataset::Dataset;
use crate::figure::{Figure, Way, FIGURES};
use crate::plan::{THREADS, TRANSPORTS};
use crate::stats::Spread;
use vm::point::{Age, Point};
use vm::settings::{show_size, IoMode, Transport, MIB};

/// Bars of each kernel, side by side for each category.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Name of its files, without the extension.
    pub stem: String,
    /// What it shows.
    pub title: String,
    /// Digits after the point.
    pub digits: usize,
    /// Two lines for each category.
    pub categories: Vec<[String; 2]>,
    /// The kernels.
    pub series: Vec<Series>,
}

/// Bars of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The kernel.
    pub name: String,
    /// One for each category; none where nothing was measured.
    pub values: Vec<Option<Spread>>,
}

impl Chart {
    /// The highest value.
    pub fn top(&self) -> f64 {
        let values = self.series.iter().flat_map(|series| series.values.iter().flatten());
        values.map(|spread| spread.most).fold(0.0, f64::max)
    }

    fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().all(Option::is_none))
    }
}

/// All charts that have something to show.
pub fn all(data: &Dataset<'_>) -> Vec<Chart> {
    let plotted = FIGURES.iter().filter(|figure| figure.plotted);
    let charts = plotted
        .flat_map(|figure| figure.ways().iter().flat_map(move |way| of_figure(data, figure, *way)));
    charts.filter(|chart| !chart.is_empty()).collect()
}

fn of_figure(data: &Dataset<'_>, figure: &Figure, way: Way) -> Vec<Chart> {
    let modes = TRANSPORTS.map(|transport| by_mode(data, figure, way, transport));
    modes.into_iter().chain([by_load(data, figure, way)]).collect()
}

/// Modes and sizes of requests, for the fewest threads, fresh.
fn by_mode(data: &Dataset<'_>, figure: &Figure, way: Way, transport: Transport) -> Chart {
    let shown = |point: &&Point| {
        let session = &point.session;
        session.transport == transport && session.threads == THREADS[0] && point.age == Age::Fresh
    };
    let points: Vec<Point> = data.points.iter().filter(shown).copied().collect();
    let label = |point: &Point| [point.session.io.to_string(), show_size(point.block)];
    let about = format!("{transport}, {} threads", THREADS[0]);
    chart(data, figure, way, &points, label, (transport.to_string(), about))
}

/// Threads, transports and ages, for large direct requests.
fn by_load(data: &Dataset<'_>, figure: &Figure, way: Way) -> Chart {
    let shown = |point: &&Point| point.block == MIB && point.session.io == IoMode::Direct;
    let points: Vec<Point> = data.points.iter().filter(shown).copied().collect();
    let label = |point: &Point| {
        let session = &point.session;
        [format!("{}, {}", session.transport, point.age), format!("{} threads", session.threads)]
    };
    let about = "direct, 1 MiB".to_owned();
    chart(data, figure, way, &points, label, ("load".to_owned(), about))
}

fn chart(
    data: &Dataset<'_>,
    figure: &Figure,
    way: Way,
    points: &[Point],
    label: impl Fn(&Point) -> [String; 2],
    (suffix, about): (String, String),
) -> Chart {
    let series = data.columns.iter().map(|column| {
        let spread =
            |point: &Point| data.spread(column, point, |figures| figure.value(figures, way, point));
        Series { name: column.kernel.flavour.clone(), values: points.iter().map(spread).collect() }
    });
    Chart {
        stem: format!("{}-{}-{suffix}", figure.stem, way.name().to_lowercase()),
        title: format!("{}: {} ({about})", way.name(), figure.name),
        digits: figure.digits,
        categories: points.iter().map(label).collect(),
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned;

    #[test]
    fn charts_have_a_bar_for_each_kernel_and_category() {
        let records = canned::records();
        let charts = all(&Dataset::new(&records));
        let chart = charts.iter().find(|chart| chart.stem == "requests-read-rdma").unwrap();
        assert_eq!(chart.categories[1], ["direct".to_owned(), "1 MiB".to_owned()]);
        let medians = |at: usize| -> Vec<Option<f64>> {
            chart.series[at].values.iter().map(|value| Some(value.as_ref()?.median)).collect()
        };
        assert_eq!(medians(0), [Some(56.0), Some(56.0)]);
        assert_eq!(medians(1), [None, Some(8.0)]);
        assert_eq!(chart.top(), 56.0);
    }

    #[test]
    fn names_are_distinct_and_empty_charts_left_out() {
        let records = canned::records();
        let charts = all(&Dataset::new(&records));
        let mut stems: Vec<&str> = charts.iter().map(|chart| chart.stem.as_str()).collect();
        assert!(!stems.iter().any(|stem| stem.ends_with("-tcp")));
        let count = stems.len();
        stems.sort_unstable();
        stems.dedup();
        assert_eq!(stems.len(), count);
    }
}
