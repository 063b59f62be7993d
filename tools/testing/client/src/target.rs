// SPDX-License-Identifier: GPL-2.0

//! Memory for chunks: segments at odd places between guard bytes.

use crate::header::Segment;
use crate::peer::Peer;
use crate::verbs::{Access, Region};
use anyhow::{ensure, Result};

/// Bytes that nobody may touch in front of and behind each segment.
const GUARD: usize = 64;
/// What they hold, and what a segment holds before the server writes.
const FILL: u8 = 0xa5;
/// Distance between the places of successive segments within a page.
const STRIDE: usize = 1013;

/// One segment.
struct Place {
    region: Region,
    start: usize,
    length: usize,
}

/// Memory for the segments of one chunk.
pub struct Target {
    places: Vec<Place>,
}

impl Target {
    /// Registers memory for segments of these lengths, in bytes.
    pub fn new(peer: &Peer, lengths: &[usize], access: Access) -> Result<Self> {
        let place = |(number, length): (usize, &usize)| -> Result<Place> {
            let start = GUARD + (number * STRIDE) % 4096;
            let total = start + length + GUARD;
            let region = peer.region(total, access)?;
            region.write(0, &vec![FILL; total]);
            Ok(Place { region, start, length: *length })
        };
        let places = lengths.iter().enumerate().map(place).collect::<Result<_>>()?;
        Ok(Self { places })
    }

    /// Registers memory that holds `content`, cut into segments of these
    /// lengths.
    pub fn holding(peer: &Peer, content: &[u8], lengths: &[usize]) -> Result<Self> {
        let this = Self::new(peer, lengths, Access::Read)?;
        let mut rest = content;
        for place in &this.places {
            let (part, behind) = rest.split_at(place.length.min(rest.len()));
            place.region.write(place.start, part);
            rest = behind;
        }
        ensure!(rest.is_empty(), "the segments are {} bytes too short", rest.len());
        Ok(this)
    }

    /// The segments, for the wire.
    pub fn segments(&self) -> Vec<Segment> {
        let segment = |place: &Place| Segment {
            handle: place.region.remote_key(),
            length: place.length as u32,
            offset: place.region.address(place.start),
        };
        self.places.iter().map(segment).collect()
    }

    /// What the server wrote, going by the lengths in its copy of the chunk.
    ///
    /// Fails if the copy is of another chunk, is not filled from the front, or
    /// if a byte was written that it does not count.
    pub fn written(&self, echo: &[Segment]) -> Result<Vec<u8>> {
        ensure!(echo.len() == self.places.len(), "the reply's chunk has {} segments", echo.len());
        let mut content = Vec::new();
        let mut full = true;
        for (place, (mine, theirs)) in self.places.iter().zip(self.segments().iter().zip(echo)) {
            let same = mine.handle == theirs.handle && mine.offset == theirs.offset;
            ensure!(same, "the reply's chunk names other memory");
            ensure!(theirs.length <= mine.length, "the reply's chunk is longer than the call's");
            ensure!(full || theirs.length == 0, "a segment was passed over");
            full &= theirs.length == mine.length;
            content.extend(place.written(theirs.length as usize)?);
        }
        Ok(content)
    }

    /// Whether the server has begun to write.
    pub fn is_touched(&self) -> bool {
        let touched = |place: &Place| place.region.read(place.start, place.length) != fill(place);
        self.places.iter().any(touched)
    }

    /// Takes the keys back.
    pub fn withdraw(&mut self) {
        self.places.iter_mut().for_each(|place| place.region.withdraw());
    }
}

impl Place {
    fn written(&self, length: usize) -> Result<Vec<u8>> {
        let whole = self.region.read(0, self.start + self.length + GUARD);
        let (front, rest) = whole.split_at(self.start);
        let (content, behind) = rest.split_at(length);
        let clean = |bytes: &[u8]| bytes.iter().all(|byte| *byte == FILL);
        ensure!(clean(front), "the server wrote in front of a segment");
        ensure!(clean(behind), "the server wrote behind what it counts in a segment");
        Ok(content.to_vec())
    }
}

fn fill(place: &Place) -> Vec<u8> {
    vec![FILL; place.length]
}
