// SPDX-License-Identifier: GPL-2.0

//! Calls of the kernel's make.

use crate::cache::Cache;
use crate::exec;
use crate::host::Toolchain;
use crate::progress::{Meter, Progress};
use anyhow::{bail, Context, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many lines of a failed build's first error are shown.
const SHOWN: usize = 8;

/// A build folder and what it is built with.
#[derive(Clone, Debug)]
pub struct Make {
    /// The tree.
    pub tree: PathBuf,
    /// The build folder, a direct child of the tree: then the build uses
    /// relative paths only, and all trees share their compiled objects.
    pub build_dir: PathBuf,
    /// What names the kernel, shown by `uname -r` behind the version.
    pub local_version: String,
    /// The compilers.
    pub toolchain: Toolchain,
    /// Variables that differ from build to build, as `NAME=value`.
    pub variables: Vec<String>,
    /// Where ccache keeps its objects.
    pub ccache: PathBuf,
    /// The log.
    pub log: PathBuf,
}

impl Make {
    /// Builds in `tree`/build-`name`.
    pub fn new(cache: &Cache, tree: PathBuf, name: &str, toolchain: Toolchain) -> Result<Self> {
        let build_dir = tree.join(format!("build-{name}"));
        crate::cache::create_dir(&build_dir)?;
        Ok(Self {
            tree,
            build_dir,
            local_version: format!("-{name}"),
            toolchain,
            variables: Vec::new(),
            ccache: cache.ccache(),
            log: cache.log(&format!("kernel-{name}"))?,
        })
    }

    /// Makes `targets` without a word unless it fails.
    pub fn quietly(&self, what: &str, targets: &[&str], variables: &[String]) -> Result<()> {
        let mut command = self.command(targets, variables);
        exec::logged(what, &mut command, &self.log)
    }

    /// Makes `targets` with a progress line; gives back the warnings. Starts
    /// a new log.
    pub fn with_progress(
        &self,
        targets: &[&str],
        variables: &[String],
        meter: Meter,
    ) -> Result<Vec<Warning>> {
        let mut log = File::create(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut command = self.command(targets, variables);
        writeln!(log, "$ {command:?}")
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run make")?;
        let mut output = Output::default();
        let mut progress = Progress::start(meter);
        let stdout = child.stdout.take().context("make has no output")?;
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("cannot read the output of make")?;
            let line = String::from_utf8_lossy(&line);
            writeln!(log, "{line}")
                .with_context(|| format!("cannot write {}", self.log.display()))?;
            progress.line(&line);
            output.line(&line);
        }
        let status = child.wait().context("cannot wait for make")?;
        progress.finish();
        if !status.success() {
            output.show();
            bail!("the kernel build failed: the log is {}", self.log.display());
        }
        Ok(output.warnings)
    }

    /// The call of make, with both outputs on its standard output.
    fn command(&self, targets: &[&str], variables: &[String]) -> Command {
        let mut command = exec::clean("sh");
        command.args(["-c", "exec \"$@\" 2>&1", "sh", "make"]);
        command.arg("-C").arg(&self.tree).arg(format!("O={}", self.build_dir.display()));
        command.arg(format!("-j{}", jobs()));
        command.args(self.settings()).args(&self.variables).args(variables).args(targets);
        command.env("CCACHE_DIR", &self.ccache).env("CCACHE_MAXSIZE", "8G");
        command.env("CCACHE_NOHASHDIR", "1");
        // One run of the compiler for an object that is not there yet: in the
        // other modes a preprocessor runs first, which takes a third as long.
        command.env("CCACHE_DEPEND", "1");
        command.env(
            "CCACHE_SLOPPINESS",
            "file_macro,include_file_ctime,include_file_mtime,locale,time_macros",
        );
        command
    }

    fn settings(&self) -> Vec<String> {
        let llvm = self.toolchain.llvm;
        let mut settings = vec![
            format!("LLVM=-{llvm}"),
            format!("CC=ccache clang-{llvm}"),
            format!("LOCALVERSION={}", self.local_version),
            "KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970".into(),
            "KBUILD_BUILD_VERSION=1".into(),
            "KBUILD_BUILD_USER=rig".into(),
            "KBUILD_BUILD_HOST=rig".into(),
        ];
        settings.extend(self.rust_settings());
        settings
    }

    /// Without Rust there is no Rust compiler, whatever the machine has.
    fn rust_settings(&self) -> Vec<String> {
        let Some(rust) = &self.toolchain.rust else {
            return ["RUSTC", "HOSTRUSTC", "BINDGEN"].map(|name| format!("{name}=false")).to_vec();
        };
        let bin = rust.rustc.parent().unwrap_or(Path::new("/usr/bin"));
        let program =
            |variable: &str, name: &str| format!("{variable}={}", bin.join(name).display());
        vec![
            program("RUSTC", "rustc"),
            program("HOSTRUSTC", "rustc"),
            program("RUSTDOC", "rustdoc"),
            program("RUSTFMT", "rustfmt"),
            program("CLIPPY_DRIVER", "clippy-driver"),
            format!("BINDGEN={}", rust.bindgen.display()),
        ]
    }
}

/// One more than there are processors, since ccache waits for the disk.
fn jobs() -> usize {
    std::thread::available_parallelism().map_or(2, |count| count.get() + 1)
}

/// A warning of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What it says, with the place if that is on the same line.
    pub text: String,
    /// `file:line:column` as a Rust compiler gives it on a line of its own.
    pub place: Option<String>,
}

