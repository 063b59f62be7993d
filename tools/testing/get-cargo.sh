#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Installs cargo from the distribution, as root on Debian 12 or 13.

set -eu

wanted="cargo 1.85 or later is missing"
# shellcheck source=/dev/null
id=$(. /etc/os-release 2>/dev/null && echo "${ID:-}-${VERSION_ID:-}") || id=unknown
case $id in
debian-12) package=cargo-web ;;
debian-13) package=cargo ;;
*)
	echo "error: $wanted: install it from your distribution or with rustup" >&2
	exit 1
	;;
esac
if [ "$(id -u)" -ne 0 ]; then
	echo "error: $wanted: run 'apt-get install $package' as root" >&2
	exit 1
fi
log=$(mktemp)
echo "installing $package"
apt-get update >"$log" 2>&1 || true
if ! DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
	install -y --no-install-recommends "$package" >>"$log" 2>&1; then
	echo "error: cannot install $package: the log is $log" >&2
	exit 1
fi
rm -f "$log"
