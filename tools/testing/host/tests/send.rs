// SPDX-License-Identifier: GPL-2.0

//! What of a Reply goes into the Send, and how.

use host::{
    message::{self, cap, cases, page_at_a_time, piece_bytes, shape, Byte, Shape},
    page::PAGE_SIZE,
    sunrpc::{
        chunk::Payload,
        send::{choose, try_for_each_sent_piece, SendLimits, Transmit, Unsendable},
    },
};
use proptest::prelude::*;

/// Payloads in order, at positions that are multiples of four.
fn payloads(total: u32) -> impl Strategy<Value = Vec<Payload>> {
    let cut = 0..=total / 4;
    prop::collection::vec((cut.clone(), cut), 0..3).prop_map(move |pairs| {
        let mut cuts: Vec<u32> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        cuts.sort_unstable();
        cuts.chunks(2)
            .filter(|pair| pair[0] < pair[1])
            .map(|pair| Payload {
                position: pair[0] * 4,
                length: (pair[1] - pair[0]) * 4 - pair[1] % 4,
            })
            .collect()
    })
}

/// The bytes that are in no payload nor in its padding, one by one.
fn model(bytes: &[Byte], payloads: &[Payload]) -> Vec<Byte> {
    let in_payload = |at: usize| {
        payloads.iter().any(|payload| {
            let begin = payload.position as usize;
            (begin..begin + (payload.length as usize).next_multiple_of(4)).contains(&at)
        })
    };
    let sent = bytes.iter().enumerate().filter(|(at, _)| !in_payload(*at));
    sent.map(|(_, byte)| *byte).collect()
}

/// A message whose length is a multiple of four, as XDR makes them, and payloads in it.
fn reply() -> impl Strategy<Value = (Shape, Vec<Payload>)> {
    shape().prop_flat_map(|mut shape| {
        let len = shape.head + shape.page_len + shape.tail;
        shape.tail += len.next_multiple_of(4) - len;
        let total = shape.head + shape.page_len + shape.tail;
        (Just(shape), payloads(total))
    })
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn every_byte_outside_payloads_is_sent_once((shape, payloads) in reply(), cap in cap()) {
        let mut sent = Vec::new();
        let mut count = 0;
        let result = try_for_each_sent_piece::<_, Unsendable>(
            &shape.xdr_buf(),
            payloads.iter().copied(),
            cap,
            |piece| {
                assert!(piece.len() > 0 && piece.len() <= cap);
                sent.extend(piece_bytes(&piece));
                count += 1;
                Ok(())
            },
        );
        let Some(bytes) = shape.bytes() else {
            // A hole in a payload does not matter to the Send.
            return Ok(());
        };
        let expected = model(&bytes, &payloads);

        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(&sent, &expected);
        if cap as usize >= PAGE_SIZE {
            prop_assert!(count <= page_at_a_time(&expected));
        }
    }

    #[test]
    fn the_choice_respects_all_limits(
        (shape, payloads) in reply(),
        header_len in 28..200u32,
        max_sges in 2..12u32,
    ) {
        let limits = SendLimits {
            max_sges,
            inline_threshold: 4096,
            pull_up_below: 512,
            max_sge_len: u32::MAX,
        };
        let Some(bytes) = shape.bytes() else { return Ok(()) };
        let sent = model(&bytes, &payloads);
        let len = header_len as usize + sent.len();
        let mut sges = 1;
        let counted = try_for_each_sent_piece::<_, Unsendable>(
            &shape.xdr_buf(),
            payloads.iter().copied(),
            limits.max_sge_len,
            |_| {
                sges += 1;
                Ok(())
            },
        );
        prop_assert_eq!(counted, Ok(()));

        match choose(&shape.xdr_buf(), || payloads.iter().copied(), header_len, &limits) {
            Ok(Transmit::Map) => prop_assert!((512..=4096).contains(&len) && sges < max_sges),
            Ok(Transmit::PullUp) => {
                prop_assert!(len <= 4096);
                prop_assert!(len < 512 || sges >= max_sges);
            }
            Err(why) => {
                prop_assert_eq!(why, Unsendable::TooBig);
                prop_assert!(len > 4096);
            }
        }
    }

    #[test]
    fn hostile_payloads_are_refused_or_sent(
        shape in shape(),
        numbers in prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
    ) {
        let total = u64::from(shape.head) + u64::from(shape.page_len) + u64::from(shape.tail);
        let payloads = numbers.iter().map(|(position, length)| Payload {
            position: *position,
            length: *length,
        });
        let mut sent = 0u64;
        let result = try_for_each_sent_piece::<_, Unsendable>(
            &shape.xdr_buf(),
            payloads,
            u32::MAX,
            |piece| {
                sent += u64::from(piece.len());
                Ok(())
            },
        );
        prop_assert!(sent <= total);
        prop_assert!(result.is_err() || numbers.iter().all(|(p, l)| u64::from(*p) + u64::from(*l) <= total));
    }
}

/// The boundaries of the pull-up decision: just below, at, and just above.
#[test]
fn pull_up_boundaries() {
    let slots: Vec<_> = (0..4).map(|n| message::PageSlot(Some(2 * n))).collect();
    let limits = SendLimits {
        max_sges: 4,
        inline_threshold: 4096,
        pull_up_below: 512,
        max_sge_len: u32::MAX,
    };
    let choice = |head, page_base, page_len| {
        let shape = Shape { head, slots: slots.clone(), page_base, page_len, tail: 0 };
        choose(&shape.xdr_buf(), || [], 28, &limits)
    };

    assert_eq!(choice(483, 0, 0), Ok(Transmit::PullUp));
    assert_eq!(choice(484, 0, 0), Ok(Transmit::Map));
    assert_eq!(choice(100, 100, 3000), Ok(Transmit::Map));
    let page = PAGE_SIZE as u32;
    assert_eq!(choice(100, page - 100, 3000), Ok(Transmit::PullUp));
    assert_eq!(choice(100, page - 1, page + 2), Err(Unsendable::TooBig));
    assert_eq!(choice(4068, 0, 0), Ok(Transmit::Map));
    assert_eq!(choice(4069, 0, 0), Err(Unsendable::TooBig));
}
