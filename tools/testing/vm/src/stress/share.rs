// SPDX-License-Identifier: GPL-2.0

//! Shares of a time that is limited.

/// Seconds for something of that weight, of `left` seconds for `weights`
/// together; none if there are fewer than `least`.
pub fn of(left: u64, least: u64, weight: u64, weights: u64) -> Option<u64> {
    let fair = left.saturating_mul(weight) / weights.max(1);
    (left >= least).then_some(fair.max(least))
}

/// Why something was left out.
pub fn too_little(left: u64, least: u64) -> String {
    format!("it takes {least} s, of BUDGET there are {left} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_by_weight() {
        assert_eq!(of(600, 60, 5, 10), Some(300));
        assert_eq!(of(600, 60, 1, 1), Some(600));
        assert_eq!(of(600, 60, 1, 20), Some(60));
        assert_eq!(of(59, 60, 1, 1), None);
        assert_eq!(of(60, 60, 0, 0), Some(60));
    }
}
