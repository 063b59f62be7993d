# SPDX-License-Identifier: GPL-2.0
#
# Front end of the rig: see `make help`. The variables reach the rig through
# the environment.

VARIABLES := ACCEL BUDGET CMD CPUS FLAVOUR FORCE_MR IO KDIR KERNEL KERNELS \
	     MAX_SEGMENT MEM MOUNT ONLY PAYLOAD PEER_PATCHES PLAIN QUICK RDMA REPEAT \
	     SEC SIZE SKIP SWIOTLB THREADS VERS SUNRPC_RUST_CACHE

# Taken literally: a '$' in CMD is for the guest's shell.
$(foreach v,$(VARIABLES),$(if $(filter command environment,$(firstword $(origin $v))),\
	$(eval override $v := $$(value $v))$(eval export $v)))

export SUNRPC_RUST_REPO := $(CURDIR)

TARGETS := tree kernel run bench policy vm client test stress microbench builders \
	   series series-check gate modules-check kunit unsafe setup distclean

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

#: make run            build the kernel, serve NFS over RDMA, verify and measure
#: make bench          measure plain, rfc-c and ours in turn: QUICK=1 REPEAT= KERNELS=
#: make policy         ways to allocate pages, by how often they take zone->lock
#: make vm CMD='...'   run a command in a guest with the export at /mnt/nfs
#: make client         hand-written RPC-over-RDMA messages: ONLY= or SKIP= (part of
#:                     a name; SKIP takes several, with commas between)
#: make test           all tests and the static gate
#: make stress         wear the server out: BUDGET= (minutes, 30) ONLY= (part of a name)
#: make tree           the patched kernel source
#: make kernel         build it: FLAVOUR=ours|ours-c|plain|rfc-c
#: make kunit          the kernel's own unit tests, in a guest
#: make microbench     cost of the Rust helpers beside the C helpers
#: make builders       cost of svcrdma's chunk builders: plain, rfc-c, ours
#: make series         the patch series, in build/series
#: make series-check   build every commit of it, Rust on and off, as modules and
#:                     not, and boot each (hours): ONLY= (part of a name)
#: make modules-check  build with the transports as modules, load, use and unload
#:                     them: ONLY= (part of a name)
#: make unsafe         where the kernel's Rust has unsafe code, and how much
#: make gate           formatting, lints, checkpatch, documentation
#: make setup          install what is missing
#: make distclean      remove the cache folder
#:
#: Variables: KDIR= (your own 7.3 tree) KERNEL=ours|ours-c|plain|rfc-c PLAIN=1
#:   RDMA=rxe|siw|rxe-dma MAX_SEGMENT= SWIOTLB=1 FORCE_MR=1 PAYLOAD=
#:   VERS=3|4.1|4.2 IO=buffered|dontcache|direct MOUNT=rdma|tcp
#:   SEC=sys|krb5|krb5i|krb5p THREADS= MEM= CPUS= SIZE= ACCEL=kvm|tcg
#:   PEER_PATCHES= SUNRPC_RUST_CACHE=

$(TARGETS):
	@sh tools/testing/rig.sh $@

.PHONY: help $(TARGETS)
.NOTPARALLEL:
