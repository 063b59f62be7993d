// SPDX-License-Identifier: GPL-2.0

//! The raw results that can be compared with each other, by kernel and point.

use crate::plan::{self, KERNELS};
use crate::record::{Kernel, Record, Setup};
use crate::stats::Spread;
use vm::point::{Figures, Point};

/// One kernel of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The image that was measured last.
    pub kernel: Kernel,
    /// Its release.
    pub release: String,
    /// Its command line.
    pub parameters: String,
}

/// A point that could not be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Flavour of the kernel.
    pub flavour: String,
    /// The point.
    pub point: Point,
    /// Counts from zero.
    pub repetition: u32,
    /// What failed.
    pub reason: String,
}

/// Results of the last setup, and of the last image of each kernel.
#[derive(Debug)]
pub struct Dataset<'a> {
    /// What the guests ran on; none without results.
    pub setup: Option<&'a Setup>,
    /// The kernels, in the order of the report.
    pub columns: Vec<Column>,
    /// The points, in the order of the report.
    pub points: Vec<Point>,
    /// What failed and was not made good since.
    pub failures: Vec<Failure>,
    /// Results of older images and other setups.
    pub left_out: usize,
    records: Vec<&'a Record>,
}

impl<'a> Dataset<'a> {
    /// Chooses from all results, which are in the order of time.
    pub fn new(all: &'a [Record]) -> Self {
        let setup = all.last().map(|record| &record.setup);
        let same = all.iter().filter(|record| Some(&record.setup) == setup);
        let columns = columns(same.clone());
        let chosen = |record: &&Record| columns.iter().any(|column| column.kernel == record.kernel);
        let chosen: Vec<&Record> = same.filter(chosen).collect();
        let left_out = all.len() - chosen.len();
        let records = latest(&chosen);
        let points = points(&records);
        let failures = failures(&records);
        Self { setup, columns, points, failures, left_out, records }
    }

    /// The figures of all repetitions of a point.
    pub fn figures<'b>(
        &'b self,
        column: &'b Column,
        point: &'b Point,
    ) -> impl Iterator<Item = &'a Figures> + 'b {
        let records = self
            .records
            .iter()
            .filter(move |record| record.kernel == column.kernel && record.sample.point == *point);
        records.filter_map(|record| record.sample.outcome.as_ref().ok())
    }

    /// Median and spread of one figure of a point.
    pub fn spread(
        &self,
        column: &Column,
        point: &Point,
        figure: impl Fn(&Figures) -> Option<f64>,
    ) -> Option<Spread> {
        Spread::of(self.figures(column, point).filter_map(figure))
    }

    /// Most repetitions of any point.
    pub fn repetitions(&self) -> usize {
        let repetitions = self.records.iter().map(|record| record.repetition as usize + 1);
        repetitions.max().unwrap_or(0)
    }
}

fn columns<'a>(records: impl DoubleEndedIterator<Item = &'a Record>) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for Record { kernel, sample, .. } in records.rev() {
        let (release, parameters) = (&sample.release, &sample.parameters);
        match columns.iter_mut().find(|column| column.kernel.flavour == kernel.flavour) {
            None => columns.push(Column {
                kernel: kernel.clone(),
                release: release.clone(),
                parameters: parameters.clone(),
            }),
            // A boot that failed as a whole told neither.
            Some(column) if column.release.is_empty() && column.kernel == *kernel => {
                column.release.clone_from(release);
                column.parameters.clone_from(parameters);
            }
            Some(_) => {}
        }
    }
    columns.sort_by_key(|column| place(&column.kernel.flavour));
    columns
}

/// Known kernels in their order, then others by name.
fn place(flavour: &str) -> (usize, String) {
    let known = KERNELS.iter().position(|known| *known == flavour);
    (known.unwrap_or(KERNELS.len()), flavour.to_owned())
}

/// The last result of each kernel, point and repetition.
fn latest<'a>(records: &[&'a Record]) -> Vec<&'a Record> {
    let same = |a: &Record, b: &Record| {
        a.kernel == b.kernel && a.repetition == b.repetition && a.sample.point == b.sample.point
    };
    let kept = records
        .iter()
        .enumerate()
        .filter(|(at, record)| !records[at + 1..].iter().any(|later| same(record, later)));
    kept.map(|(_, record)| *record).collect()
}

fn points(records: &[&Record]) -> Vec<Point> {
    let mut points: Vec<Point> = records.iter().map(|record| record.sample.point).collect();
    points.sort_by(plan::compare);
    points.dedup();
    points
}

fn failures(records: &[&Record]) -> Vec<Failure> {
    let failed = records.iter().filter_map(|record| {
        let reason = record.sample.outcome.as_ref().err()?.clone();
        let (flavour, point) = (record.kernel.flavour.clone(), record.sample.point);
        Some(Failure { flavour, point, repetition: record.repetition, reason })
    });
    failed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canned;

    fn requests(figures: &Figures) -> Option<f64> {
        Some(figures.read.counts.rdma_write.requests as f64)
    }

    #[test]
    fn kernels_and_points_are_in_order() {
        let records = canned::records();
        let data = Dataset::new(&records);
        let flavours: Vec<&str> =
            data.columns.iter().map(|column| column.kernel.flavour.as_str()).collect();
        assert_eq!(flavours, ["plain", "ours"]);
        assert_eq!(data.points.len(), 2);
        assert_eq!(data.points[0].block, 4096);
        assert_eq!(data.repetitions(), 2);
        assert_eq!((data.left_out, data.failures.len()), (0, 1));
    }

    #[test]
    fn repetitions_are_brought_together() {
        let records = canned::records();
        let data = Dataset::new(&records);
        let spread = data.spread(&data.columns[1], &data.points[1], requests).unwrap();
        assert_eq!((spread.median, spread.count), (256.0, 2));
        let absent = data.spread(&data.columns[1], &data.points[0], requests);
        assert_eq!(absent, None);
    }

    #[test]
    fn an_older_image_is_left_out() {
        let mut records = canned::records();
        records[0].kernel.image = "older".to_owned();
        records[1].setup.machine.cpus = 64;
        assert_eq!(Dataset::new(&records).left_out, 2);
    }

    #[test]
    fn a_failure_that_was_made_good_is_forgotten() {
        let mut records = canned::records();
        let at = records.iter().position(|record| record.sample.outcome.is_err()).unwrap();
        let mut good = records[at].clone();
        good.sample.outcome = records[0].sample.outcome.clone();
        records.push(good);
        assert!(Dataset::new(&records).failures.is_empty());
    }
}
