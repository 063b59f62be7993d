// SPDX-License-Identifier: GPL-2.0

//! fsx: random reads, writes, maps and truncations, each one verified.

use crate::guest::exec;
use crate::guest::paths::{self, SCRATCH};
use crate::settings::Version;
use anyhow::Result;
use std::path::Path;
use std::time::Duration;

/// No operation takes longer, even under emulation.
const PER_OPERATION: Duration = Duration::from_millis(500);

/// What comes on top of it.
const START: Duration = Duration::from_secs(120);

/// Operations up to the server's payload, on a file of a few payloads.
const COMMON: &str = "\
flen = 4194304
[opsize]
max = 1048576
[weights]
close_open = 1
read = 10
write = 10
mapread = 5
mapwrite = 5
invalidate = 2
truncate = 2
fsync = 1
fdatasync = 1
posix_fadvise = 2
";

/// What only NFSv4.2 can do.
const V42: &str = "\
posix_fallocate = 1
punch_hole = 1
copy_file_range = 1
";

/// Runs `operations` of them on the file `file`, which is removed then, the
/// same for the same seed.
pub fn run(program: &Path, version: Version, file: &str, operations: u32, seed: u64) -> Result<()> {
    // Several may run at a time.
    let configuration = format!("{SCRATCH}/fsx{}.toml", file.replace('/', "-"));
    let extra = if version == Version::V42 { V42 } else { "" };
    paths::write(&configuration, &format!("{COMMON}{extra}"))?;
    let patience = START.saturating_add(PER_OPERATION.saturating_mul(operations));
    let (operations, seed) = (operations.to_string(), seed.to_string());
    let program = program.to_string_lossy();
    let args = ["-q", "-N", &operations, "-S", &seed, "-f", &configuration, "-P", SCRATCH, file];
    exec::run(&program, &args, patience)?;
    std::fs::remove_file(file)?;
    Ok(())
}
