// SPDX-License-Identifier: GPL-2.0

//! What every subcommand that boots a guest shares: options, kernels, tools.

use crate::options::Sources;
use anyhow::{ensure, Result};
use clap::builder::ValueParserFactory;
use kbuild::cache::Cache;
use kbuild::flavour::Flavour;
use kbuild::tree::Origins;
use std::path::PathBuf;
use vm::accel::{self, Accel};
use vm::boot::Tools;
use vm::qemu::Guest;
use vm::settings::{
    self, Device, IoMode, Machine, Security, Session, Transport, Version, GIB, MIB,
};

/// Size of a page in the guest, in bytes.
const PAGE: u64 = 4 << 10;

/// `NFSSVC_MAXBLKSIZE`, include/linux/sunrpc/svc.h.
const MAX_PAYLOAD: u64 = 4 * MIB;

/// A number of bytes on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Bytes(pub u64);

impl ValueParserFactory for Bytes {
    type Parser = clap::builder::ValueParser;

    fn value_parser() -> Self::Parser {
        let parse =
            |text: &str| settings::parse_size(text).map(Bytes).map_err(|err| err.to_string());
        parse.into()
    }
}

/// The guest's size and what executes it.
#[derive(clap::Args)]
pub struct GuestOptions {
    /// Memory of the guest
    #[arg(long, env = "MEM", hide_env_values = true, default_value = "4G")]
    mem: Bytes,
    /// Virtual CPUs of the guest
    #[arg(long, env = "CPUS", hide_env_values = true, default_value = "2")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,
    /// What executes the guest; without it a probe decides
    #[arg(long, env = "ACCEL", hide_env_values = true)]
    accel: Option<Accel>,
    /// 1: register memory for all RDMA Reads and Writes
    #[arg(long, env = "FORCE_MR", hide_env_values = true, default_value = "0")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=1))]
    force_mr: u8,
    /// 1: all DMA goes through bounce buffers
    #[arg(long, env = "SWIOTLB", hide_env_values = true, default_value = "0")]
    #[arg(value_parser = clap::value_parser!(u8).range(0..=1))]
    swiotlb: u8,
    /// Boot this kernel instead of building one
    #[arg(long, env = "RIG_IMAGE", hide_env_values = true)]
    image: Option<PathBuf>,
}

/// Server and mount.
#[derive(clap::Args)]
pub struct SessionOptions {
    /// RDMA device of the guest
    #[arg(long, env = "RDMA", hide_env_values = true, default_value = "rxe")]
    rdma: Device,
    /// NFS version of the mount
    #[arg(long, env = "VERS", hide_env_values = true, default_value = "4.2")]
    vers: Version,
    /// What carries the mount
    #[arg(long, env = "MOUNT", hide_env_values = true, default_value = "rdma")]
    mount: Transport,
    /// What protects the client's RPCs
    #[arg(long, env = "SEC", hide_env_values = true, default_value = "sys")]
    sec: Security,
    /// File I/O of server and client
    #[arg(long, env = "IO", hide_env_values = true, default_value = "direct")]
    io: IoMode,
    /// Threads of the server
    #[arg(long, env = "THREADS", hide_env_values = true, default_value = "8")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Longest DMA segment of rxe-dma
    #[arg(long, env = "MAX_SEGMENT", hide_env_values = true, default_value = "64K")]
    max_segment: Bytes,
    /// Payload limit of the server
    #[arg(long, env = "PAYLOAD", hide_env_values = true, default_value = "1M")]
    payload: Bytes,
}

impl GuestOptions {
    /// What the kernel's command line has for these options.
    fn parameters(&self) -> Vec<String> {
        let parameters = [(self.force_mr, "ib_core.force_mr=1"), (self.swiotlb, "swiotlb=force")];
        let chosen = parameters.iter().filter(|(wanted, _)| *wanted == 1);
        chosen.map(|(_, parameter)| (*parameter).to_owned()).collect()
    }

    /// The guest's memory and CPUs.
    pub fn machine(&self) -> Machine {
        Machine { memory: self.mem.0, cpus: self.cpus }
    }

