// SPDX-License-Identifier: GPL-2.0

//! The configurations A to F of the RFC's cover letter.

use crate::real::Facts;

/// One configuration.
#[derive(Debug)]
pub struct Configuration {
    /// Its letter.
    pub name: &'static str,
    /// What the server's command line has.
    pub parameters: &'static [&'static str],
    /// fio jobs, and threads of the server.
    pub jobs: u32,
}

const A: &[&str] = &[
    "cpufreq.off=1",
    "cpuidle.off=1",
    "iommu.passthrough=1",
    "iommu.strict=0",
    "kpti=off",
    "maxcpus=72",
    "mem=480g",
    "rcu_nocb_poll",
    "selinux=0",
];
const B: &[&str] = &[
    "cpufreq.off=1",
    "cpuidle.off=1",
    "iommu.passthrough=0",
    "iommu.strict=0",
    "kpti=off",
    "maxcpus=72",
    "mem=480g",
    "rcu_nocb_poll",
    "selinux=0",
];
const C: &[&str] = &[
    "cpufreq.off=1",
    "cpuidle.off=1",
    "iommu.passthrough=0",
    "iommu.strict=1",
    "kpti=off",
    "maxcpus=72",
    "mem=480g",
    "rcu_nocb_poll",
    "selinux=0",
];
const D: &[&str] = &[
    "cpufreq.off=0",
    "cpuidle.off=0",
    "iommu.passthrough=0",
    "iommu.strict=1",
    "maxcpus=72",
    "mem=480g",
];

/// All of them, in the order of the table.
pub static ALL: [Configuration; 6] = [
    Configuration { name: "A", parameters: A, jobs: 64 },
    Configuration { name: "B", parameters: B, jobs: 64 },
    Configuration { name: "C", parameters: C, jobs: 64 },
    Configuration { name: "D", parameters: D, jobs: 64 },
    Configuration { name: "E", parameters: &[], jobs: 64 },
    Configuration { name: "F", parameters: &[], jobs: 8 },
];

impl Configuration {
    /// Why a server that was booted so is not in this configuration; nothing
    /// if it is.
    pub fn mismatch(&self, facts: &Facts) -> Vec<String> {
        let words: Vec<&str> = facts.parameters.split_whitespace().collect();
        let absent = self.parameters.iter().filter(|wanted| !words.contains(wanted));
        let absent = absent.filter(|wanted| !is_moot(wanted, facts));
        let mut reasons: Vec<String> =
            absent.map(|wanted| format!("{wanted} is not on the server's command line")).collect();
        let known = ALL.iter().flat_map(|other| other.parameters);
        let mut extra: Vec<&str> = known.copied().filter(|word| words.contains(word)).collect();
        extra.retain(|word| !self.parameters.contains(word));
        extra.sort_unstable();
        extra.dedup();
        reasons.extend(extra.iter().map(|word| format!("{word} is on the server's command line")));
        reasons
    }
}

/// Whether the machine never had what the parameter would take away.
fn is_moot(parameter: &str, facts: &Facts) -> bool {
    match parameter {
        "maxcpus=72" => facts.cpus <= 72,
        "mem=480g" => facts.memory <= 480 << 30,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(parameters: &str, cpus: u32) -> Facts {
        let parameters = parameters.to_owned();
        Facts { release: String::new(), parameters, cpus, memory: 1 << 40, devices: Vec::new() }
    }

    fn fitting(parameters: &str, cpus: u32) -> String {
        let facts = facts(parameters, cpus);
        ALL.iter().filter(|one| one.mismatch(&facts).is_empty()).map(|one| one.name).collect()
    }

    #[test]
    fn a_command_line_decides() {
        assert_eq!(fitting("root=/dev/sda1 quiet", 144), "EF");
        assert_eq!(fitting(&A.join(" "), 72), "A");
        assert_eq!(fitting(&D.join(" "), 72), "D");
    }

    #[test]
    fn a_small_machine_needs_no_limits() {
        let mut small = facts("cpufreq.off=0 cpuidle.off=0 iommu.passthrough=0 iommu.strict=1", 8);
        assert_eq!(ALL[3].mismatch(&small), ["mem=480g is not on the server's command line"]);
        small.memory = 4 << 30;
        assert!(ALL[3].mismatch(&small).is_empty());
    }

    #[test]
    fn every_difference_is_named() {
        let reasons = ALL[3].mismatch(&facts("iommu.passthrough=1 mem=480g", 8));
        assert_eq!(
            reasons,
            [
                "cpufreq.off=0 is not on the server's command line",
                "cpuidle.off=0 is not on the server's command line",
                "iommu.passthrough=0 is not on the server's command line",
                "iommu.strict=1 is not on the server's command line",
                "iommu.passthrough=1 is on the server's command line",
            ]
        );
    }
}
