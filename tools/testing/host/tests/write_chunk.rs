// SPDX-License-Identifier: GPL-2.0

//! Which byte of a Reply goes to which remote address.

use host::{
    message::{self, cap, cases, extent_bytes, linear_bytes, page_at_a_time, shape, Byte},
    page::PAGE_SIZE,
    sunrpc::{
        chunk::{try_for_each_part, ChunkOverflow, RemoteRange, SegmentCursor},
        write_chunk::{try_for_each_write, Source},
        xdr_buf::Incomplete,
    },
};
use proptest::prelude::*;

/// A remote byte: an R_key and an address.
type Remote = (u32, u64);

/// The segments of a chunk, some of them empty, with addresses near the limit now and then.
fn segments() -> impl Strategy<Value = Vec<RemoteRange>> {
    let length = prop_oneof![1 => Just(0), 4 => 1..200u32, 4 => 200..20_000u32];
    let offset = prop_oneof![4 => 0..1u64 << 40, 1 => u64::MAX - 100_000..=u64::MAX - 20_000];
    prop::collection::vec((length, offset), 0..8).prop_map(|list| {
        let number = |(at, (length, offset)): (usize, (u32, u64))| RemoteRange {
            handle: 0x100 + at as u32,
            length,
            offset,
        };
        list.into_iter().enumerate().map(number).collect()
    })
}

/// The remote bytes of a range.
fn remote_bytes(range: &RemoteRange) -> impl Iterator<Item = Remote> + '_ {
    (0..u64::from(range.length)).map(|at| (range.handle, range.offset.wrapping_add(at)))
}

/// The local bytes of a source.
fn local_bytes(source: &Source<'_, message::PageSlot>) -> Vec<Byte> {
    match source {
        Source::Linear(linear) => linear_bytes(linear),
        Source::Pages(pages) => {
            let extents = pages.extents(u32::MAX).expect("the page list is complete");
            extents.flat_map(|extent| extent_bytes(&extent)).collect()
        }
    }
}

/// R/W contexts of the C code: one for each segment that the head, the page list or the tail has
/// bytes in.
fn contexts_of(shape: &message::Shape, moved: &[(Byte, Remote)]) -> usize {
    let (head, pages) = (shape.head as usize, shape.page_len as usize);
    let part = |at: usize| usize::from(at >= head) + usize::from(at >= head + pages);
    let context = |at: usize| (part(at), moved[at].1 .0);
    let changes = (1..moved.len()).filter(|at| context(*at) != context(at - 1)).count();

    changes + usize::from(!moved.is_empty())
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn byte_n_of_the_message_is_byte_n_of_the_chunk(
        shape in shape(),
        segments in segments(),
    ) {
        let Some(local) = shape.bytes() else { return Ok(()) };
        let remote: Vec<Remote> = segments.iter().flat_map(remote_bytes).collect();
        let mut cursor = SegmentCursor::default();
        let mut moved = Vec::new();
        let mut contexts = 0;
        let result = try_for_each_write::<_, ChunkOverflow>(
            &shape.xdr_buf(),
            &segments,
            &mut cursor,
            |range, source| {
                let bytes = local_bytes(&source);
                assert_eq!(bytes.len(), range.length as usize);
                moved.extend(bytes.into_iter().zip(remote_bytes(&range)));
                contexts += 1;
                Ok(())
            },
        );

        let room = remote.len().min(local.len());
        let expected: Vec<_> = local.iter().copied().zip(remote).take(room).collect();
        prop_assert_eq!(result.is_ok(), room == local.len());
        prop_assert_eq!(moved, expected);
        prop_assert!(contexts <= segments.len() + 2);
    }

    #[test]
    fn nothing_takes_more_than_a_page_at_a_time_would(
        shape in shape(),
        segments in segments(),
        cap in cap(),
    ) {
        let Some(local) = shape.bytes() else { return Ok(()) };
        let remote: Vec<Remote> = segments.iter().flat_map(remote_bytes).collect();
        let cap = cap.max(PAGE_SIZE as u32);
        let mut cursor = SegmentCursor::default();
        let mut contexts = 0;
        // What exceeds the chunk is another property's business.
        let _ = try_for_each_write::<_, ChunkOverflow>(
            &shape.xdr_buf(),
            &segments,
            &mut cursor,
            |_, source| {
                let mut pieces = 0;
                let counted = source.try_for_each_piece::<Incomplete>(cap, |_| {
                    pieces += 1;
                    Ok(())
                });
                assert_eq!(counted, Ok(()));
                assert!(pieces <= page_at_a_time(&local_bytes(&source)));
                contexts += 1;
                Ok(())
            },
        );
        let moved: Vec<_> = local.into_iter().zip(remote).collect();
        prop_assert_eq!(contexts, contexts_of(&shape, &moved));
    }

    #[test]
    fn a_second_message_continues_where_the_first_one_ended(
        first in shape(),
        second in shape(),
        mut segments in segments(),
    ) {
        let (Some(a), Some(b)) = (first.bytes(), second.bytes()) else { return Ok(()) };
        segments.push(RemoteRange { handle: 0xff, length: (a.len() + b.len()) as u32, offset: 1 });
        let remote: Vec<Remote> = segments.iter().flat_map(remote_bytes).collect();
        let mut cursor = SegmentCursor::default();
        let mut written = Vec::new();

        for shape in [&first, &second] {
            let result = try_for_each_write::<_, ChunkOverflow>(
                &shape.xdr_buf(),
                &segments,
                &mut cursor,
                |range, _| {
                    written.extend(remote_bytes(&range));
                    Ok(())
                },
            );
            prop_assert_eq!(result, Ok(()));
        }
        prop_assert_eq!(&written[..], &remote[..a.len() + b.len()]);
    }

    #[test]
    fn a_range_of_a_chunk_is_those_bytes_of_it(
        segments in segments(),
        offset in 0..60_000u32,
        len in 0..60_000u32,
    ) {
        let remote: Vec<Remote> = segments.iter().flat_map(remote_bytes).collect();
        let mut parts = Vec::new();
        let result = try_for_each_part::<ChunkOverflow>(&segments, offset, len, |part| {
            parts.extend(remote_bytes(&part));
            Ok(())
        });

        let begin = remote.len().min(offset as usize);
        let end = remote.len().min(offset as usize + len as usize);
        let fits = len == 0 && offset as usize <= remote.len()
            || (offset + len) as usize <= remote.len();
        prop_assert_eq!(result.is_ok(), fits);
        prop_assert_eq!(&parts[..], &remote[begin..end]);
    }
}

#[test]
fn a_segment_without_room_is_passed_over() {
    let segment = |length| RemoteRange { handle: 1, length, offset: 0x1000 };
    let mut cursor = SegmentCursor::default();
    let segments = [segment(0), segment(0), segment(5000)];

    assert_eq!(cursor.take(&segments, 5000), Ok(segment(5000)));
    assert_eq!(cursor.take(&segments, 1), Err(ChunkOverflow(1)));
    assert_eq!(SegmentCursor::default().take(&[], 1), Err(ChunkOverflow(1)));
}
