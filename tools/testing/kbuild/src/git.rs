// SPDX-License-Identifier: GPL-2.0

//! Scratch git repositories that hold only the files a series touches.

use crate::exec;
use crate::replay::{self, Files};
use anyhow::{ensure, Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A person and a date, as git wants them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name.
    pub name: String,
    /// Address.
    pub email: String,
    /// Date in any form that git reads.
    pub date: String,
}

impl Identity {
    /// Of the user's git configuration where there is one, at the date of the
    /// last commit of the checkout, so that equal input gives equal output.
    pub fn of_user(root: &Path) -> Self {
        let ask = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let text =
                exec::output("git", git.args(arguments).current_dir(root)).unwrap_or_default();
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        };
        Self {
            name: ask(&["config", "user.name"]).unwrap_or("Unknown".into()),
            email: ask(&["config", "user.email"]).unwrap_or("unknown@localhost".into()),
            date: ask(&["log", "-1", "--format=%cI"]).unwrap_or("1970-01-01T00:00:00Z".into()),
        }
    }
}

/// A repository that is removed when dropped.
pub struct Repository {
    folder: TempDir,
    committer: Identity,
}

impl Repository {
    /// An empty one on the branch `series`.
    pub fn create(committer: &Identity) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("sunrpc-rust-").tempdir();
        let folder = folder.context("cannot create a scratch folder")?;
        let repository = Self { folder, committer: committer.clone() };
        repository.run(&["init", "--quiet", "--initial-branch=series"])?;
        Ok(repository)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Commits `files`, which replace those of the same names.
    pub fn commit(&self, files: &Files, message: &str, author: &Identity) -> Result<()> {
        for (path, content) in files {
            let path = self.path().join(path);
            match content {
                Some(content) => crate::tree::replace(&path, content, None)?,
                None => crate::cache::remove(&path)?,
            }
        }
        self.run(&["add", "--all"])?;
        let mut git = self.command(&["commit", "--quiet", "--allow-empty", "--cleanup=whitespace"]);
        git.args(["--message", message]);
        git.env("GIT_AUTHOR_NAME", &author.name).env("GIT_AUTHOR_EMAIL", &author.email);
        git.env("GIT_AUTHOR_DATE", &author.date);
        exec::output("git commit", &mut git).map(|_| ())
    }

    /// Runs git in the repository; gives back what it printed.
    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        let what = format!("git {}", arguments.first().unwrap_or(&""));
        exec::output(&what, &mut self.command(arguments))
    }

    /// Fails with the first path whose content is not that of `files`, or
    /// that is not among them.
    pub fn require(&self, files: &Files) -> Result<()> {
        for (path, content) in files {
            let found = replay::read(&self.path().join(path))?;
            ensure!(found == *content, "{} differs", path.display());
        }
        let tracked = self.run(&["ls-files"])?;
        for path in tracked.lines() {
            ensure!(files.contains_key(Path::new(path)), "{path} is not expected");
        }
        Ok(())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut git = exec::clean("git");
        // Neither hooks nor settings of the user.
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_COMMITTER_NAME", &self.committer.name);
        git.env("GIT_COMMITTER_EMAIL", &self.committer.email);
        git.env("GIT_COMMITTER_DATE", &self.committer.date);
        git.args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"]);
        git.args(arguments).current_dir(self.path());
        git
    }
}

/// Makes `to` a folder with what is in `from`, in place of what it was.
pub fn publish(from: &Path, to: &Path) -> Result<()> {
    crate::cache::remove(to)?;
    if let Some(parent) = to.parent() {
        crate::cache::create_dir(parent)?;
    }
    fs::rename(from, to).with_context(|| format!("cannot create {}", to.display()))
}
