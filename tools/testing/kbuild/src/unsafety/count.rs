// SPDX-License-Identifier: GPL-2.0

//! Counts the lines of a Rust file, and those of them that are unsafe.
//!
//! It looks at tokens and not at a syntax tree, so that what stands in a macro
//! counts as well.

use anyhow::{anyhow, Result};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// Lines of one file, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines with code: no blank lines, no comments.
    pub code: usize,
    /// Those that open, or stand in, an unsafe block, function or
    /// implementation.
    pub unsafe_code: usize,
}

impl Lines {
    /// The share of unsafe lines, in percent.
    pub fn share(&self) -> f64 {
        100.0 * self.unsafe_code as f64 / self.code.max(1) as f64
    }
}

impl std::iter::Sum for Lines {
    fn sum<I: Iterator<Item = Self>>(lines: I) -> Self {
        lines.fold(Self::default(), |sum, lines| Self {
            code: sum.code + lines.code,
            unsafe_code: sum.unsafe_code + lines.unsafe_code,
        })
    }
}

/// Counts the lines of a file with this text.
pub fn lines(text: &str) -> Result<Lines> {
    let tokens: TokenStream = text.parse().map_err(|err| anyhow!("this is no Rust: {err}"))?;
    let mut found = Found::default();
    found.walk(tokens, false);
    Ok(Lines { code: found.code.len(), unsafe_code: found.unsafe_code.len() })
}

/// Numbers of lines.
#[derive(Default)]
struct Found {
    code: BTreeSet<usize>,
    unsafe_code: BTreeSet<usize>,
}

impl Found {
    fn walk(&mut self, tokens: TokenStream, within: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut unsafe_until = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            let comment = comment(rest);
            if comment > 0 {
                at += comment;
                continue;
            }
            if is_word(token, "unsafe") {
                unsafe_until = unsafe_until.max(at + reach(rest));
            }
            self.token(token, within || at < unsafe_until);
            at += 1;
        }
    }

    fn token(&mut self, token: &TokenTree, is_unsafe: bool) {
        let TokenTree::Group(group) = token else {
            return self.add(token.span(), is_unsafe);
        };
        self.add(group.span_open(), is_unsafe);
        self.walk(group.stream(), is_unsafe);
        self.add(group.span_close(), is_unsafe);
    }

    fn add(&mut self, span: Span, is_unsafe: bool) {
        let lines = span.start().line..=span.end().line;
        if is_unsafe {
            self.unsafe_code.extend(lines.clone());
        }
        self.code.extend(lines);
    }
}

/// How many tokens are a comment for documentation, which reads as the
/// attribute `#[doc = "..."]`.
fn comment(tokens: &[TokenTree]) -> usize {
    let mark = |at: usize, mark| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
    let inner = usize::from(mark(1, '!'));
    match tokens.get(1 + inner) {
        Some(TokenTree::Group(group)) if mark(0, '#') && is_text(group) => 2 + inner,
        _ => 0,
    }
}

fn is_text(attribute: &Group) -> bool {
    let mut tokens = attribute.stream().into_iter();
    let named = tokens.next().is_some_and(|token| is_word(&token, "doc"));
    named && matches!(tokens.next(), Some(TokenTree::Punct(punct)) if punct.as_char() == '=')
}

/// How many tokens belong to what `unsafe`, the first of them, opens: to the
/// end of its block, or to the semicolon of a declaration. In a type, and in
/// the attribute `#[unsafe(...)]`, that is the word alone.
fn reach(tokens: &[TokenTree]) -> usize {
    let is_type = |at: usize| is_word(&tokens[at], "fn") && is_group(tokens, at + 1);
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return at + 1,
            TokenTree::Group(_) if at == 1 => return 1,
            TokenTree::Punct(punct) if punct.as_char() == ';' => return at + 1,
            _ if is_type(at) => return 1,
            _ => {}
        }
    }
    tokens.len()
}

fn is_group(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Group(_)))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: usize, unsafe_code: usize) {
        assert_eq!(lines(text).unwrap(), Lines { code, unsafe_code }, "{text}");
    }

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        check("// unsafe\n\n//! unsafe\n/// unsafe\nfn f() {}\n/* unsafe */\n", 1, 0);
        check("#[doc(hidden)]\nfn f() {}\n", 2, 0);
    }

    #[test]
    fn blocks_count_to_their_end() {
        check("fn f() {\n    a();\n    unsafe { b() };\n    c();\n}\n", 5, 1);
        check("fn f() {\n    unsafe {\n        // SAFETY: x\n        b();\n    }\n}\n", 5, 3);
    }

    #[test]
    fn functions_and_implementations_count_to_their_end() {
        check("unsafe fn f(\n    a: u8,\n) -> u8 {\n    a\n}\nfn g() {}\n", 6, 5);
        check("unsafe impl Send for A {}\nunsafe extern \"C\" fn f() {}\nfn g() {}\n", 3, 2);
    }

    #[test]
    fn what_is_in_a_macro_counts() {
        check("declare! {\n    unsafe fn f(a: u8);\n    fn g();\n}\n", 4, 1);
        check("a!(unsafe { b() });\n", 1, 1);
    }

    #[test]
    fn types_and_attributes_are_one_line() {
        check("type A = unsafe extern \"C\" fn(\n    u8,\n);\n", 3, 1);
        check("#[unsafe(no_mangle)]\nfn f() {\n}\n", 3, 1);
        check("#![forbid(unsafe_code)]\n", 1, 0);
    }

    #[test]
    fn the_share_of_nothing_is_nothing() {
        assert_eq!(Lines::default().share(), 0.0);
        assert_eq!(Lines { code: 8, unsafe_code: 2 }.share(), 25.0);
        assert!(lines("fn f( {").is_err());
    }
}
