// SPDX-License-Identifier: GPL-2.0

//! `rig run`: moves and verifies data over NFS/RDMA, and measures.

use crate::lab::{Bytes, GuestOptions, Lab, SessionOptions};
use crate::options::Sources;
use anyhow::{bail, Result};
use kbuild::flavour::Flavour;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use vm::job::{self, Job, Measure, Measured, Outcome, Workload};
use vm::qemu::Guest;
use vm::results::{self, Settings};
use vm::settings::{check_fit, show_size, Transport, MIB};
use vm::watch::Limits;
use vm::{boot, follow, table};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    #[command(flatten)]
    session: SessionOptions,
    /// Which kernel: ours, ours-c, plain or rfc-c
    #[arg(long, env = "KERNEL", hide_env_values = true, default_value = "ours")]
    kernel: Flavour,
    /// Payload
    #[arg(long, env = "SIZE", hide_env_values = true, default_value = "256M")]
    size: Bytes,
    /// Number of fsx operations
    #[arg(long, env = "FSX", hide_env_values = true, default_value = "500")]
    fsx: u32,
    /// Seed of the data and of fsx
    #[arg(long, env = "SEED", hide_env_values = true, default_value = "8166")]
    seed: u64,
    /// 1: build and measure the plain kernel first
    #[arg(long, env = "PLAIN", hide_env_values = true, default_value = "0")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=1))]
    plain: u8,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let Args { sources, guest, session, kernel, size, fsx, seed, plain } = self;
        if plain == 1 {
            guest.refuse_image("PLAIN=1 builds two kernels")?;
        }
        let chosen = session.session()?;
        check_fit(size.0, guest.machine().memory)?;
        let lab = Lab::open(sources, guest)?;
        session.install(&lab)?;
        let workload =
            Workload { size: size.0, fsx: Some(lab.fsx.clone()), fsx_operations: fsx, seed };
        let job = Measure { session: chosen, workload };
        let kernel = session.kernel(&kernel);
        let plain_flavour = session.kernel(&"plain".parse()?);
        if plain == 1 && kernel != plain_flavour {
            measure(&lab, &plain_flavour, &job)?;
        }
        let (settings, measured) = measure(&lab, &kernel, &job)?;
        let beside = results::recall(&lab.tools.state, &plain_flavour.to_string(), &settings);
        let beside = beside.filter(|_| kernel != plain_flavour);
        print!("{}", table::render(&kernel.to_string(), &measured, beside.as_ref()));
        if beside.is_none() && kernel != plain_flavour {
            println!("PLAIN=1 puts the plain kernel's figures beside these");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Measures one kernel and remembers the figures.
fn measure(lab: &Lab, flavour: &Flavour, job: &Measure) -> Result<(Settings, Measured)> {
    let guest = lab.quiet_guest(flavour)?;
    let settings = Settings {
        session: job.session,
        machine: guest.machine,
        accel: guest.accel,
        size: job.workload.size,
    };
    println!("kernel '{flavour}': {}", describe(&settings));
    let job = Measure { session: job.session, workload: job.workload.clone() };
    let Outcome::Measured(measured) = boot_with(lab, &guest, Job::Measure(job))? else {
        bail!("the guest reported no figures");
    };
    results::remember(&lab.tools.state, &flavour.to_string(), &settings, &measured)?;
    Ok((settings, *measured))
}

fn boot_with(lab: &Lab, guest: &Guest, job: Job) -> Result<Outcome> {
    let started = Instant::now();
    let sink = follow::lines(move |line| println!("{:>5} s  {line}", started.elapsed().as_secs()));
    let limits = Limits::new(guest, Some(Duration::from_secs(600) * guest.accel.slowness()));
    let finished = boot::run(&lab.tools, guest, &job, limits, vec![(job::PROGRESS, sink)])?;
    let outcome = finished.judge()?;
    println!("{:>5} s  all verified, the kernel's log is clean", started.elapsed().as_secs());
    Ok(outcome)
}

fn describe(settings: &Settings) -> String {
    let Settings { session, machine, accel, size } = settings;
    let carrier = match session.transport {
        Transport::Rdma => session.device.to_string(),
        Transport::Tcp => session.transport.to_string(),
    };
    format!(
        "NFSv{} over {carrier}, {} I/O, {} threads, {} of memory, {} CPUs, {accel}, {}",
        session.version,
        session.io,
        session.threads,
        show_size(machine.memory / MIB * MIB),
        machine.cpus,
        show_size(*size)
    )
}
