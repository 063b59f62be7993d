// SPDX-License-Identifier: GPL-2.0

//! Decides whether a guest that is over was well.

use crate::job::Report;
use crate::watch::End;
use crate::{console, klog};

/// What is wrong, in one line, and the lines of the log that show it.
#[derive(Debug, Default)]
pub struct Fault {
    /// What happened.
    pub line: String,
    /// What the kernel said.
    pub excerpt: Vec<String>,
}

/// None if the guest reported success and its kernel was content.
pub fn find(end: &End, console: &str) -> Option<Fault> {
    let complaint = klog::scan(console).into_iter().next();
    let own = match end {
        End::Failed(line) | End::Reported(Report { outcome: Err(line), .. }) => Some(line.clone()),
        End::Reported(report) if complaint.is_none() && !klog::blames_client(console) => {
            klog::taint(report.tainted)
        }
        End::Reported(_) => None,
    };
    if let Some(complaint) = complaint {
        let own = own.map_or(String::new(), |line| format!("{line}; "));
        let line = format!("{own}the kernel complained: {}", complaint.headline);
        return Some(Fault { line, excerpt: complaint.lines });
    }
    let tail = if matches!(end, End::Failed(_)) { 12 } else { 0 };
    let excerpt = console::tail(console, tail).into_iter().map(str::to_owned).collect();
    own.map(|line| Fault { line, excerpt })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Outcome;

    fn reported(outcome: std::result::Result<Outcome, String>, tainted: u64) -> End {
        End::Reported(Report { release: "7.3.4".into(), tainted, outcome })
    }

    #[test]
    fn a_clean_guest_has_no_fault() {
        assert!(find(&reported(Ok(Outcome::Done), 0), "[    0.1] all well\n").is_none());
    }

    #[test]
    fn a_complaint_is_a_fault_though_the_job_passed() {
        let found = find(&reported(Ok(Outcome::Done), 512), "[    0.1] WARNING: a.c:1\n").unwrap();
        assert_eq!(found.line, "the kernel complained: WARNING: a.c:1");
        assert_eq!(found.excerpt, ["WARNING: a.c:1"]);
    }

    #[test]
    fn both_reasons_are_told() {
        let end = reported(Err("fio failed".into()), 0);
        assert_eq!(find(&end, "").unwrap().line, "fio failed");
        let found = find(&end, "BUG: x\n").unwrap();
        assert_eq!(found.line, "fio failed; the kernel complained: BUG: x");
    }

    #[test]
    fn a_lost_complaint_shows_in_the_taint() {
        assert!(find(&reported(Ok(Outcome::Done), 512), "").is_some());
    }

    #[test]
    fn a_dead_guest_shows_the_end_of_its_log() {
        let found = find(&End::Failed("it died".into()), "a\nb\n").unwrap();
        assert_eq!(found.excerpt, ["a", "b"]);
    }
}
