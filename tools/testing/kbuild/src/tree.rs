// SPDX-License-Identifier: GPL-2.0

//! Patched trees in the cache.
//!
//! A tree is a hard-linked copy of the pristine source. Files that differ
//! are written beside their place and renamed into it, so the pristine source
//! never changes, and only when their content changes, so that an
//! incremental build stays small.

use crate::cache::{self, Cache};
use crate::exec;
use crate::flavour::{self, Base, TreeName};
use crate::lock::Lock;
use crate::replay::{self, Files};
use crate::series::Series;
use crate::source::{self, Source};
use anyhow::{bail, Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// MiB that the folders of a hard-linked copy take.
const SPACE: u64 = 400;

/// A tree that this call alone uses until it is dropped.
#[derive(Debug)]
pub struct Tree {
    /// The tree itself.
    pub dir: PathBuf,
    /// The source it was made from.
    pub source: Source,
    /// The files that differ from the source, from the root of the tree.
    pub changed: Vec<PathBuf>,
    /// Equal for equal content of all files.
    pub digest: Option<u64>,
    place: Place,
    _lock: Lock,
}

/// Where patches come from.
#[derive(Clone, Debug)]
pub struct Origins {
    /// The checkout.
    pub root: PathBuf,
    /// The user's own kernel tree, if one is to be used.
    pub kdir: Option<PathBuf>,
    /// Folder with the patches of the C series.
    pub peers: Option<PathBuf>,
}

impl Origins {
    /// Those of the checkout, with `kdir` and `peers` as the user gave them,
    /// relative paths from the root of the checkout.
    pub fn new(kdir: Option<PathBuf>, peers: Option<PathBuf>) -> Result<Self> {
        let root = crate::repo::root()?;
        let resolve = |path: Option<PathBuf>| path.map(|path| root.join(path));
        Ok(Self { kdir: resolve(kdir), peers: resolve(peers), root })
    }

    /// The patches of the tree `name`.
    pub fn series(&self, name: &TreeName) -> Result<Series> {
        let mut series = match name.base {
            Base::Ours => Series::of_repository(&self.root)?,
            Base::Plain => Series::default(),
            Base::RfcC => self.peer_series()?,
        };
        series.root.clone_from(&self.root);
        if let Some(variant) = &name.variant {
            series.steps.extend(flavour::test_series(&self.root, variant)?.steps);
        }
        Ok(series)
    }

    fn peer_series(&self) -> Result<Series> {
        let default = self.root.join("../shared/peers/rfc-c");
        let folder = self.peers.as_ref().unwrap_or(&default);
        if !folder.is_dir() {
            bail!(
                "rfc-c is the C series 'Improve NFS server direct throughput with passthrough enabled' \
                 that J Louis Kaplan posted to linux-nfs in October 2026: save its patches to a folder \
                 and name it with PEER_PATCHES= ({} is not there)",
                folder.display()
            );
        }
        Series::of_folder(folder)
    }
}

/// Brings the tree `name` up to date and gives it to this call alone.
pub fn prepare(cache: &Cache, origins: &Origins, name: &TreeName) -> Result<Tree> {
    let series = origins.series(name)?;
    let source = source::get(cache, origins.kdir.as_deref())?;
    let files = replay::replay(&source.dir, &series)?.last().clone();
    Tree::open(cache, &source, &name.to_string())?.with(files)
}

impl Tree {
    /// The tree `name` made from `source`, as the last call left it.
    pub fn open(cache: &Cache, source: &Source, name: &str) -> Result<Self> {
        let lock = cache.lock(&lock_name(source, name), &format!("the tree '{name}'"))?;
        let place = Place::new(cache, source, name);
        place.create(cache, source)?;
        let changed = Vec::new();
        Ok(Self {
            dir: place.dir.clone(),
            source: source.clone(),
            changed,
            digest: None,
            place,
            _lock: lock,
        })
    }

    /// Gives the files of the tree their content, and all others that of the
    /// source.
    pub fn with(mut self, files: Files) -> Result<Self> {
        self.place.update(&self.source, &files)?;
        // A user's tree may change where no patch does.
        self.digest = (!self.source.follows).then(|| digest(&self.source, &files));
        self.changed = files.into_keys().collect();
        Ok(self)
    }

    /// The other trees of the same source that no call uses, each kept from
    /// use for as long as its lock.
    pub fn siblings(&self, cache: &Cache) -> Result<Vec<(PathBuf, Lock)>> {
        let folder = cache.trees().join(&self.source.key);
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let others = entries.flatten().map(|entry| entry.path());
        let others = others.filter(|path| path.is_dir() && *path != self.dir);
        let mut siblings = Vec::new();
        for path in others {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let lock = cache.try_lock(&lock_name(&self.source, &name))?;
            siblings.extend(lock.map(|lock| (path, lock)));
        }
        Ok(siblings)
    }

    /// Gives the files of `paths` that exist a new time of modification, so
    /// that make builds again what depends on them.
    pub fn renew(&self, paths: &BTreeSet<PathBuf>) -> Result<()> {
        for path in paths.iter().map(|path| self.dir.join(path)) {
            // Not in place: the source has the same file.
            if let Some(content) = replay::read(&path)? {
                replace(&path, &content, Some(&path))?;
            }
        }
        Ok(())
    }
}

fn lock_name(source: &Source, name: &str) -> String {
    format!("tree-{}-{name}", source.key)
}

fn digest(source: &Source, files: &Files) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&source.key, files).hash(&mut hasher);
    hasher.finish()
}

