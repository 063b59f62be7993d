// SPDX-License-Identifier: GPL-2.0

//! `rig series-check`

use crate::lab::{GuestOptions, Lab};
use crate::options::Sources;
use anyhow::Result;
use kbuild::series_check::{self, Product};
use kbuild::tally::Tally;
use std::process::ExitCode;
use vm::e2e;
use vm::settings::{Device, IoMode, Session, Transport, Version};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    guest: GuestOptions,
    /// Only commits whose patch has this in its name
    #[arg(long, env = "ONLY", hide_env_values = true, default_value = "")]
    only: String,
}

impl Args {
    pub fn run(self) -> Result<ExitCode> {
        self.guest.refuse_image("the kernel of each commit is built")?;
        let lab = Lab::open(self.sources, self.guest)?;
        let mut tally = Tally::new();
        let attempt = |name: &str, product, tally: &mut Tally| boot(&lab, name, product, tally);
        series_check::run(&lab.cache, &lab.origins, &self.only, &attempt, &mut tally)?;
        let passed = tally.print_closing();
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Moves and verifies data over RDMA; loads and unloads what is a module.
fn boot(lab: &Lab, name: &str, product: Product, tally: &mut Tally) -> Result<()> {
    match product {
        Product::Image(image) => {
            let guest = lab.quiet_guest_with(image)?;
            let session = Session::new(Device::Rxe, Version::V42, IoMode::Direct, Transport::Rdma);
            let matrix = e2e::with_sessions(vec![session], Some(lab.fsx.clone()), e2e::SEED);
            e2e::run(&lab.tools, &guest, name, matrix, tally)
        }
        Product::Modular(modular) => {
            let guest = lab.guest_with(modular.image)?;
            vm::modules::run(&lab.tools, &guest, name, modular.folder, lab.fsx.clone(), tally)
        }
    }
}
