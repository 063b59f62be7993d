// SPDX-License-Identifier: GPL-2.0

//! Median and spread.

/// What repetitions of one measurement gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// How many there are.
    pub count: usize,
}

impl Spread {
    /// The spread of these values; none without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = |at: usize| values.get(at).copied();
        let (low, high) = (middle((values.len() - 1) / 2)?, middle(values.len() / 2)?);
        Some(Self { median: f64::midpoint(low, high), least, most, count: values.len() })
    }

    /// Distance of the least and the most, as a share of the median.
    pub fn relative(&self) -> Option<f64> {
        (self.median > 0.0).then(|| (self.most - self.least) / self.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_found() {
        let odd = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.median, odd.least, odd.most, odd.count), (2.0, 1.0, 3.0, 3));
        let even = Spread::of([4.0, 1.0, 2.0, 3.0]).unwrap();
        assert_eq!(even.median, 2.5);
        assert_eq!(even.relative(), Some(1.2));
        assert_eq!(Spread::of([7.0]).unwrap().relative(), Some(0.0));
    }

    #[test]
    fn nothing_has_no_spread() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([0.0]).unwrap().relative(), None);
    }
}