/// Where a tree and the list of its changed files are.
#[derive(Debug)]
struct Place {
    dir: PathBuf,
    list: PathBuf,
}

impl Place {
    fn new(cache: &Cache, source: &Source, name: &str) -> Self {
        let folder = cache.trees().join(&source.key);
        Self { dir: folder.join(name), list: folder.join(format!("{name}.json")) }
    }

    fn create(&self, cache: &Cache, source: &Source) -> Result<()> {
        match (self.dir.exists(), source.follows) {
            (false, _) => self.copy(cache, source),
            (true, true) => self.follow(cache, source),
            (true, false) => Ok(()),
        }
    }

    fn copy(&self, cache: &Cache, source: &Source) -> Result<()> {
        source::require_space(cache.root(), SPACE, "a patched tree")?;
        let partial = self.dir.with_extension("partial");
        cache::remove(&partial)?;
        cache::remove(&self.list)?;
        cache::create_dir(&partial)?;
        let mut copy = exec::clean("cp");
        copy.args(["--archive", "--link"]).arg(source.dir.join(".")).arg(&partial);
        exec::logged("copying the source", &mut copy, &cache.log("tree")?)?;
        rename(&partial, &self.dir)
    }

    /// Takes over what changed in the copy of a user's tree.
    fn follow(&self, cache: &Cache, source: &Source) -> Result<()> {
        let mut rsync = exec::clean("rsync");
        rsync.args(["--archive", "--delete", "--exclude=/build-*"]);
        rsync.arg(format!("--link-dest={}", source.dir.display()));
        rsync.args(self.managed()?.iter().map(|path| format!("--exclude=/{}", path.display())));
        rsync.arg(format!("{}/", source.dir.display())).arg(format!("{}/", self.dir.display()));
        exec::logged("copying the source", &mut rsync, &cache.log("tree")?)
    }

    /// Gives the changed files their content, and the files that no patch
    /// changes any more that of the source.
    fn update(&self, source: &Source, files: &Files) -> Result<()> {
        let old = self.managed()?;
        let new: BTreeSet<PathBuf> = files.keys().cloned().collect();
        let both: BTreeSet<PathBuf> = old.union(&new).cloned().collect();
        if old != new {
            self.remember(&both)?;
        }
        for path in &both {
            let content = match files.get(path) {
                Some(content) => content.clone(),
                None => replay::read(&source.dir.join(path))?,
            };
            put(&self.dir.join(path), content.as_deref(), &source.dir.join(path))?;
        }
        if old != new {
            self.remember(&new)?;
        }
        Ok(())
    }

