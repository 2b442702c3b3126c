# SPDX-License-Identifier: GPL-2.0
# Every command of the project. `make help` lists them; each makes what it needs.
#
# Everything runs in the room, a Debian tree of its own (scripts/room), so that
# the host needs no more than make, git and apt.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
ROOM := scripts/room run
KIND := $(if $(BASE),base,$(if $(DEBUG),debug,release))
NIC ?= igb
export KERNEL_TREE MIRROR RXHOOK_CACHE ACCEL FORCE PATCH FUZZ SOAK

CHECK = $(ROOM) python3 tools/testing/check/main.py $(if $(SUITE),--suite "$(SUITE)") \
	$(if $(TEST),--test "$(TEST)") $(if $(BASE),--base)
CACHE := $(abspath $(or $(RXHOOK_CACHE),$(HOME)/.cache/rxhook))
BUILT := $(addprefix build/,kernel-* selftests selftests.log samples rxhook bench connectx3 results series deb seqstream check-needs)

help: ## list the commands
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  KERNEL_TREE=DIR  use this Linux tree instead of Debian's package; it is only read"
	@echo "  RXHOOK_CACHE=DIR room, base kernel and ccache (now: $(CACHE))"
	@echo "  MIRROR=URL       Debian mirror to make the room from"
	@echo "  ACCEL=kvm        run the guest on KVM instead of TCG"
	@echo "  NIC=mlx4         an emulated ConnectX-3 in the guest's shell instead of two 82576"

demo: kernel samples build/seqstream ## boot, flood a port, drop the flood in the hook, count
	@$(ROOM) tools/testing/vm/run-demo $(NIC)

check: room ## run the tests: SUITE=name, TEST=name, BASE=1 for our tests on the unpatched kernel
	@$(CHECK) --plan >build/check-needs && \
		while read -r goal; do $(MAKE) $$goal </dev/null || exit 1; done <build/check-needs
	@$(CHECK)

room: ## make the room: compilers, QEMU, the guest's root file system
	@scripts/room make

base: room ## fetch the base kernel
	@$(ROOM) scripts/base

tree: base ## build/linux: the base kernel, then one commit a patch
	@$(ROOM) scripts/series.py tree

refresh: base ## take edits in build/linux back into patches/ and the added files; PATCH=name
	@$(ROOM) scripts/series.py refresh

series: tree ## write the mails into build/series and check them
	@$(ROOM) scripts/series.py mails

kernel: tree ## build the patched kernel; DEBUG=1: with all checks, BASE=1: unpatched
	@$(ROOM) scripts/kernel $(KIND)

deb: ## Debian packages of the patched kernel, from CONFIG=/boot/config-...
	@CONFIG="$(CONFIG)" scripts/deb

bench: kernel ## instructions a received packet costs, base beside fork; fails above the bars
	@$(MAKE) kernel BASE=1
	@$(ROOM) make -s -C tools/testing/bench OUTPUT=/rxhook/build/bench
	@$(ROOM) python3 tools/testing/bench/main.py --nic $(NIC) --write-docs

shell: kernel samples ## an interactive guest with two wired ports; DEBUG=1, BASE=1, NIC=mlx4
	@$(ROOM) tools/testing/vm/rig.py shell --kernel $(KIND) --nic $(NIC)

samples: room ## build the programs in samples/bpf into build/samples
	@$(ROOM) make -s -C samples/bpf OUTPUT=/rxhook/build/samples

rxhook: room ## build the command rxhook into build/rxhook
	@$(ROOM) make -s -C tools/net/rxhook OUTPUT=/rxhook/build/rxhook

selftests: tree ## build the selftests, the kernel's and ours, into build/selftests
	@$(ROOM) scripts/selftests

# numbered datagrams for the demo, which does without the other selftests
build/seqstream: tree
	@$(ROOM) gcc -O2 -o $@ build/linux/tools/testing/selftests/drivers/net/hw/seqstream.c

clean: ## remove what was built, keep the trees and the cache
	@echo "removing $(BUILT)"
	@rm -rf $(BUILT)

distclean: ## remove build/ and the cache: room, base kernel, ccache
	@if [ -d build/linux ] && [ -d "$$(scripts/room path)" ]; then $(ROOM) scripts/series.py dirty; fi
	@echo "removing build/ and, in $(CACHE), the room, the base kernel and ccache"
	@rm -rf build $(addprefix "$(CACHE)"/,room-* room.lock room.log base-* base.* deb.lock ccache *.deb)
	@-rmdir --ignore-fail-on-non-empty "$(CACHE)"

.PHONY: help demo check bench room base tree refresh series kernel deb shell samples rxhook selftests clean distclean
.PHONY: build/seqstream
