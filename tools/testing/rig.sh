#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Builds the rig when needed and runs it: rig.sh SUBCOMMAND [ARGUMENT...]

set -eu

cd "$(dirname "$0")"
cache=${SUNRPC_RUST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sunrpc-rust}
[ -n "${SUNRPC_RUST_CACHE:-}" ] || unset SUNRPC_RUST_CACHE
case $cache in /*) ;; *) cache=${SUNRPC_RUST_REPO:-$PWD}/$cache ;; esac
[ -z "${SUNRPC_RUST_CACHE:-}" ] || export SUNRPC_RUST_CACHE="$cache"

# True if the program $1 is a cargo of at least 1.85.
recent() {
	version=$("$1" --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p')
	[ "${version:-0}" -ge 85 ]
}

if [ "${1:-}" = distclean ] && [ ! -e "$cache" ]; then
	echo "$cache is not there, nothing to remove"
	exit 0
fi

if recent cargo; then
	cargo=cargo
elif recent /usr/bin/cargo; then
	cargo=/usr/bin/cargo
else
	sh ./get-cargo.sh
	cargo=/usr/bin/cargo
fi
[ "$cargo" = cargo ] || export RUSTC=/usr/bin/rustc

export CARGO_TARGET_DIR="$cache/target"
[ -x "$CARGO_TARGET_DIR/debug/rig" ] || echo "building the tools, about a minute the first time"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
exec "$cargo" run --quiet --locked --package rig -- "$@"
