// SPDX-License-Identifier: GPL-2.0

//! Judges a kernel log: finds what a healthy kernel never says.

use regex::{Regex, RegexSet};
use std::sync::OnceLock;

/// First lines of complaints, without the time stamp.
const COMPLAINTS: [&str; 24] = [
    // WARN(), lockdep and RCU reports all start so.
    r"^WARNING: ",
    r"^BUG: ",
    r"kernel BUG at ",
    r"^Oops:? ",
    r"Oops: .*\[#\d+\]",
    r"general protection fault",
    r"unable to handle (kernel|page fault)",
    r"^INFO: (possible|suspicious|trying to register|inconsistent|task .* blocked for)",
    r"^(\[ INFO: )?possible (circular|recursive|irq lock)",
    r"^DEBUG_LOCKS_WARN_ON",
    r"^rcu: INFO: ",
    r"rcu.* (self-detected stall|detected stalls|detected expedited stalls|kthread starved|kthread timer)",
    r"\b(soft lockup|hard LOCKUP)\b",
    r"\b(KASAN|KMSAN|KCSAN|KFENCE|UBSAN): ",
    r"^DMA-API: .*(device driver|mapping sg|overlapping|leaked|cacheline tracking|debugging out of memory)",
    r"bio_vec array overflow",
    r"refcount_t: ",
    r"\blist_(add|del)( corruption|\.)",
    r"Bad (page|rss-counter) (state|cache)",
    r"Kernel panic - not syncing",
    r"page allocation failure: ",
    r"unregister_netdevice: waiting for ",
    r"^Call Trace:",
    r"^(slub|BUG \S+|=+\[ cut here).*(Object|Redzone|Poison)",
];

/// What a complaint about the client of the base says, in one of its lines
/// each: whatever a device supports, the client maps heads of messages in one
/// piece. With [`crate::settings::Device::RxeDma`] that is seen.
const CLIENT: [&str; 2] = ["mapping sg segment longer than device claims", " frwr_map+"];

/// Lines that quote what somebody else wrote.
const QUOTES: [&str; 3] =
    ["Kernel command line: ", "Command line: ", "Unknown kernel command line parameters "];

/// An excerpt ends after that many lines.
const EXCERPT: usize = 40;

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Its first line, without the time stamp.
    pub headline: String,
    /// The lines that belong to it.
    pub lines: Vec<String>,
}

impl Complaint {
    fn is_about_the_client(&self) -> bool {
        CLIENT.iter().all(|part| self.lines.iter().any(|line| line.contains(part)))
    }
}

/// The complaints of a log, in order, without those about the client that are
/// known. What follows a first line, up to the end of its trace, belongs to it
/// and is not reported again.
pub fn scan(log: &str) -> Vec<Complaint> {
    all(log).into_iter().filter(|complaint| !complaint.is_about_the_client()).collect()
}

/// Whether there are complaints about the client that are known, which taint
/// the kernel as well.
pub fn blames_client(log: &str) -> bool {
    all(log).iter().any(Complaint::is_about_the_client)
}

fn all(log: &str) -> Vec<Complaint> {
    let lines: Vec<&str> = log.lines().map(without_time).collect();
    let mut complaints = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if is_complaint(line) {
            let length = excerpt_length(&lines[at..]);
            let excerpt = lines[at..at + length].iter().map(|line| (*line).to_owned());
            complaints
                .push(Complaint { headline: line.trim().to_owned(), lines: excerpt.collect() });
            at += length;
        } else {
            at += 1;
        }
    }
    complaints
}

/// What the kernel's taint flags tell of complaints that the log has lost.
pub fn taint(flags: u64) -> Option<String> {
    let flags: Vec<&str> = [(5, "bad page"), (7, "oops"), (9, "warning"), (14, "soft lockup")]
        .into_iter()
        .filter(|(bit, _)| flags & (1 << bit) != 0)
        .map(|(_, name)| name)
        .collect();
    (!flags.is_empty()).then(|| format!("the kernel is tainted by: {}", flags.join(", ")))
}

/// Removes `[    1.234567] ` and `[    1.234567][  T123] `.
pub fn without_time(line: &str) -> &str {
    static TIME: OnceLock<Regex> = OnceLock::new();
    let time = TIME.get_or_init(|| constant(r"^\[ *\d+\.\d+\](\[ *[CT]\d+\])? ?"));
    time.find(line).map_or(line, |found| &line[found.end()..])
}

fn is_complaint(line: &str) -> bool {
    static SET: OnceLock<RegexSet> = OnceLock::new();
    let set = SET.get_or_init(|| RegexSet::new(COMPLAINTS).expect("the patterns are constant"));
    !QUOTES.iter().any(|quote| line.starts_with(quote)) && set.is_match(line)
}

/// Up to the end marker, if there is one nearby.
fn excerpt_length(lines: &[&str]) -> usize {
    let near = &lines[..lines.len().min(2 * EXCERPT)];
    let end = near.iter().position(|line| line.contains("---[ end trace"));
    end.map_or(near.len().min(EXCERPT / 2), |end| end + 1).min(EXCERPT)
}

fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complains(line: &str) -> bool {
        !scan(&format!("[    1.000000] {line}\n")).is_empty()
    }

    #[test]
    fn complaints_are_found() {
        for line in [
            "WARNING: net/sunrpc/svc_xprt.c:723 at svc_recv+0x12/0x34, CPU#0: nfsd/123",
            "WARNING: CPU: 0 PID: 1 at fs/nfsd/vfs.c:10 nfsd_read+0x1/0x2",
            "WARNING: possible circular locking dependency detected",
            "WARNING: suspicious RCU usage",
            "WARNING: possible recursive locking detected",
            "BUG: KASAN: slab-out-of-bounds in svc_rdma_build_read+0x1/0x2",
            "BUG: KMSAN: uninit-value in memcmp",
            "BUG: unable to handle page fault for address: ffff888000000000",
            "BUG: sleeping function called from invalid context at mm/page_alloc.c:1",
            "BUG: scheduling while atomic: nfsd/12/0x00000002",
            "BUG: Bad page state in process nfsd  pfn:12345",
            "kernel BUG at mm/page_alloc.c:100!",
            "Oops: 0002 [#1] SMP",
            "Oops: general protection fault, probably for non-canonical address: 0000 [#1] SMP",
            "general protection fault, probably for non-canonical address 0xdead",
            "INFO: task nfsd:123 blocked for more than 120 seconds.",
            "INFO: trying to register non-static key.",
            "rcu: INFO: rcu_preempt self-detected stall on CPU",
            "rcu: rcu_preempt kthread starved for 5000 jiffies! g1 f0x0 RCU_GP_WAIT_FQS(5)",
            "rcu: INFO: rcu_tasks detected stalls on tasks:",
            "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [nfsd:12]",
            "UBSAN: array-index-out-of-bounds in net/sunrpc/xdr.c:1:2",
            "DMA-API: exceeded 7 overlapping mappings of cacheline 0x0000000012345678",
            "xdr_buf_to_bvec: bio_vec array overflow",
            "refcount_t: underflow; use-after-free.",
            "list_add corruption. prev->next should be next (0), but was 1.",
            "list_del corruption, ffff888 is LIST_POISON1",
            "Kernel panic - not syncing: Fatal exception",
            "nfsd: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP)",
            "unregister_netdevice: waiting for veth0 to become free. Usage count = 2",
            "Call Trace:",
        ] {
            assert!(complains(line), "{line:?} was not found");
        }
    }

    #[test]
    fn ordinary_lines_are_no_complaints() {
        for line in [
            "Kernel command line: quiet oops=panic slub_debug=FZPU BUG: WARNING: Oops: x",
            "Command line: WARNING: BUG: ",
            "Unknown kernel command line parameters \"BUG: x\", will be passed to user space.",
            "CPU: 0 UID: 0 PID: 12 Comm: nfsd Tainted: G        W           7.3.4 #1",
            "rcu: Hierarchical RCU implementation.",
            "rcu: \tRCU restricting CPUs from NR_CPUS=64 to nr_cpu_ids=2.",
            "rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.",
            "rcu: srcu_init: Setting srcu_struct sizes based on contention.",
            "DMA-API: preallocated 65536 debug entries",
            "DMA-API: debugging enabled by kernel config",
            "kasan: KernelAddressSanitizer initialized (generic)",
            "kfence: initialized - using 2097152 bytes for 255 objects",
            "ACPI: debug output enabled",
            "debug: unmapping init memory",
            "lockdep is turned on, debugging",
            "Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
            "NFSD: Using nfsdcld client tracking operations.",
            "systemd: oops, nothing to do",
            "process 12 (bugle) launched with WARNINGS",
            "page_owner is disabled",
            "virtme-ng-init: WARNING: failed to restore a link",
            "mce: CPU supports 10 MCE banks; hung task detection is on",
            "rig: case rxe v3 direct",
        ] {
            assert!(!complains(line), "{line:?} was taken for a complaint");
        }
    }

    #[test]
    fn a_trace_is_one_complaint() {
        let log = "[    1.0] ------------[ cut here ]------------\n\
            [    1.0][  T12] WARNING: a.c:1 at f+0x1/0x2, CPU#0: nfsd/12\n\
            [    1.0] Modules linked in:\n\
            [    1.0] Call Trace:\n\
            [    1.0]  <TASK>\n\
            [    1.0] ---[ end trace 0000000000000000 ]---\n\
            [    2.0] all is well\n\
            [    3.0] BUG: another\n";
        let found = scan(log);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].headline, "WARNING: a.c:1 at f+0x1/0x2, CPU#0: nfsd/12");
        assert_eq!(found[0].lines.len(), 5);
        assert_eq!(found[1].headline, "BUG: another");
    }

    #[test]
    fn the_client_of_the_base_is_not_blamed_on_the_server() {
        let log = |function: &str| {
            format!(
                "[    1.0] DMA-API: platform rxe_dma: mapping sg segment longer than device \
                claims to support [len=4240] [max=4096]\n\
                [    1.0] WARNING: kernel/dma/debug.c:1232 at debug_dma_map_sg+0x1d9/0x4c0\n\
                [    1.0] Call Trace:\n\
                [    1.0]  {function}+0x36c/0x500\n\
                [    1.0] ---[ end trace 0000000000000000 ]---\n"
            )
        };
        let (client, server) = (log("frwr_map"), log("rdma_rw_ctx_init_bvec"));
        assert!(scan(&client).is_empty() && blames_client(&client));
        assert!(scan(&server).len() == 1 && !blames_client(&server));
        assert_eq!(scan(&(client + &server)).len(), 1);
    }

    #[test]
    fn taint_names_its_causes() {
        assert_eq!(taint(0), None);
        // Test modules and unsigned modules are fine.
        assert_eq!(taint(1 << 18 | 1 << 13), None);
        assert_eq!(taint(1 << 9 | 1 << 7).unwrap(), "the kernel is tainted by: oops, warning");
    }
}
