// SPDX-License-Identifier: GPL-2.0

//! `build/series`: what is sent to the mailing list.
//!
//! A scratch repository gets one commit a step, `git format-patch` writes
//! them out, and `git am` on top of the base has to give the tree again.

use crate::cache::{self, Cache};
use crate::flavour::Flavour;
use crate::git::{publish, Identity, Repository};
use crate::replay::{self, Files, Replay};
use crate::series::{Series, Step};
use crate::tree::{self, Origins};
use anyhow::{ensure, Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The head of a patch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Subject without `[PATCH n/m]`.
    pub subject: String,
    /// What follows, up to the diff.
    pub body: String,
    /// `Name <address>`, if named.
    pub from: Option<(String, String)>,
    /// Date, if named.
    pub date: Option<String>,
}

/// Writes the series into `build/series` of the checkout; gives back the
/// folder and the number of patches.
pub fn write(cache: &Cache, origins: &Origins) -> Result<(PathBuf, usize)> {
    let name = Flavour::ours().tree;
    let series = origins.series(&name)?;
    ensure!(!series.steps.is_empty(), "patches/series names no patch");
    let tree = tree::prepare(cache, origins, &name)?;
    let replay = replay::replay(&tree.source.dir, &series)?;
    let user = Identity::of_user(&origins.root);
    let build = origins.root.join("build");
    let partial = build.join("series.partial");
    cache::remove(&partial)?;
    cache::create_dir(&partial)?;
    export(&origins.root, &series, &replay, &user, &partial)?;
    verify(&partial, &replay, &user)?;
    on_disk(&tree.dir, replay.last())?;
    let folder = build.join("series");
    publish(&partial, &folder)?;
    Ok((folder, series.steps.len()))
}

/// Commits every step and writes the commits out.
fn export(root: &Path, series: &Series, replay: &Replay, user: &Identity, to: &Path) -> Result<()> {
    let repository = Repository::create(user)?;
    let mut states = replay.states.iter();
    let base = states.next().context("a series without a base")?;
    repository.commit(base, "base", user)?;
    for (step, state) in series.steps.iter().zip(states) {
        let head = head_of(step)?;
        let message = format!("{}\n\n{}\n", head.subject, head.body);
        repository.commit(state, &message, &author(head, user))?;
    }
    let cover = root.join("patches/cover-letter.txt");
    let text =
        fs::read_to_string(&cover).with_context(|| format!("cannot read {}", cover.display()))?;
    repository.run(&[
        "config",
        "branch.series.description",
        text.trim().trim_start_matches("Subject:").trim_start(),
    ])?;
    let count = format!("-{}", series.steps.len());
    let to = to.to_string_lossy();
    let arguments =
        ["format-patch", "--quiet", "--cover-letter", "--cover-from-description=subject"];
    let rest = ["--numbered", "--no-signature", "--output-directory", &to, &count];
    repository.run(&[&arguments[..], &rest[..]].concat()).map(|_| ())
}

/// What the patches give on top of the base is the tree.
fn verify(folder: &Path, replay: &Replay, user: &Identity) -> Result<()> {
    let repository = Repository::create(user)?;
    let base = replay.states.first().context("a series without a base")?;
    repository.commit(base, "base", user)?;
    for path in patches(folder)? {
        let path = path.to_string_lossy().into_owned();
        repository
            .run(&["am", "--quiet", &path])
            .context("the series does not apply to its base")?;
    }
    repository.require(replay.last()).context("the series does not give the tree")
}

fn on_disk(tree: &Path, files: &Files) -> Result<()> {
    for (path, content) in files {
        let found = replay::read(&tree.join(path))?;
        ensure!(found == *content, "{} of the tree is not what the series gives", path.display());
    }
    Ok(())
}

/// The patches of a written series without its cover letter, in order.
pub fn patches(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_cover = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("0000-"))
    };
    paths.retain(|path| {
        path.extension().is_some_and(|extension| extension == "patch") && !is_cover(path)
    });
    paths.sort();
    Ok(paths)
}

fn author(head: Head, user: &Identity) -> Identity {
    let (name, email) = head.from.unwrap_or((user.name.clone(), user.email.clone()));
    Identity { name, email, date: head.date.unwrap_or(user.date.clone()) }
}

fn head_of(step: &Step) -> Result<Head> {
    let text = fs::read_to_string(&step.path)
        .with_context(|| format!("cannot read {}", step.path.display()))?;
    parse(&text).with_context(|| format!("{} has no 'Subject:' line", step.name))
}

