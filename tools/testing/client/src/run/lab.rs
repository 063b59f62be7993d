// SPDX-License-Identifier: GPL-2.0

//! The files that the cases use, and the second client.

use super::{read, write};
use crate::idle::Counts;
use crate::nfs::{self, Handle};
use crate::pattern;
use crate::peer::{Hello, Peer};
use crate::plan::{Outcome, LARGEST_PAYLOAD};
use crate::rpc;
use crate::{mount, plan};
use anyhow::{bail, ensure, Context, Result};
use std::net::SocketAddr;
use std::time::Duration;

/// Bytes of the file that is read; some READs begin behind its first page.
pub const SOURCE_LENGTH: usize = LARGEST_PAYLOAD + 256 * 1024;
/// Bytes of one WRITE while the source is filled.
const STEP: usize = 128 * 1024;
const SOURCE_SEED: u64 = 8166;
/// Names of the folder that is listed.
const NAMES: usize = 40;
/// Bytes that the second client writes and reads back.
const PROBE: usize = 20_001;
/// The server gives everything back within that time.
const GIVE_BACK: Duration = Duration::from_secs(20);

/// Where the server is.
pub struct Options {
    /// Address and port of NFS over RDMA.
    pub server: SocketAddr,
    /// Path of the export.
    pub export: String,
    /// Its file handle, where mountd need not be asked.
    pub root: Option<Handle>,
}

/// What every case finds.
pub struct Lab {
    server: SocketAddr,
    root: Handle,
    source: Handle,
    sink: Handle,
    probe: Handle,
    folder: Handle,
    names: Vec<String>,
    bystander: Peer,
    idle: Counts,
    seed: u64,
}

impl Lab {
    /// Connects the second client and creates the files.
    pub fn open(options: Options) -> Result<Self> {
        let Options { server, export, root } = options;
        check_payload_limit()?;
        let root = root.map_or_else(|| mount::root(server.ip(), &export), Ok)?;
        let mut bystander = Peer::connect(server, Hello::Plain)?;
        let source = create(&mut bystander, &root, "source")?;
        let sink = create(&mut bystander, &root, "sink")?;
        let probe = create(&mut bystander, &root, "probe")?;
        fill(&mut bystander, &source)?;
        let (folder, names) = make_folder(&mut bystander, &root)?;
        let idle = Counts::default();
        let seed = SOURCE_SEED;
        let mut this =
            Self { server, root, source, sink, probe, folder, names, bystander, idle, seed };
        this.check_bystander()?;
        this.idle = Counts::settled()?;
        Ok(this)
    }

    /// Where the server is.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// The root of the export.
    pub fn root(&self) -> &[u8] {
        &self.root
    }

    /// The file that is read.
    pub fn source(&self) -> &[u8] {
        &self.source
    }

    /// The file that is written.
    pub fn sink(&self) -> &[u8] {
        &self.sink
    }

    /// The folder that is listed.
    pub fn folder(&self) -> &[u8] {
        &self.folder
    }

    /// The names in it, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the source holds.
    pub fn source_bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        pattern::bytes(SOURCE_SEED, offset, length)
    }

    /// A seed that was not used before.
    pub fn new_seed(&mut self) -> u64 {
        self.seed += 1;
        self.seed
    }

    /// What the sink holds, as the second client sees it.
    pub fn sink_bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        read::whole(&mut self.bystander, &self.sink, length)
    }

    /// Fails unless the second client can call, write, and read back what it
    /// wrote; if it cannot, it is replaced by a new one.
    pub fn check_bystander(&mut self) -> Result<()> {
        let result = self.try_bystander();
        if result.is_err() {
            self.bystander = Peer::connect(self.server, Hello::Plain)?;
        }
        result
    }

    fn try_bystander(&mut self) -> Result<()> {
        self.bystander.check_alive()?;
        let data = pattern::bytes(self.new_seed(), 0, PROBE);
        write::simple(&mut self.bystander, &self.probe, 0, &data)?;
        let found = read::whole(&mut self.bystander, &self.probe, PROBE)?;
        pattern::compare("what was written", &found, &data)
    }

    /// Waits until the server holds no more than before the first case.
    pub fn wait_until_idle(&mut self) -> Result<()> {
        let result = self.idle.wait(GIVE_BACK);
        if result.is_err() {
            // So that the next case is not blamed for it.
            self.idle = Counts::read()?;
        }
        result
    }
}

/// The plan is made for one payload limit; it can be read where the server is
/// on the same machine.
fn check_payload_limit() -> Result<()> {
    let Ok(text) = std::fs::read_to_string("/proc/fs/nfsd/max_block_size") else {
        return Ok(());
    };
    let same = text.trim() == LARGEST_PAYLOAD.to_string();
    ensure!(same, "the server's payload limit is {}, not {LARGEST_PAYLOAD}", text.trim());
    Ok(())
}

fn create(peer: &mut Peer, folder: &[u8], name: &str) -> Result<Handle> {
    let xid = peer.new_xid();
    let body = peer.inline(xid, &nfs::create(xid, folder, name))?;
    created(xid, &body).with_context(|| format!("cannot create {name}"))
}

fn created(xid: u32, body: &[u8]) -> Result<Handle> {
    match rpc::reply(xid, body)? {
        Ok(results) => nfs::create_result(results),
        Err(refusal) => bail!("the call was refused: {refusal}"),
    }
}

fn fill(peer: &mut Peer, file: &[u8]) -> Result<()> {
    for start in (0..SOURCE_LENGTH).step_by(STEP) {
        let length = STEP.min(SOURCE_LENGTH - start);
        let data = pattern::bytes(SOURCE_SEED, start as u64, length);
        write::simple(peer, file, start as u64, &data).context("cannot fill the source")?;
    }
    Ok(())
}

fn make_folder(peer: &mut Peer, root: &[u8]) -> Result<(Handle, Vec<String>)> {
    let folder = match find(peer, root, "folder")? {
        Some(folder) => folder,
        None => {
            let xid = peer.new_xid();
            let body = peer.inline(xid, &nfs::mkdir(xid, root, "folder"))?;
            created(xid, &body).context("cannot create a folder")?
        }
    };
    let mut names: Vec<String> = (0..NAMES).map(|number| format!("{number:0>100}")).collect();
    for name in &names {
        create(peer, &folder, name)?;
    }
    names.extend([".".to_owned(), "..".to_owned()]);
    names.sort();
    Ok((folder, names))
}

fn find(peer: &mut Peer, folder: &[u8], name: &str) -> Result<Option<Handle>> {
    let xid = peer.new_xid();
    let body = peer.inline(xid, &nfs::lookup(xid, folder, name))?;
    let Ok(results) = rpc::reply(xid, &body)? else { bail!("LOOKUP was refused") };
    Ok(nfs::lookup_result(results).ok())
}

/// Fails unless `outcome` is a Reply.
pub fn want_reply(outcome: Outcome) -> Result<()> {
    ensure!(outcome == Outcome::Reply, "{outcome} instead of a reply");
    Ok(())
}

/// One Write chunk of one segment.
pub fn one_segment(length: usize) -> plan::Read {
    plan::Read { count: length, writes: vec![vec![length]], ..plan::Read::default() }
}
