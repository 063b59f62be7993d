// SPDX-License-Identifier: GPL-2.0

//! Which points are measured, in which order, and what is left to do.

use std::cmp::Ordering;
use vm::point::{Age, Ageing, Point};
use vm::settings::{Device, IoMode, Session, Transport, Version, MIB};

/// Start of the random data.
pub const SEED: u64 = 8166;

/// Requests from small to large, in bytes.
pub const BLOCKS: [u64; 3] = [4 << 10, 64 << 10, MIB];

/// Threads of the server.
pub const THREADS: [u32; 2] = [8, 64];

/// Transports, in the order of the report.
pub const TRANSPORTS: [Transport; 2] = [Transport::Rdma, Transport::Tcp];

/// I/O modes of the server, in the order of the report.
pub const MODES: [IoMode; 3] = [IoMode::Direct, IoMode::Dontcache, IoMode::Buffered];

const AGES: [Age; 2] = [Age::Fresh, Age::Aged];

/// Kernels, in the order of the report.
pub const KERNELS: [&str; 3] = ["plain", "rfc-c", "ours"];

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A subset, in minutes.
    Quick,
    /// Everything, in hours.
    Full,
}

/// One boot.
#[derive(Clone, Debug, PartialEq)]
pub struct Boot {
    /// The kernel.
    pub flavour: String,
    /// Counts from zero.
    pub repetition: u32,
    /// What is measured, in order.
    pub points: Vec<Point>,
}

impl Extent {
    /// The points, in groups that share a boot.
    pub fn groups(self, device: Device) -> Vec<Vec<Point>> {
        match self {
            Extent::Quick => vec![quick(device)],
            Extent::Full => {
                let boots = TRANSPORTS.iter().flat_map(|transport| {
                    THREADS.iter().map(|threads| group(device, *transport, *threads))
                });
                boots.collect()
            }
        }
    }

    /// The mixed load; that of the full benchmark is more than 10^5 requests.
    pub fn ageing(self) -> Ageing {
        match self {
            Extent::Quick => Ageing { size: 32 * MIB, passes: 1 },
            Extent::Full => Ageing { size: 256 * MIB, passes: 6 },
        }
    }

    /// How often each point is measured, unless chosen.
    pub fn repetitions(self) -> u32 {
        match self {
            Extent::Quick => 2,
            Extent::Full => 3,
        }
    }

    /// Payload in each direction, in bytes.
    fn size(self, block: u64) -> u64 {
        let full = match block {
            0..=0xffff => 32 * MIB,
            0x1_0000..=0xf_ffff => 128 * MIB,
            _ => 256 * MIB,
        };
        match self {
            Extent::Quick => full / 4,
            Extent::Full => full,
        }
    }

    fn point(
        self,
        device: Device,
        (transport, threads): (Transport, u32),
        (io, block): (IoMode, u64),
        age: Age,
    ) -> Point {
        let mut session = Session::new(device, Version::V42, io, transport);
        session.threads = threads;
        Point { session, block, size: self.size(block), age }
    }
}

fn group(device: Device, transport: Transport, threads: u32) -> Vec<Point> {
    let mut points = Vec::new();
    for age in AGES {
        for io in MODES {
            let point = |block| Extent::Full.point(device, (transport, threads), (io, block), age);
            points.extend(BLOCKS.map(point));
        }
    }
    points
}

/// What matters most: large requests in each mode, small ones, TCP, many
/// threads, and an aged server.
fn quick(device: Device) -> Vec<Point> {
    use IoMode::{Buffered, Direct, Dontcache};
    let point = |place, load, age| Extent::Quick.point(device, place, load, age);
    let (rdma, tcp) = ((Transport::Rdma, 8), (Transport::Tcp, 8));
    vec![
        point(rdma, (Direct, 4 << 10), Age::Fresh),
        point(rdma, (Direct, 64 << 10), Age::Fresh),
        point(rdma, (Direct, MIB), Age::Fresh),
        point(rdma, (Dontcache, MIB), Age::Fresh),
        point(rdma, (Buffered, MIB), Age::Fresh),
        point(rdma, (Direct, MIB), Age::Aged),
        point(tcp, (Direct, MIB), Age::Fresh),
        point((Transport::Rdma, 64), (Direct, MIB), Age::Aged),
    ]
}

