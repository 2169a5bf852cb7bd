# Installation into a scratch folder, the example through pkg-config, the program that needs only libc.
ifeq ($(SAN),)
TESTS += tests/package/install/install.sh tests/package/install/portable.sh tests/package/install/static.sh
endif

# Of a build with CUDA, make test leaves out the static program of this machine: all would be compiled again.
.PHONY: test-long-static
test-long-static: all
	@[ ! -e $(B)/flags-CUDA ] || $(MAKE_ALL) portable-static
	@tests/run STATIC_ALL=1 B=$(B) LAPEDGE=$(abspath $(PROGRAM)) CC='$(CC)' tests/package/install/static.sh
test-long: test-long-static
