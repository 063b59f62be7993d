// SPDX-License-Identifier: GPL-2.0

//! How the client reaches the role on the server.

use anyhow::{ensure, Context, Result};
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The server is reached so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// `ssh DESTINATION PROGRAM ...`
    Ssh {
        /// As ssh takes it.
        destination: String,
        /// This program on the server.
        program: String,
    },
    /// Server and client are one machine.
    Local,
    /// Somebody types the command there and hands the line over.
    Hand,
}

/// What the role prints when the client may begin.
pub const READY: &str = "ready";

/// A command that runs on the server.
pub struct Asked {
    child: Option<(Child, BufReader<ChildStdout>)>,
}

impl Access {
    /// Starts the role with these words.
    pub fn start(&self, words: &[String]) -> Result<Asked> {
        let mut command = match self {
            Access::Ssh { destination, program } => {
                let mut command = Command::new("ssh");
                command.args(["-o", "BatchMode=yes", destination, program]);
                command
            }
            Access::Local => {
                Command::new(std::env::current_exe().context("cannot find the running program")?)
            }
            Access::Hand => {
                println!("on the server, as root: nfsrdma-bench {}", words.join(" "));
                return Ok(Asked { child: None });
            }
        };
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let output = child.stdout.take().context("the server's role has no output")?;
        Ok(Asked { child: Some((child, BufReader::new(output))) })
    }

    /// Starts it and waits for the answer.
    pub fn ask<T: DeserializeOwned>(&self, words: &[String]) -> Result<T> {
        self.start(words)?.answer()
    }
}

impl Asked {
    /// Waits until the role is ready.
    pub fn ready(&mut self) -> Result<()> {
        let Some((_, output)) = &mut self.child else {
            println!("press Enter as soon as it says '{READY}'");
            return line().map(drop);
        };
        let mut line = String::new();
        output.read_line(&mut line).context("cannot read from the server's role")?;
        ensure!(line.trim() == READY, "the server's role did not get ready");
        Ok(())
    }

    /// Waits for the end and reads the line that it printed.
    pub fn answer<T: DeserializeOwned>(self) -> Result<T> {
        let text = match self.child {
            Some((mut child, mut output)) => {
                let mut text = String::new();
                let read = output.read_to_string(&mut text);
                let status = child.wait().context("cannot wait for the server's role")?;
                ensure!(status.success(), "the server's role failed: {status}");
                read.context("cannot read from the server's role")?;
                text
            }
            None => {
                println!("paste the line that it printed:");
                line()?
            }
        };
        serde_json::from_str(text.trim()).context("the server's answer is no line of results")
    }
}

fn line() -> Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("cannot read standard input")?;
    ensure!(!line.is_empty(), "standard input ended");
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str) -> Asked {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        Asked { child: Some((child, BufReader::new(output))) }
    }

    #[test]
    fn the_role_gets_ready_and_answers() {
        let mut role = asked("echo ready; echo '[1, 2]'");
        role.ready().unwrap();
        assert_eq!(role.answer::<Vec<u32>>().unwrap(), [1, 2]);
    }

    #[test]
    fn a_role_that_fails_is_told() {
        assert!(asked("true").ready().is_err());
        let err = asked("exit 3").answer::<u32>().unwrap_err().to_string();
        assert_eq!(err, "the server's role failed: exit status: 3");
        assert!(asked("echo no").answer::<u32>().is_err());
    }
}
