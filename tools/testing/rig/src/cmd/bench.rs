// SPDX-License-Identifier: GPL-2.0

//! `rig bench`: measures the kernels in turn and writes the report.

use crate::lab::{GuestOptions, Lab};
use crate::meter::Meter;
use crate::options::Sources;
use crate::program;
use anyhow::{bail, ensure, Context, Result};
use bench::dataset::Dataset;
use bench::plan::{self, Boot, Extent, SEED};
use bench::record::{Kernel, Record, Setup, FORMAT};
use bench::{journal, report};
use kbuild::flavour::{Base, Flavour};
use kbuild::repo;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use vm::job::{self, Job};
use vm::point::{Bench, Point, Sample};
use vm::qemu::Guest;
use vm::settings::{check_fit, Device};
use vm::watch::Limits;
use vm::{boot, follow};

/// No point takes longer, set-up included, at full speed.
const PER_POINT: Duration = Duration::from_secs(120);

/// The mixed load takes no longer at full speed.
const AGEING: Duration = Duration::from_secs(600);

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// RDMA device of the guest
    #[arg(long, env = "RDMA", hide_env_values = true, default_value = "rxe")]
    rdma: Device,
    /// 1: a subset that takes minutes
    #[arg(long, env = "QUICK", hide_env_values = true, default_value = "0")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=1))]
    quick: u8,
    /// How often each point is measured; without it 2 or 3 times
    #[arg(long, env = "REPEAT", hide_env_values = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,
    /// Which kernels, separated by commas
    #[arg(long, env = "KERNELS", hide_env_values = true, value_delimiter = ',')]
    #[arg(default_values = plan::KERNELS)]
    kernels: Vec<Flavour>,
}

/// A kernel that is there, and a guest to boot it.
struct Candidate {
    kernel: Kernel,
    guest: Guest,
}

/// The benchmark while it runs.
struct Run<'a> {
    lab: &'a Lab,
    candidates: &'a [Candidate],
    extent: Extent,
    results: PathBuf,
    meter: RefCell<Meter>,
    failed: usize,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        let Args { sources, guest, rdma, quick, repeat, kernels } = self;
        ensure!(rdma.patch_set().is_none(), "bench measures kernels without test-only patches");
        if kernels.len() > 1 {
            guest.refuse_image("bench boots several kernels, unless KERNELS names one")?;
        }
        let extent = if quick == 1 { Extent::Quick } else { Extent::Full };
        let groups = extent.groups(rdma);
        let largest = groups.iter().flatten().map(|point| point.size).max().unwrap_or(0);
        check_fit(largest, guest.machine().memory)?;
        let lab = Lab::open(sources, guest)?;
        kbuild::host::plot_tools(&lab.cache)?;
        let program = program::build("bench", "nfsrdma-bench")?;
        let candidates = candidates(&lab, kernels)?;
        let repetitions = repeat.unwrap_or(extent.repetitions());
        let results = folder()?.join("results.jsonl");
        let (all, boots) = to_do(&candidates, &groups, repetitions, &results)?;
        let meter = RefCell::new(Meter::new(all, &boots));
        let mut run = Run { lab: &lab, candidates: &candidates, extent, results, meter, failed: 0 };
        run.all(&boots)?;
        run.report(&program)
    }
}

/// Builds the kernels; without the patches of rfc-c it is left out.
fn candidates(lab: &Lab, kernels: Vec<Flavour>) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for flavour in kernels {
        let optional = flavour.tree.base == Base::RfcC && lab.origins.peers.is_none();
        match lab.origins.series(&flavour.tree) {
            Err(err) if optional => println!("rfc-c is left out: {err:#}"),
            Err(err) => return Err(err),
            Ok(_) => candidates.push(candidate(lab, &flavour)?),
        }
    }
    ensure!(!candidates.is_empty(), "there is no kernel to measure");
    Ok(candidates)
}

fn candidate(lab: &Lab, flavour: &Flavour) -> Result<Candidate> {
    let guest = lab.quiet_guest(flavour)?;
    let image = vm::digest::of_file(&guest.image)?;
    Ok(Candidate { kernel: Kernel { flavour: flavour.to_string(), image }, guest })
}

/// Where results and report are.
pub fn folder() -> Result<PathBuf> {
    let folder = repo::root()?.join("build/bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

fn find<'a>(candidates: &'a [Candidate], boot: &Boot) -> Result<&'a Candidate> {
    let found = candidates.iter().find(|candidate| candidate.kernel.flavour == boot.flavour);
    found.with_context(|| format!("there is no kernel {}", boot.flavour))
}

/// What a guest runs on.
pub fn setup(guest: &Guest) -> Setup {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name"));
    let processor = model.map_or("unknown", |model| model.trim_start_matches([' ', '\t', ':']));
    Setup { machine: guest.machine, accel: guest.accel, processor: processor.to_owned() }
}