/// All boots: the kernels take turns, and every second time in reverse, so
/// that a drift of the machine hits all of them alike.
pub fn boots(flavours: &[String], repetitions: u32, groups: &[Vec<Point>]) -> Vec<Boot> {
    let mut boots = Vec::new();
    for repetition in 0..repetitions {
        for points in groups {
            let boot = |flavour: &String| Boot {
                flavour: flavour.clone(),
                repetition,
                points: points.clone(),
            };
            match repetition % 2 {
                0 => boots.extend(flavours.iter().map(boot)),
                _ => boots.extend(flavours.iter().rev().map(boot)),
            }
        }
    }
    boots
}

/// The boots without the points for which `covered` says yes.
pub fn outstanding(boots: Vec<Boot>, covered: impl Fn(&Boot, &Point) -> bool) -> Vec<Boot> {
    let left = boots.into_iter().map(|boot| {
        let points = boot.points.iter().filter(|point| !covered(&boot, point));
        Boot { points: points.copied().collect(), ..boot.clone() }
    });
    left.filter(|boot| !boot.points.is_empty()).collect()
}

/// Roughly how long a boot takes compared with others, without its points.
pub const BOOT_COST: u64 = 40;

/// Roughly how long a point takes compared with others.
pub fn cost(point: &Point) -> u64 {
    let requests = point.size / point.block;
    8 + point.size / (8 * MIB) + requests / 250
}

/// The order of the report.
pub fn compare(a: &Point, b: &Point) -> Ordering {
    let place = |point: &Point| {
        let session = &point.session;
        let transport = TRANSPORTS.iter().position(|known| *known == session.transport);
        let mode = MODES.iter().position(|known| *known == session.io);
        (transport, session.threads, point.age, mode, point.block, point.size)
    };
    place(a).cmp(&place(b))
}

/// Whether both are the same but for the size of the payload.
pub fn alike(a: &Point, b: &Point) -> bool {
    Point { size: b.size, ..*a } == *b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_plan_has_every_combination_once() {
        let groups = Extent::Full.groups(Device::Rxe);
        assert_eq!(groups.len(), 4);
        let mut points: Vec<Point> = groups.concat();
        assert_eq!(points.len(), 2 * 2 * 2 * 3 * 3);
        points.sort_by(compare);
        points.dedup();
        assert_eq!(points.len(), 72);
        assert!(points.iter().all(|point| point.size % point.block == 0));
    }

    #[test]
    fn the_quick_plan_is_a_subset() {
        let full = Extent::Full.groups(Device::Siw).concat();
        let quick = Extent::Quick.groups(Device::Siw).concat();
        assert!(quick.iter().all(|point| full.iter().any(|other| alike(point, other))));
        let cost: u64 = quick.iter().map(cost).sum();
        assert!(cost < full.iter().map(super::cost).sum::<u64>() / 10);
    }

    #[test]
    fn kernels_take_turns_and_change_order() {
        let flavours = ["plain", "rfc-c", "ours"].map(str::to_owned);
        let groups = Extent::Quick.groups(Device::Rxe);
        let boots = boots(&flavours, 2, &groups);
        let order: Vec<&str> = boots.iter().map(|boot| boot.flavour.as_str()).collect();
        assert_eq!(order, ["plain", "rfc-c", "ours", "ours", "rfc-c", "plain"]);
        assert_eq!(boots[3].repetition, 1);
    }

    #[test]
    fn what_is_covered_is_left_out() {
        let flavours = ["plain", "ours"].map(str::to_owned);
        let groups = Extent::Quick.groups(Device::Rxe);
        let first = groups[0][0];
        let left = outstanding(boots(&flavours, 1, &groups), |boot, point| {
            boot.flavour == "plain" || *point == first
        });
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].points, groups[0][1..]);
    }
}
