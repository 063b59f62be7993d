// SPDX-License-Identifier: GPL-2.0

//! What a new file looks like while files it names have not landed yet.
//!
//! The repository holds the final content. So that every commit of the
//! series builds, lines that name a file of a later step are left out until
//! then: objects in a Kbuild file, `mod` lines in a Rust module and the `use`
//! lines that go with them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files, from the root of the kernel tree, that land in later steps.
pub type Pending = BTreeSet<PathBuf>;

/// The content of the file that lands at `path`, without the lines that need
/// a file of `pending`.
pub fn without_pending(path: &Path, text: &str, pending: &Pending) -> String {
    if pending.is_empty() {
        return text.to_owned();
    }
    if is_makefile(path) {
        return kbuild(path, text, pending);
    }
    if path.extension().is_some_and(|extension| extension == "rs") {
        return rust(path, text, pending);
    }
    text.to_owned()
}

fn is_makefile(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("Kbuild") || name.starts_with("Makefile")
}

/// Leaves out the objects whose source is pending, and assignments that then
/// add nothing. Objects are in the folder where the file lands.
fn kbuild(path: &Path, text: &str, pending: &Pending) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let absent = |word: &str| {
        let Some(stem) = word.strip_suffix(".o") else { return false };
        let source = |ext| folder.join(format!("{stem}.{ext}"));
        ["c", "rs", "S"].map(source).iter().any(|source| pending.contains(source))
    };
    let mut out = String::new();
    for line in text.lines() {
        if let Some(line) = kbuild_line(line, absent) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

fn kbuild_line(line: &str, absent: impl Fn(&str) -> bool) -> Option<String> {
    let Some((target, objects)) = line.split_once("+=") else { return Some(line.to_owned()) };
    let (kept, left_out): (Vec<&str>, Vec<&str>) =
        objects.split_whitespace().partition(|word| !absent(word));
    match (kept.is_empty(), left_out.is_empty()) {
        (_, true) => Some(line.to_owned()),
        (true, false) => None,
        (false, false) => Some(format!("{target}+= {}", kept.join(" "))),
    }
}

/// Leaves out pending modules with the attributes and comments above, and
/// single-line imports from them.
fn rust(path: &Path, text: &str, pending: &Pending) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut gone: Vec<&str> = Vec::new();
    for line in text.lines() {
        let module = module_name(line);
        if module.is_some_and(|name| module_is_pending(path, name, &out, pending)) {
            gone.extend(module);
            drop_attributes(&mut out);
        } else if !imports_from(line, &gone) {
            out.push(line);
        }
    }
    let mut text = out.join("\n");
    text.push('\n');
    text
}

/// The `x` of `mod x;`, with any visibility.
fn module_name(line: &str) -> Option<&str> {
    let (before, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
    let before = before.trim();
    let visibility = before.is_empty()
        || before == "pub"
        || (before.starts_with("pub(") && before.ends_with(')'));
    visibility.then_some(name.trim())
}

fn module_is_pending(path: &Path, name: &str, above: &[&str], pending: &Pending) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    if let Some(explicit) = explicit_path(above) {
        return pending.contains(&folder.join(explicit));
    }
    let stem = path.file_stem().unwrap_or_default();
    // A crate root looks beside itself, another module into its own folder.
    let folders = [folder.to_owned(), folder.join(stem)];
    let candidates = folders
        .iter()
        .flat_map(|folder| [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]);
    candidates.into_iter().any(|candidate| pending.contains(&candidate))
}

/// The file of `#[path = "file"]` among the attributes directly above.
fn explicit_path<'a>(above: &[&'a str]) -> Option<&'a str> {
    let attributes = above.iter().rev().take_while(|line| is_attribute(line));
    let mut values = attributes.filter_map(|line| line.trim().strip_prefix("#[path"));
    values.next()?.split('"').nth(1)
}

fn is_attribute(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[") || line.starts_with("///")
}

fn drop_attributes(out: &mut Vec<&str>) {
    while out.last().is_some_and(|line| is_attribute(line)) {
        out.pop();
    }
}

fn imports_from(line: &str, modules: &[&str]) -> bool {
    let Some((_, path)) = line.trim().split_once("use ") else { return false };
    let path = path.trim_start_matches("self::").trim_start_matches("crate::");
    let first = path.split("::").next().unwrap_or_default();
    line.trim().ends_with(';') && modules.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(paths: &[&str]) -> Pending {
        paths.iter().map(PathBuf::from).collect()
    }

    fn check(path: &str, text: &str, paths: &[&str], expected: &str) {
        assert_eq!(without_pending(Path::new(path), text, &pending(paths)), expected);
    }

    #[test]
    fn objects_wait_for_their_source() {
        let text = "ifdef CONFIG_X\nsunrpc-y += a.o b.o\nendif\nobj-$(CONFIG_T) += t.o\n";
        let path = "net/sunrpc/Makefile.rust";
        check(path, text, &["net/sunrpc/b.rs"], &text.replace(" b.o", ""));
        check(path, text, &["net/sunrpc/t.c"], "ifdef CONFIG_X\nsunrpc-y += a.o b.o\nendif\n");
        // A namesake elsewhere is another object.
        check(path, text, &["net/sunrpc/rust/b.rs"], text);
        let below = text.replace("b.o", "rust/b.o");
        check(path, &below, &["net/sunrpc/rust/b.rs"], &text.replace(" b.o", ""));
        check(path, text, &["net/sunrpc/ab.c", "net/sunrpc/b.h"], text);
    }

    #[test]
    fn modules_wait_with_their_attributes_and_imports() {
        let text = "//! Root.\nmod a;\n/// B.\n#[cfg(CONFIG_KUNIT)]\npub(crate) mod b;\npub use a::A;\npub use b::B;\nuse self::b::C;\n";
        let expected = "//! Root.\nmod a;\npub use a::A;\n";
        check("rust/kernel/sunrpc.rs", text, &["rust/kernel/sunrpc/b.rs"], expected);
        check("rust/kernel/sunrpc.rs", text, &["rust/kernel/sunrpc/b/mod.rs"], expected);
        check("rust/kernel/sunrpc.rs", text, &["rust/kernel/b.rs"], expected);
        check("rust/kernel/sunrpc.rs", text, &["rust/b.rs", "b.rs"], text);
    }

    #[test]
    fn an_explicit_path_counts_alone() {
        let text = "#[path = \"core/b.rs\"]\nmod b;\n";
        check("net/r.rs", text, &["net/b.rs"], text);
        check("net/r.rs", text, &["net/core/b.rs"], "\n");
    }

    #[test]
    fn other_files_are_left_alone() {
        check("net/a.c", "mod b;\n", &["net/b.rs"], "mod b;\n");
        check(
            "net/r.rs",
            "    // mod b;\nlet module = 1;\n",
            &["net/b.rs"],
            "    // mod b;\nlet module = 1;\n",
        );
    }
}