/// Reads the head of a patch in the form of `git format-patch`.
pub fn parse(patch: &str) -> Option<Head> {
    let (headers, rest) = patch.split_once("\n\n").unwrap_or((patch, ""));
    let mut folded: Vec<String> = Vec::new();
    for line in headers.lines() {
        match folded.last_mut().filter(|_| line.starts_with([' ', '\t'])) {
            Some(last) => last.push_str(&format!(" {}", line.trim())),
            None => folded.push(line.to_owned()),
        }
    }
    let field = |name: &str| folded.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let subject = without_tag(field("Subject:")?);
    let from = field("From:").and_then(person);
    Some(Head { subject, body: body(rest), from, date: field("Date:").map(str::to_owned) })
}

fn without_tag(subject: &str) -> String {
    let bare = subject.strip_prefix("[PATCH").and_then(|rest| rest.split_once(']'));
    bare.map_or(subject, |(_, bare)| bare).trim().to_owned()
}

fn person(text: &str) -> Option<(String, String)> {
    let (name, email) = text.trim().strip_suffix('>')?.split_once('<')?;
    Some((name.trim().trim_matches('"').to_owned(), email.to_owned()))
}

/// The message ends at a line of three dashes or where a diff begins.
fn body(text: &str) -> String {
    let ends = |line: &&str| *line == "---" || line.starts_with("diff --git ");
    let lines: Vec<&str> = text.lines().take_while(|line| !ends(line)).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series;

    const PATCH: &str = "From 0123 Mon Sep 17 00:00:00 2001\nFrom: A B <a@b>\n\
        Date: Tue, 1 Dec 2026 00:00:00 +0000\nSubject: [PATCH 1/2] sunrpc: Add a line that is\n long\n\n\
        Because.\n\nFixes: 12 (\"x\")\n---\n net/m | 1 +\n\n\
        diff --git a/net/m b/net/m\n--- a/net/m\n+++ b/net/m\n@@ -1,2 +1,3 @@\n one\n+new\n two\n";

    #[test]
    fn heads_are_read() {
        let head = parse(PATCH).unwrap();
        assert_eq!(head.subject, "sunrpc: Add a line that is long");
        assert_eq!(head.body, "Because.\n\nFixes: 12 (\"x\")");
        assert_eq!(head.from, Some(("A B".into(), "a@b".into())));
        assert!(head.date.unwrap().starts_with("Tue"));
        assert_eq!(parse("Subject: x: Y\n\nZ\n").unwrap().subject, "x: Y");
        assert_eq!(parse("no head\n"), None);
    }

    #[test]
    fn the_written_series_gives_the_tree_again() {
        let temp = tempfile::tempdir().unwrap();
        let (root, base, out) =
            (temp.path().join("r"), temp.path().join("b"), temp.path().join("o"));
        let patches_folder = root.join("patches");
        for folder in [&patches_folder, &base.join("net"), &out] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(patches_folder.join("1.patch"), PATCH).unwrap();
        fs::write(patches_folder.join("2.patch"), "Subject: net: Add a\n\nWhy.\n---\n").unwrap();
        fs::write(patches_folder.join("cover-letter.txt"), "Subject: The subject\n\nThe text.\n")
            .unwrap();
        fs::write(base.join("net/m"), "one\ntwo\n").unwrap();
        fs::write(root.join("a.c"), "int a;\n").unwrap();
        let steps =
            series::parse("1.patch\n2.patch\n + a.c => net/a.c\n", &patches_folder).unwrap();
        let series = Series { root: root.clone(), steps };
        let replay = replay::replay(&base, &series).unwrap();
        let user =
            Identity { name: "U".into(), email: "u@v".into(), date: "2026-12-01T00:00:00Z".into() };
        export(&root, &series, &replay, &user, &out).unwrap();
        verify(&out, &replay, &user).unwrap();
        let written = patches(&out).unwrap();
        assert_eq!(written.len(), 2);
        assert!(fs::read_to_string(&written[0]).unwrap().contains("From: A B <a@b>"));
        let cover = fs::read_to_string(out.join("0000-cover-letter.patch")).unwrap();
        assert!(cover.contains("Subject: [PATCH 0/2] The subject") && cover.contains("The text."));
        fs::remove_file(&written[1]).unwrap();
        let err = format!("{:#}", verify(&out, &replay, &user).unwrap_err());
        assert!(err.contains("net/a.c differs"), "{err}");
    }
}
