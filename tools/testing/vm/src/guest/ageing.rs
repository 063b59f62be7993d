// SPDX-License-Identifier: GPL-2.0

//! The mixed load that a server has seen before it counts as aged.

use crate::guest::fio;
use crate::guest::paths::MOUNT;
use crate::point::Ageing;
use anyhow::{ensure, Context, Result};
use std::fs;
use std::time::Duration;

/// Sizes of requests and their shares: many small ones among large ones.
const SIZES: &str = "4k/80:16k/14:64k/3:256k/2:1m/1";

/// What one pass over the file may take for each MiB, even under emulation.
const PER_MIB: Duration = Duration::from_secs(10);

/// Writes and verifies the file as often as asked, with `depth` requests in
/// flight, and removes it.
pub fn run(ageing: &Ageing, depth: u32, seed: u64) -> Result<()> {
    let file = format!("{MOUNT}/mixed");
    for pass in 0..u64::from(ageing.passes) {
        let args = arguments(&file, ageing.size, depth, seed + pass);
        let outcome = fio::execute(args, fio::patience(ageing.size, PER_MIB))?;
        // Where the sizes do not fit together, fio leaves gaps.
        let least = ageing.size / 2;
        ensure!(
            outcome.written >= least && outcome.read >= least,
            "fio wrote {} and verified {} bytes of a mixed load of {}",
            outcome.written,
            outcome.read,
            ageing.size
        );
    }
    fs::remove_file(&file).with_context(|| format!("cannot remove {file}"))
}

fn arguments(file: &str, size: u64, depth: u32, seed: u64) -> Vec<String> {
    let own = [
        format!("--filename={file}"),
        "--rw=randwrite".to_owned(),
        "--do_verify=1".to_owned(),
        "--verify_fatal=1".to_owned(),
        format!("--bssplit={SIZES}"),
        format!("--size={size}"),
        "--ioengine=libaio".to_owned(),
        "--direct=1".to_owned(),
        format!("--iodepth={depth}"),
        format!("--randseed={seed}"),
    ];
    own.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let shares = SIZES.split(':').map(|part| part.split_once('/').unwrap().1);
        assert_eq!(shares.map(|share| share.parse::<u32>().unwrap()).sum::<u32>(), 100);
        let args = arguments("/f", 1 << 24, 8, 1);
        assert!(args.contains(&format!("--bssplit={SIZES}")));
        assert!(args.contains(&"--iodepth=8".to_owned()));
    }
}
