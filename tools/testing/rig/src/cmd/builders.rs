// SPDX-License-Identifier: GPL-2.0

//! `rig builders`: what svcrdma's chunk builders cost, kernel beside kernel.

use crate::lab::{Bytes, GuestOptions, Lab, SessionOptions};
use crate::options::Sources;
use anyhow::{bail, ensure, Result};
use kbuild::flavour::Flavour;
use std::process::ExitCode;
use std::time::Duration;
use vm::accel::Accel;
use vm::job::{Costs, Job, Measure, Outcome, Workload};
use vm::settings::{check_fit, Transport};
use vm::watch::Limits;
use vm::{boot, table};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    #[command(flatten)]
    session: SessionOptions,
    /// The kernels, in the order of the boots
    #[arg(long, value_delimiter = ',', default_value = "plain,rfc-c,ours,ours,rfc-c,plain")]
    kernels: Vec<Flavour>,
    /// Payload
    #[arg(long, env = "SIZE", hide_env_values = true, default_value = "32M")]
    size: Bytes,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        self.guest.refuse_image("several kernels are compared")?;
        let session = self.session.session()?;
        ensure!(session.transport == Transport::Rdma, "the builders do nothing for MOUNT=tcp");
        check_fit(self.size.0, self.guest.machine().memory)?;
        let lab = Lab::open(self.sources, self.guest)?;
        let workload = Workload { size: self.size.0, fsx: None, fsx_operations: 0, seed: 8166 };
        let mut boots = Vec::new();
        for flavour in &self.kernels {
            println!("kernel '{flavour}'");
            let job = Job::Cost(Measure { session, workload: workload.clone() });
            boots.push((flavour.to_string(), measure(&lab, flavour, &job)?));
        }
        print!("{}", table::costs(&boots));
        Ok(ExitCode::SUCCESS)
    }
}

/// Under emulation time says little, and instructions are counted instead.
fn measure(lab: &Lab, flavour: &Flavour, job: &Job) -> Result<Costs> {
    let mut guest = lab.quiet_guest(flavour)?;
    if guest.accel == Accel::Tcg {
        guest.accel = Accel::Icount;
        guest.machine.cpus = 1;
    }
    let limits = Limits::new(&guest, Some(Duration::from_secs(600) * guest.accel.slowness()));
    let finished = boot::run(&lab.tools, &guest, job, limits, Vec::new())?;
    let Outcome::Costs(costs) = finished.judge()? else {
        bail!("the guest reported no costs");
    };
    Ok(costs)
}
