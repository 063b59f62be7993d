// SPDX-License-Identifier: GPL-2.0

//! The test plan: what is sent, what must happen, and where that is written.
//!
//! Each case is one entry of a table. After each of them the connection must
//! be alive unless its end was expected, a second client must be served, and
//! the server must have given back what it held.

mod bursts;
mod calls;
mod cut_short;
mod empty;
mod malformed;
mod places;
mod reads;
mod replies;
mod rpc;
mod sizes;
mod writes;

use crate::peer::Hello;
use crate::rpc::{self as messages, Refusal};
use std::fmt;

pub use sizes::{pieces, LARGEST_PAYLOAD, PAGE, PAGES};

/// Bytes of a NULL call.
const BARE_CALL: u32 = messages::BARE_CALL as u32;

/// One entry of the plan.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// What says what must happen.
    pub rule: &'static str,
    /// What is sent.
    pub send: Send,
    /// With which private data the connection is made.
    pub hello: Hello,
    /// What must happen.
    pub must: Outcome,
    /// What happens as well on servers that are less strict, or stricter.
    pub may: Vec<Outcome>,
}

/// What becomes of a Call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A Reply, all of whose bytes are right.
    Reply,
    /// RDMA_ERROR with ERR_CHUNK; the connection lives.
    BadChunk,
    /// RDMA_ERROR with ERR_VERS; the connection lives.
    WrongVersion,
    /// A Reply that refuses the Call.
    Refused(Refusal),
    /// No answer; the connection lives.
    Dropped,
    /// The server closes the connection.
    Closed,
}

/// What is sent.
#[derive(Clone, Debug)]
pub enum Send {
    /// A READ of the source file.
    Read(Read),
    /// A WRITE to the sink file.
    Write(Write),
    /// A READDIR of a folder with known names.
    Folder(Folder),
    /// Other calls, and whether each does what it should.
    Others,
    /// READs that are cut short, and calls after them; a Reply if all of
    /// these and the file are right.
    CutShort(CutShort),
    /// A message word by word.
    Parts(Vec<Part>),
    /// Many calls, and an end of the connection.
    Burst(Burst),
}

/// A READ.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Where in the file, in bytes.
    pub offset: u64,
    /// How much, in bytes.
    pub count: usize,
    /// Segment lengths of each Write chunk.
    pub writes: Vec<Vec<usize>>,
    /// Segment lengths of the Reply chunk.
    pub reply: Option<Vec<usize>>,
}

/// How large a WRITE is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Bytes of data.
    Data(usize),
    /// Bytes of the XDR stream of the whole Call.
    Stream(usize),
}

/// Where a chunk is taken out of the XDR stream of a Call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Bytes behind the beginning of the Call.
    Call(usize),
    /// Bytes behind the beginning of the data.
    Data(usize),
    /// Bytes in front of the end of the Call.
    End(usize),
}

/// How far a chunk reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upto {
    /// That many bytes.
    Bytes(usize),
    /// To the end of the data, without XDR padding.
    EndOfData,
    /// To the end of the Call, XDR padding included.
    EndOfCall,
}

/// How the content of a chunk is cut into segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cutting {
    /// That many segments of odd lengths.
    Pieces(usize),
    /// These lengths; what is left goes into the one that says so.
    Lengths(Vec<Option<usize>>),
}

/// A Read chunk.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Where it begins.
    pub from: From,
    /// How far it reaches.
    pub upto: Upto,
    /// Its segments.
    pub cutting: Cutting,
}

/// A WRITE.
#[derive(Clone, Debug)]
pub struct Write {
    /// How large it is.
    pub size: Size,
    /// The Read chunks, in the order of their positions.
    pub chunks: Vec<Chunk>,
    /// What is left goes into a chunk at position zero, cut so.
    pub call: Option<Cutting>,
}

