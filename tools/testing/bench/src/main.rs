// SPDX-License-Identifier: GPL-2.0

//! Makes the report from a file of raw results.

use anyhow::{Context, Result};
use bench::dataset::Dataset;
use bench::record::Record;
use bench::replay::PolicyRecord;
use bench::{chart, draw, journal, report};
use clap::{Parser, Subcommand};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Parser)]
#[command(name = "nfsrdma-bench", about = "Benchmark of an NFS server over RDMA")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write report.md and its plots from raw results
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

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Report { results, folder, font } => {
            let beside = results.parent().unwrap_or(Path::new("."));
            write(&results, folder.as_deref().unwrap_or(beside), &font)
        }
    }
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
