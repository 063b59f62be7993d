// SPDX-License-Identifier: GPL-2.0

//! Options that several subcommands share.

use anyhow::Result;
use kbuild::tree::Origins;
use std::path::PathBuf;

/// Where sources and patches come from.
#[derive(clap::Args)]
pub struct Sources {
    /// Your own Linux 7.3 tree, which is only read
    #[arg(long, env = "KDIR", hide_env_values = true)]
    kdir: Option<PathBuf>,
    /// Folder with the patches of the C series that `rfc-c` is built from
    #[arg(long, env = "PEER_PATCHES", hide_env_values = true)]
    peer_patches: Option<PathBuf>,
}

impl Sources {
    /// Resolves the paths.
    pub fn origins(self) -> Result<Origins> {
        Origins::new(self.kdir, self.peer_patches)
    }
}
