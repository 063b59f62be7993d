// SPDX-License-Identifier: GPL-2.0

//! The benchmark of real machines, and the reports of both benchmarks.

use anyhow::{Context, Result};
use bench::dataset::Dataset;
use bench::real::access::Access;
use bench::real::client::Client;
use bench::real::rfc::ALL;
use bench::real::{server, table, RealRecord};
use bench::record::Record;
use bench::replay::PolicyRecord;
use bench::{chart, draw, journal, report};
use clap::{Parser, Subcommand};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vm::settings::{parse_size, IoMode};

#[derive(Parser)]
#[command(name = "nfsrdma-bench", about = "Benchmark of an NFS server over RDMA")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// On the client: run the RFC's configurations against a server
    Client(ClientArgs),
    /// On the server, as root: watch it, and print what was measured
    Server {
        /// How long to watch
        #[arg(long, default_value = "60")]
        seconds: u32,
        /// How long to wait before, once it is ready
        #[arg(long, default_value = "0")]
        delay: u32,
        /// Set the number of nfsd threads
        #[arg(long)]
        threads: Option<u32>,
        /// Set the access mode
        #[arg(long)]
        mode: Option<IoMode>,
    },
    /// On the server: print what it is
    Facts,
    /// Print the RFC's table from the raw results of the client
    Table {
        /// The raw results, lines of JSON
        results: PathBuf,
        /// The kernel that the others are compared with
        #[arg(long, default_value = "plain")]
        base: String,
    },
    /// Write report.md and its plots from the raw results of `make bench`
    Report {
        /// The raw results, lines of JSON
        results: PathBuf,
        /// Folder for the report; that of the results unless given
        folder: Option<PathBuf>,
        /// Font for the text of the plots
        #[arg(long, default_value = report::FONT)]
        font: PathBuf,
    },
}

#[derive(clap::Args)]
struct ClientArgs {
    /// A folder on the NFS mount
    folder: PathBuf,
    /// Name of the server's kernel in the table; the others are compared with 'plain'
    #[arg(long)]
    kernel: String,
    /// The server, as ssh takes it, where root may log in without a password
    #[arg(long, conflicts_with = "local")]
    ssh: Option<String>,
    /// This program on the server
    #[arg(long, default_value = "nfsrdma-bench")]
    program: String,
    /// Server and client are this machine; without this and --ssh by hand
    #[arg(long)]
    local: bool,
    /// Letters of configurations
    #[arg(long, value_delimiter = ',', default_values = ALL.each_ref().map(|one| one.name))]
    configurations: Vec<String>,
    /// Access modes of the server
    #[arg(long, value_delimiter = ',', default_value = "direct,buffered")]
    modes: Vec<IoMode>,
    /// How often each is run
    #[arg(long, default_value = "4")]
    runs: u32,
    /// Seconds of each run
    #[arg(long, default_value = "60")]
    seconds: u32,
    /// Size of each job's file
    #[arg(long, default_value = "1G", value_parser = parse_size)]
    size: u64,
    /// Requests of each job in flight
    #[arg(long, default_value = "1")]
    depth: u32,
    /// The file of raw results, which is appended to
    #[arg(long, default_value = "nfsrdma-bench.jsonl")]
    results: PathBuf,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Client(args) => return client(args),
        Command::Server { seconds, delay, threads, mode } => {
            print(&server::serve(seconds, delay, threads, mode)?)?;
        }
        Command::Facts => print(&server::facts()?)?,
        Command::Table { results, base } => {
            let records: Vec<RealRecord> = journal::load(&results)?;
            print!("{}", table::render(&records, &base));
        }
        Command::Report { results, folder, font } => {
            let beside = results.parent().unwrap_or(Path::new("."));
            write(&results, folder.as_deref().unwrap_or(beside), &font)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn client(args: ClientArgs) -> Result<ExitCode> {
    let access = match (args.ssh, args.local) {
        (Some(destination), _) => Access::Ssh { destination, program: args.program },
        (None, true) => Access::Local,
        (None, false) => Access::Hand,
    };
    let client = Client {
        folder: args.folder,
        access,
        kernel: args.kernel,
        configurations: args.configurations,
        modes: args.modes,
        runs: args.runs,
        seconds: args.seconds,
        size: args.size,
        depth: args.depth,
        results: args.results,
    };
    client.check()?;
    let failed = client.run()?;
    println!("raw results: {}", client.results.display());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(value: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string(value).context("cannot encode JSON")?);
    Ok(())
}

fn write(results: &Path, folder: &Path, font: &Path) -> Result<()> {
    let records: Vec<Record> = journal::load(results)?;
    let replayed: Vec<PolicyRecord> = journal::load(&results.with_file_name(report::REPLAYED))?;
    let data = Dataset::new(&records);
    let charts = chart::all(&data);
    let plots = folder.join(report::PLOTS);
    fs::create_dir_all(&plots).with_context(|| format!("cannot create {}", plots.display()))?;
    draw::use_font(font)?;
    charts.iter().try_for_each(|chart| draw::draw(chart, &plots))?;
    let path = folder.join("report.md");
    let text = report::render(&data, &charts, &replayed);
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}", path.display());
    Ok(())
}
