// SPDX-License-Identifier: GPL-2.0

//! How a Call comes together from its body and its Read chunks.

use host::{
    message::cases,
    page::PAGE_SIZE,
    sunrpc::read_sink::{try_for_each_step, BadPosition, PageOverrun, Place, SinkCursor, Step},
};
use proptest::prelude::*;

/// A byte of a Call: of its body, or of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Body(u32),
    Chunk(usize, u32),
}

/// The Call, byte by byte: each chunk is inserted where the body has a cut.
fn model(body_len: u32, cuts: &[(u32, u32)]) -> Vec<Byte> {
    let mut call = Vec::new();
    let mut body = 0;

    for (number, (cut, length)) in cuts.iter().enumerate() {
        call.extend((body..*cut).map(Byte::Body));
        call.extend((0..*length).map(|at| Byte::Chunk(number, at)));
        body = *cut;
    }
    call.extend((body..body_len).map(Byte::Body));
    call
}

/// The positions that a client would put into the Read list.
fn places(cuts: &[(u32, u32)]) -> Vec<Place<usize>> {
    let mut before = 0;
    let place = |(chunk, (cut, length)): (usize, &(u32, u32))| {
        let position = cut + before;
        before += length;
        Place { position, length: *length, chunk }
    };
    cuts.iter().enumerate().map(place).collect()
}

/// The Call that the steps make.
fn assemble(body_len: u32, places: &[Place<usize>]) -> Result<Vec<Byte>, BadPosition> {
    let mut call = Vec::new();

    try_for_each_step(body_len, places.iter().copied(), |step| {
        match step {
            Step::Body(offset, len) => call.extend((offset..offset + len).map(Byte::Body)),
            Step::Chunk(chunk) => {
                call.extend((0..places[chunk].length).map(|at| Byte::Chunk(chunk, at)));
            }
        }
        Ok(())
    })?;
    Ok(call)
}

/// A body, and the places where it is cut, each with the length of the chunk.
fn cut_body() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (0..5000u32).prop_flat_map(|body_len| {
        let cuts = prop::collection::vec((0..=body_len, 0..3000u32), 0..5);
        cuts.prop_map(move |mut cuts| {
            cuts.sort_unstable_by_key(|cut| cut.0);
            (body_len, cuts)
        })
    })
}

proptest! {
    #![proptest_config(cases(5_000))]

    #[test]
    fn a_call_that_was_cut_comes_together_again((body_len, cuts) in cut_body()) {
        prop_assert_eq!(assemble(body_len, &places(&cuts)), Ok(model(body_len, &cuts)));
    }

    #[test]
    fn hostile_positions_are_an_error_or_a_call(
        body_len in 0..5000u32,
        numbers in prop::collection::vec((any::<u32>(), any::<u32>()), 1..5),
    ) {
        let places = numbers.iter().map(|(position, length)| Place {
            position: *position,
            length: *length,
            chunk: (),
        });
        let mut body = 0;
        let result = try_for_each_step::<_, BadPosition>(body_len, places, |step| {
            if let Step::Body(offset, len) = step {
                assert_eq!(offset, body);
                body += len;
                assert!(body <= body_len);
            }
            Ok(())
        });
        prop_assert!(result.is_err() || body == body_len);
    }

    #[test]
    fn no_byte_lands_beyond_the_pages(
        max_pages in 0..20u32,
        lens in prop::collection::vec(
            prop_oneof![0..20_000u32, any::<u32>(), Just(PAGE_SIZE as u32)],
            0..12,
        ),
    ) {
        let mut cursor = SinkCursor::new(max_pages);
        let mut next = 0usize;
        let room = max_pages as usize * PAGE_SIZE;

        for len in lens {
            let before = cursor;
            let taken = cursor.take(len);
            if next + len as usize > room {
                prop_assert_eq!(taken, Err(PageOverrun));
                prop_assert_eq!(cursor, before);
                continue;
            }
            let place = taken.expect("there is room");
            prop_assert_eq!(place.page() as usize * PAGE_SIZE + place.offset() as usize, next);
            next += len as usize;
        }
        prop_assert_eq!(cursor.pages_used() as usize, next.div_ceil(PAGE_SIZE));
        prop_assert!(cursor.pages_used() <= max_pages);
    }
}

/// A Call that exactly fills the pages, and one byte more.
#[test]
fn the_last_page_is_used_and_not_exceeded() {
    let page = PAGE_SIZE as u32;
    let mut cursor = SinkCursor::new(3);

    assert_eq!(cursor.take(100).map(|place| place.page()), Ok(0));
    assert!(cursor.take(3 * page - 100).is_ok());
    assert_eq!(cursor.pages_used(), 3);
    assert_eq!(cursor.take(1), Err(PageOverrun));
    assert!(cursor.take(0).is_ok());
}
