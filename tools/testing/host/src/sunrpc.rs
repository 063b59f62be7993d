// SPDX-License-Identifier: GPL-2.0

//! Stands in for `kernel::sunrpc`.

macro_rules! kernel_modules {
    ($($path:literal $name:ident),* $(,)?) => {
        $(
            // The kernel has a format of its own.
            #[rustfmt::skip]
            #[path = $path]
            pub mod $name;
        )*
    };
}

kernel_modules! {
    "../../../../rust/kernel/sunrpc/budget.rs" budget,
    "../../../../rust/kernel/sunrpc/chunk.rs" chunk,
    "../../../../rust/kernel/sunrpc/depot.rs" depot,
    "../../../../rust/kernel/sunrpc/extent.rs" extent,
    "../../../../rust/kernel/sunrpc/fifo.rs" fifo,
    "../../../../rust/kernel/sunrpc/granule.rs" granule,
    "../../../../rust/kernel/sunrpc/parts.rs" parts,
    "../../../../rust/kernel/sunrpc/read_sink.rs" read_sink,
    "../../../../rust/kernel/sunrpc/refill.rs" refill,
    "../../../../rust/kernel/sunrpc/send.rs" send,
    "../../../../rust/kernel/sunrpc/stock.rs" stock,
    "../../../../rust/kernel/sunrpc/write_chunk.rs" write_chunk,
    "../../../../rust/kernel/sunrpc/xdr_buf.rs" xdr_buf,
}