/// The number of all points, and the boots with those that are not in the
/// results.
fn to_do(
    candidates: &[Candidate],
    groups: &[Vec<Point>],
    repetitions: u32,
    results: &Path,
) -> Result<(usize, Vec<Boot>)> {
    let known: Vec<Record> = journal::load(results)?;
    let flavours = candidates.iter().map(|candidate| candidate.kernel.flavour.clone());
    let boots = plan::boots(&flavours.collect::<Vec<String>>(), repetitions, groups);
    let all = boots.iter().map(|boot| boot.points.len()).sum();
    let boots = plan::outstanding(boots, |boot, point| {
        find(candidates, boot).is_ok_and(|Candidate { kernel, guest }| {
            let setup = setup(guest);
            known.iter().any(|record| record.covers(kernel, &setup, boot.repetition, point))
        })
    });
    Ok((all, boots))
}

impl Run<'_> {
    fn all(&mut self, boots: &[Boot]) -> Result<()> {
        for boot in boots {
            self.meter.borrow_mut().boot(boot);
            let records = self.boot(boot, find(self.candidates, boot)?)?;
            journal::append(&self.results, &records)?;
            self.note_failures(boot, &records);
        }
        self.meter.borrow_mut().finish();
        Ok(())
    }

    fn note_failures(&mut self, boot: &Boot, records: &[Record]) {
        let failures = records.iter().filter_map(|record| record.sample.outcome.as_ref().err());
        let failures: Vec<&String> = failures.collect();
        if let Some(reason) = failures.first() {
            let what = format!("{}, {} points failed: {reason}", boot.flavour, failures.len());
            self.meter.borrow().say(&what);
        }
        self.failed += failures.len();
    }

    /// The records of all points of the boot. If its kernel had anything to
    /// complain about, none of them counts.
    fn boot(&self, boot: &Boot, candidate: &Candidate) -> Result<Vec<Record>> {
        let (mut samples, verdict) = self.samples(boot, &candidate.guest)?;
        let reason = match verdict {
            Ok(()) => "the guest did not get that far".to_owned(),
            Err(reason) => {
                samples.iter_mut().for_each(|sample| sample.outcome = Err(reason.clone()));
                reason
            }
        };
        let missing = |point: &&Point| !samples.iter().any(|sample| sample.point == **point);
        let missing: Vec<Sample> =
            boot.points.iter().filter(missing).map(|point| lost(point, &reason)).collect();
        let record = |sample| Record {
            format: FORMAT,
            kernel: candidate.kernel.clone(),
            setup: setup(&candidate.guest),
            repetition: boot.repetition,
            sample,
        };
        Ok(samples.into_iter().chain(missing).map(record).collect())
    }

    /// What the guest handed out, and what is wrong with the guest.
    fn samples(&self, boot: &Boot, guest: &Guest) -> Result<(Vec<Sample>, Result<(), String>)> {
        let samples = RefCell::new(Vec::new());
        let sink = follow::lines(|line| {
            if let Ok(sample) = serde_json::from_str::<Sample>(line) {
                self.meter.borrow_mut().point(&sample.point);
                samples.borrow_mut().push(sample);
            }
        });
        let points = boot.points.clone();
        let job = Job::Bench(Bench { points, ageing: self.extent.ageing(), seed: SEED });
        let limits = Limits::new(guest, Some(patience(boot, guest)));
        let sinks = vec![(job::CASES, sink)];
        let finished = boot::run(&self.lab.tools, guest, &job, limits, sinks)?;
        let verdict = finished.judge().map(drop).map_err(|err| format!("{err:#}"));
        Ok((samples.into_inner(), verdict))
    }

    fn report(&self, program: &Path) -> Result<ExitCode> {
        let mut command = Command::new(program);
        command.arg("report").arg(&self.results);
        let output = command.output().context("cannot run nfsrdma-bench")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the report cannot be made: {}", complaint.trim());
        let records: Vec<Record> = journal::load(&self.results)?;
        print!("{}", report::headline(&Dataset::new(&records)));
        println!("raw results: {}", self.results.display());
        print!("report: {}", String::from_utf8_lossy(&output.stdout));
        match self.failed {
            0 => Ok(ExitCode::SUCCESS),
            failed => bail!("{failed} points could not be measured, the report names them"),
        }
    }
}

fn lost(point: &Point, reason: &str) -> Sample {
    let (release, parameters) = (String::new(), String::new());
    Sample { point: *point, release, parameters, outcome: Err(reason.to_owned()) }
}

fn patience(boot: &Boot, guest: &Guest) -> Duration {
    let points = u32::try_from(boot.points.len()).unwrap_or(u32::MAX);
    (AGEING * 2).saturating_add(PER_POINT.saturating_mul(points)) * guest.accel.slowness()
}