/// A READDIR.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Largest reply that is wanted, in bytes.
    pub count: u32,
    /// Segment lengths of a Write chunk, which no result of READDIR uses.
    pub writes: Vec<Vec<usize>>,
    /// Segment lengths of the Reply chunk.
    pub reply: Option<Vec<usize>>,
}

/// A READ whose Write chunk is too short.
#[derive(Clone, Debug)]
pub struct CutShort {
    /// How much is read, in bytes.
    pub count: usize,
    /// Segment lengths of the Write chunk.
    pub room: Vec<usize>,
}

/// Part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The transaction id.
    Xid,
    /// A word.
    Word(u32),
    /// Handle, length and offset of memory, whose length is given here.
    Segment(Memory, u32),
    /// A NULL call, 40 bytes.
    Null,
    /// A READ of that many bytes from the beginning of the source file.
    Read(u32),
    /// Bytes.
    Fill(u8, usize),
}

/// Memory that a segment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// May be read.
    Readable,
    /// May be read, and holds a NULL call, 40 bytes.
    Call,
    /// May be written.
    Writable,
    /// Is registered, but may not be reached.
    Private,
    /// Was registered once.
    Withdrawn,
    /// Was never registered.
    Unknown,
}

/// Many calls at once.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// How many.
    pub calls: usize,
    /// Which.
    pub of: Calls,
    /// Receives that are posted for the replies, once.
    pub receives: usize,
    /// When it ends.
    pub moment: Moment,
    /// How it ends.
    pub ending: Ending,
}

/// Calls of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// NULL
    Null,
    /// WRITE of the largest payload, from one Read chunk of 16 segments
    Write,
    /// READ of the largest payload, into one Write chunk of 16 segments
    Read,
}

/// When a burst ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the last Send was posted
    AtOnce,
    /// When the server has written to the client's memory
    Written,
    /// After that many seconds
    Seconds(u64),
}

/// How a burst ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client disconnects
    Disconnect,
    /// The client's queue pair and identifier are destroyed
    Drop,
    /// The client's adapter answers nothing any more; the server must notice
    Silence,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Reply => f.write_str("correct reply"),
            Outcome::BadChunk => f.write_str("ERR_CHUNK"),
            Outcome::WrongVersion => f.write_str("ERR_VERS"),
            Outcome::Refused(refusal) => refusal.fmt(f),
            Outcome::Dropped => f.write_str("no answer"),
            Outcome::Closed => f.write_str("connection closed"),
        }
    }
}

impl Case {
    /// A case in which one outcome is right.
    pub fn new(name: impl Into<String>, rule: &'static str, send: Send, must: Outcome) -> Self {
        let (hello, may) = (Hello::Plain, Vec::new());
        Self { name: name.into(), rule, send, hello, must, may }
    }

    /// The same, where servers are known to do this instead.
    pub fn or(mut self, outcome: Outcome) -> Self {
        self.may.push(outcome);
        self
    }

    /// The same, on a connection with other private data.
    pub fn on(mut self, hello: Hello) -> Self {
        self.hello = hello;
        self
    }

    /// What the plan says must happen.
    pub fn expectation(&self) -> String {
        let all = std::iter::once(&self.must).chain(&self.may);
        all.map(Outcome::to_string).collect::<Vec<_>>().join(", or ")
    }
}

/// The whole plan, in the order in which it is carried out.
pub fn all() -> Vec<Case> {
    let parts = [
        calls::cases(),
        replies::cases(),
        reads::cases(),
        writes::cases(),
        empty::cases(),
        places::cases(),
        cut_short::cases(),
        malformed::cases(),
        rpc::cases(),
        bursts::cases(),
        writes::limits(),
    ];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let cases = all();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
    }

    #[test]
    fn every_case_names_its_rule() {
        assert!(all().iter().all(|case| case.rule.starts_with("RFC ")));
    }

    #[test]
    fn there_are_forty_malformed_headers_and_more() {
        assert!(malformed::cases().len() >= 40, "{}", malformed::cases().len());
    }
}
