// SPDX-License-Identifier: GPL-2.0

//! What the benchmark asks of a guest, point by point, and the answers.

use crate::job::Phase;
use crate::settings::{show_size, Session, Transport};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the server has done before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Age {
    /// Nothing since its threads were started.
    Fresh,
    /// A mixed load of many small and large requests, then the very
    /// load that is measured.
    Aged,
}

/// One setting that is measured, writing first and then reading.
///
/// The client always goes past its page cache, so that a block is a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Server and mount.
    pub session: Session,
    /// Bytes of a request.
    pub block: u64,
    /// Payload in each direction, in bytes.
    pub size: u64,
    /// What the server has done before.
    pub age: Age,
}

/// The mixed load: requests of 4 KiB to 1 MiB, written and verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ageing {
    /// Size of the file, in bytes.
    pub size: u64,
    /// How often it is written and read.
    pub passes: u32,
}

/// Points to measure in one boot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    /// In order.
    pub points: Vec<Point>,
    /// What makes a server aged.
    pub ageing: Ageing,
    /// Start of the random data.
    pub seed: u64,
}

/// Memory that the server's threads take, from the difference of free memory
/// when they stop and start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// After the load, in KiB.
    pub held: u64,
    /// After the start, in KiB.
    pub idle: u64,
}

/// Figures of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Writing the payload.
    pub write: Phase,
    /// Reading it back and verifying.
    pub read: Phase,
    /// Of a fresh server.
    pub memory: Option<Memory>,
    /// Requests of the mixed load before.
    pub aged_by: Option<u64>,
}

/// What came of one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The point.
    pub point: Point,
    /// What `uname -r` says.
    pub release: String,
    /// The kernel's command line.
    pub parameters: String,
    /// The figures, or one line that says what failed.
    pub outcome: Result<Figures, String>,
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Age::Fresh => "fresh",
            Age::Aged => "aged",
        })
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, block, age, .. } = self;
        match session.transport {
            Transport::Rdma => write!(f, "{}", session.device)?,
            Transport::Tcp => write!(f, "tcp")?,
        }
        write!(f, ", {} threads, {age}, {}, {}", session.threads, session.io, show_size(*block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Device, IoMode, Version};

    #[test]
    fn points_have_names() {
        let session = Session::new(Device::Rxe, Version::V42, IoMode::Direct, Transport::Rdma);
        let mut point = Point { session, block: 4096, size: 1 << 20, age: Age::Aged };
        assert_eq!(point.to_string(), "rxe, 8 threads, aged, direct, 4 KiB");
        point.session.transport = Transport::Tcp;
        assert_eq!(point.to_string(), "tcp, 8 threads, aged, direct, 4 KiB");
    }
}
