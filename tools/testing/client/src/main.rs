// SPDX-License-Identifier: GPL-2.0

//! Command line of the crafted client.
//!
//! Exit codes: 0 all cases passed, 1 a case failed, 2 wrong use, or the run
//! broke off.

use anyhow::{ensure, Context, Result};
use clap::Parser;
use client::plan::{self, Case};
use client::report::{self, Report};
use client::run::{self, Lab, Options};
use client::{idle, nfs};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

/// More memory than that may not be gone at the end, in KiB: a leaked Read
/// sink or reply of the largest payload shows, and the page cache's own
/// bookkeeping does not.
const LEAK: u64 = 4096;

/// More memory than that in use after one case is told, in KiB.
const NOTICEABLE: u64 = 256;

/// Tests an NFS server with hand-written messages of RPC-over-RDMA
#[derive(Parser)]
struct Args {
    /// Address of the server
    #[arg(long, default_value = "10.0.0.1")]
    server: IpAddr,
    /// Port of NFS over RDMA
    #[arg(long, default_value_t = 20049)]
    port: u16,
    /// Path of the export, for mountd
    #[arg(long, default_value = "/mnt/export")]
    export: String,
    /// File handle of the export's root, in hexadecimal; mountd is not asked
    #[arg(long, value_parser = handle)]
    root: Option<nfs::Handle>,
    /// Only cases whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// No case whose name contains this; several with commas, or given again
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
    /// Each case so many times, to see a leak grow
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    /// Print the plan and do nothing
    #[arg(long)]
    list: bool,
    /// Append one JSON line a case to this file
    #[arg(long)]
    cases: Option<PathBuf>,
}

fn main() -> ExitCode {
    match Args::parse().run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::from(2)
        }
    }
}

impl Args {
    fn wants(&self, case: &Case) -> bool {
        let named = |part: &String| case.name.contains(part.as_str());
        self.only.as_ref().is_none_or(named) && !self.skip.iter().any(named)
    }

    fn run(self) -> Result<bool> {
        let cases: Vec<Case> = plan::all().into_iter().filter(|case| self.wants(case)).collect();
        ensure!(!cases.is_empty(), "no case has such a name");
        if self.list {
            print!("{}", report::list(&cases));
            return Ok(true);
        }
        let mut report = Report::new(self.cases.as_deref())?;
        let server = SocketAddr::new(self.server, self.port);
        let options = Options { server, export: self.export, root: self.root };
        let mut lab = Lab::open(options).context("cannot set up")?;
        let before = idle::unaccounted()?;
        let mut last = before;
        for case in &cases {
            let verdict = run::repeated(&mut lab, case, self.repeat);
            report.case(case, &verdict)?;
            let now = idle::unaccounted()?;
            if now > last + NOTICEABLE {
                println!("      {} KiB more are in use after it", now - last);
            }
            last = now;
        }
        let held = idle::unaccounted()?.saturating_sub(before);
        println!("      {held} KiB more are in use than before");
        let failure = format!("{held} KiB of memory were not given back");
        report.result("memory is given back", (held > LEAK).then_some(&*failure))?;
        Ok(report.finish())
    }
}

fn handle(text: &str) -> Result<nfs::Handle> {
    ensure!(text.len() % 2 == 0, "an odd number of digits");
    let bytes = (0..text.len()).step_by(2).map(|at| {
        let digits = text.get(at..at + 2).context("not hexadecimal")?;
        u8::from_str_radix(digits, 16).context("not hexadecimal")
    });
    bytes.collect()
}
