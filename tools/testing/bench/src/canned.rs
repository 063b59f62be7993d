// SPDX-License-Identifier: GPL-2.0

//! Raw results for tests.

use crate::record::Record;

/// 32 MiB in each direction of the plain kernel; the READ was spliced.
pub const LINE: &str = r#"{"format":1,"kernel":{"flavour":"plain","image":"p1"},"setup":{"machine":{"memory":4294967296,"cpus":2},"accel":"tcg","processor":"A CPU"},"repetition":0,"sample":{"point":{"session":{"device":"rxe","version":"V42","io":"direct","transport":"rdma","threads":8,"max_segment":65536,"payload":1048576},"block":1048576,"size":33554432,"age":"fresh"},"release":"7.3.4","parameters":"quiet","outcome":{"Ok":{"write":{"bytes":33554432,"seconds":2.0,"counts":{"rdma_read":{"chunks":32,"requests":1792},"rdma_write":{"chunks":0,"requests":0},"rdma_reply":{"chunks":0,"requests":0},"fs_read":{"calls":0,"bvecs":0,"bytes":0},"fs_write":{"calls":32,"bvecs":8192,"bytes":33554432},"spliced":0,"bulk_pages":8192,"by_order":{},"movable_pages":0,"zone_locked_pages":6,"drained_pages":4,"vm_alloc":9000,"vm_free":9000,"nfsd_read":0,"nfsd_written":33554432,"cpu_ticks":300,"nfsd_ticks":40}},"read":{"bytes":33554432,"seconds":1.0,"counts":{"rdma_read":{"chunks":0,"requests":0},"rdma_write":{"chunks":32,"requests":1792},"rdma_reply":{"chunks":0,"requests":0},"fs_read":{"calls":0,"bvecs":0,"bytes":0},"fs_write":{"calls":0,"bvecs":0,"bytes":0},"spliced":512,"bulk_pages":8168,"by_order":{"3":3},"movable_pages":0,"zone_locked_pages":0,"drained_pages":0,"vm_alloc":9000,"vm_free":9000,"nfsd_read":33554432,"nfsd_written":0,"cpu_ticks":200,"nfsd_ticks":30}},"memory":{"held":32768,"idle":16384},"aged_by":null}}}}"#;

/// Two kernels, two points, two repetitions: plain and ours with large
/// requests, plain alone with small ones, and a failure.
pub fn records() -> Vec<Record> {
    let plain: Record = serde_json::from_str(LINE).unwrap();
    let ours = ours(&plain);
    let again = |record: &Record| Record { repetition: 1, ..record.clone() };
    let mut small = plain.clone();
    small.sample.point.block = 4096;
    let mut failed = ours.clone();
    failed.sample.point.block = 4096;
    failed.sample.outcome = Err("fio ended with error 84".to_owned());
    vec![plain.clone(), ours.clone(), again(&ours), again(&plain), small, failed]
}

fn ours(plain: &Record) -> Record {
    let mut record = plain.clone();
    record.kernel.flavour = "ours".to_owned();
    record.kernel.image = "o1".to_owned();
    if let Ok(figures) = &mut record.sample.outcome {
        figures.read.counts.rdma_write.requests = 256;
        figures.write.counts.rdma_read.requests = 256;
        figures.write.counts.fs_write.bvecs = 512;
        let text = "granules: owned 40 idle 30 bound 100 ring 700 pool 200 fallback 100 \
            attempts 60 grown 40 reclaimed 0\n";
        figures.read.counts.granules = vm::granules::Granules::parse(text).ok();
        figures.read.counts.bulk_pages = 100;
    }
    record
}