impl Warning {
    /// Whether it is about a file whose path ends in that of `path`.
    pub fn is_about(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        let places = [Some(&self.text), self.place.as_ref()];
        places.into_iter().flatten().any(|place| place.contains(&*path))
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// What of the output of make is worth showing.
#[derive(Default)]
struct Output {
    first_error: Vec<String>,
    warnings: Vec<Warning>,
}

impl Output {
    fn line(&mut self, line: &str) {
        let collecting = !self.first_error.is_empty() && self.first_error.len() < SHOWN;
        if collecting || (self.first_error.is_empty() && is_error(line)) {
            self.first_error.push(line.to_owned());
        }
        if is_warning(line) {
            self.warnings.push(Warning { text: line.trim().to_owned(), place: None });
        } else if let Some(place) = line.trim().strip_prefix("--> ") {
            // Of several places the first is meant.
            let last = self.warnings.last_mut().filter(|warning| warning.place.is_none());
            last.into_iter().for_each(|warning| warning.place = Some(place.to_owned()));
        }
    }

    fn show(&self) {
        for line in self.first_error.iter().filter(|line| !is_noise(line)) {
            eprintln!("{line}");
        }
    }
}

/// Make's short form of a command, and its way up through the folders.
fn is_noise(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let short = line.starts_with("  ") && words <= 4 && !line.contains("-->");
    short
        || words == 0
        || line.contains("Waiting for unfinished jobs")
        || line.contains("ing directory '")
}

fn is_error(line: &str) -> bool {
    let marks = ["error: ", "error[E", "fatal error", "undefined symbol", "No space left", "*** "];
    marks.iter().any(|mark| line.contains(mark))
}

fn is_warning(line: &str) -> bool {
    line.contains("warning: ") || line.contains("WARNING: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_is_kept_with_what_follows() {
        let mut output = Output::default();
        for line in ["  CC      a.o", "a.c:1:2: warning: unused", "a.c:3:4: error: no such thing"] {
            output.line(line);
        }
        for _ in 0..20 {
            output.line("    1 | int x = y;");
        }
        assert_eq!(output.first_error.len(), SHOWN);
        assert!(output.first_error[0].starts_with("a.c:3:4"));
        assert_eq!(output.warnings[0].to_string(), "a.c:1:2: warning: unused");
    }

    #[test]
    fn warnings_know_their_file() {
        let mut output = Output::default();
        for line in
            ["warning: unused import", "  --> ../rust/kernel/x.rs:3:5", "   --> other.rs:1:1"]
        {
            output.line(line);
        }
        assert_eq!(output.warnings.len(), 1);
        assert!(output.warnings[0].is_about(Path::new("rust/kernel/x.rs")));
        assert!(!output.warnings[0].is_about(Path::new("other.rs")));
    }
}