    /// Refuses a given kernel where more than one is wanted.
    pub fn refuse_image(&self, why: &str) -> Result<()> {
        ensure!(self.image.is_none(), "{why}: leave out --image and RIG_IMAGE");
        Ok(())
    }

    /// Refuses what no guest can be made of.
    fn check(&self) -> Result<()> {
        ensure!(self.mem.0 >= GIB, "MEM must be 1G or more");
        if let Some(image) = &self.image {
            ensure!(image.is_file(), "{} is no kernel image", image.display());
        }
        Ok(())
    }
}

impl SessionOptions {
    /// The session; refuses sizes that neither kernel nor device would take.
    pub fn session(&self) -> Result<Session> {
        let (payload, segment) = (self.payload.0, self.max_segment.0);
        let fits = payload % PAGE == 0 && (PAGE..=MAX_PAYLOAD).contains(&payload);
        ensure!(fits, "PAYLOAD must be a multiple of 4K, and at most 4M");
        ensure!((PAGE..=GIB).contains(&segment), "MAX_SEGMENT must be 4K to 1G");
        Ok(Session {
            device: self.rdma,
            version: self.vers,
            io: self.io,
            transport: self.mount,
            security: self.sec,
            threads: self.threads,
            max_segment: u32::try_from(segment)?,
            payload,
        })
    }

    /// Installs what this session needs besides what all need.
    pub fn install(&self, lab: &Lab) -> Result<()> {
        match self.sec {
            Security::Sys => Ok(()),
            _ => kbuild::host::kerberos_tools(&lab.cache),
        }
    }

    /// The kernel for the session's device: `flavour`, or that with the
    /// test-only patches that the device needs.
    pub fn kernel(&self, flavour: &Flavour) -> Flavour {
        let mut flavour = flavour.clone();
        if let Some(set) = self.rdma.patch_set() {
            flavour.tree.variant = Some(set.to_owned());
        }
        flavour
    }
}

/// The cache and the programs for guests.
pub struct Lab {
    /// The cache.
    pub cache: Cache,
    /// Where sources and patches come from.
    pub origins: Origins,
    options: GuestOptions,
    /// What a boot needs.
    pub tools: Tools,
    /// The fsx program.
    pub fsx: PathBuf,
}

impl Lab {
    /// Opens the cache and installs what is missing.
    pub fn open(sources: Sources, options: GuestOptions) -> Result<Self> {
        options.check()?;
        let cache = Cache::open()?;
        let origins = sources.origins()?;
        let programs = kbuild::host::guest_tools(&cache)?;
        let tools = Tools {
            virtme: programs.virtme_bin,
            runs: cache.root().join("runs"),
            state: cache.state(),
        };
        Ok(Self { cache, origins, options, tools, fsx: programs.fsx })
    }

    /// A guest with the kernel `flavour`, which is built first, and the
    /// accelerator that was asked for or found to work.
    pub fn guest(&self, flavour: &Flavour) -> Result<Guest> {
        self.guest_with(self.image(flavour)?)
    }

    /// The same with a kernel that is there.
    pub fn guest_with(&self, image: PathBuf) -> Result<Guest> {
        let accel = accel::choose(&self.tools, &image, self.options.accel)?;
        let machine = self.options.machine();
        Ok(Guest { image, accel, machine, append: self.options.parameters(), interactive: false })
    }

    /// Like [`Lab::guest`], without KUnit at boot.
    pub fn quiet_guest(&self, flavour: &Flavour) -> Result<Guest> {
        self.quiet_guest_with(self.image(flavour)?)
    }

    /// Like [`Lab::guest_with`], without KUnit at boot.
    pub fn quiet_guest_with(&self, image: PathBuf) -> Result<Guest> {
        let mut guest = self.guest_with(image)?;
        guest.append.push("kunit.enable=0".to_owned());
        Ok(guest)
    }

    /// Whether one kernel was given that is booted in place of all others.
    pub fn has_image(&self) -> bool {
        self.options.image.is_some()
    }

    /// The kernel's image: the one given, or built.
    pub fn image(&self, flavour: &Flavour) -> Result<PathBuf> {
        match &self.options.image {
            Some(image) => Ok(image.clone()),
            None => Ok(kbuild::kernel::build(&self.cache, &self.origins, flavour)?.image),
        }
    }
}