    fn managed(&self) -> Result<BTreeSet<PathBuf>> {
        let text = replay::read(&self.list)?.unwrap_or_default();
        if text.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = self.list.display();
        serde_json::from_slice(&text)
            .with_context(|| format!("{list} is damaged: run 'make distclean'"))
    }

    fn remember(&self, paths: &BTreeSet<PathBuf>) -> Result<()> {
        let text = serde_json::to_vec_pretty(paths).context("cannot write a list")?;
        replace(&self.list, &text, None)
    }
}

/// Makes `path` hold `content`, or not exist; leaves it alone if it does.
/// Permissions are taken from `model` where that exists.
fn put(path: &Path, content: Option<&[u8]>, model: &Path) -> Result<()> {
    let present = replay::read(path)?;
    if present.as_deref() == content {
        return Ok(());
    }
    match content {
        None => cache::remove(path),
        Some(content) => replace(path, content, Some(model)),
    }
}

/// Writes a file so that it is there with all its content or not at all, and
/// other links to the old one keep their content.
pub fn replace(path: &Path, content: &[u8], model: Option<&Path>) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let partial = path.with_file_name(format!(".{name}.partial"));
    if let Some(folder) = path.parent() {
        cache::create_dir(folder)?;
    }
    fs::write(&partial, content).with_context(|| format!("cannot write {}", partial.display()))?;
    if let Some(meta) = model.and_then(|model| fs::metadata(model).ok()) {
        fs::set_permissions(&partial, meta.permissions())
            .with_context(|| format!("cannot write {}", partial.display()))?;
    }
    rename(&partial, path)
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).with_context(|| format!("cannot create {}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Version;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    fn setup(temp: &Path) -> (Place, Source) {
        let source = temp.join("source");
        write(&source.join("net/a.c"), "base\n");
        let version = Version { numbers: (7, 3, 4) };
        let source = Source { dir: source, version, key: "x".into(), follows: false };
        (Place { dir: temp.join("tree"), list: temp.join("tree.json") }, source)
    }

    fn files(list: &[(&str, Option<&str>)]) -> Files {
        list.iter()
            .map(|(path, text)| (path.into(), text.map(|text| text.as_bytes().to_vec())))
            .collect()
    }

    #[test]
    fn changes_come_and_go_and_the_source_stays() {
        let temp = tempfile::tempdir().unwrap();
        let (place, source) = setup(temp.path());
        let cache = Cache::open_at(&temp.path().join("cache")).unwrap();
        place.create(&cache, &source).unwrap();
        let (edited, new) = (place.dir.join("net/a.c"), place.dir.join("net/b.c"));
        let changes = files(&[("net/a.c", Some("edited\n")), ("net/b.c", Some("new\n"))]);
        place.update(&source, &changes).unwrap();
        assert_eq!(read(&edited).as_deref(), Some("edited\n"));
        assert_eq!(read(&new).as_deref(), Some("new\n"));
        assert_eq!(read(&source.dir.join("net/a.c")).as_deref(), Some("base\n"));
        place.update(&source, &files(&[])).unwrap();
        assert_eq!(read(&edited).as_deref(), Some("base\n"));
        assert_eq!(read(&new), None);
        assert!(place.managed().unwrap().is_empty());
    }

    #[test]
    fn an_equal_file_is_not_written() {
        let temp = tempfile::tempdir().unwrap();
        let (place, source) = setup(temp.path());
        let cache = Cache::open_at(&temp.path().join("cache")).unwrap();
        place.create(&cache, &source).unwrap();
        let changes = files(&[("net/a.c", Some("edited\n"))]);
        place.update(&source, &changes).unwrap();
        let time = || fs::metadata(place.dir.join("net/a.c")).unwrap().modified().unwrap();
        let before = time();
        std::thread::sleep(std::time::Duration::from_millis(20));
        place.update(&source, &changes).unwrap();
        assert_eq!(time(), before);
    }
}
