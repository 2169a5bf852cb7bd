# Builds the parts of a release: the sources as one file, its parts list, checksums; and the interface as it was
# released. Included by the Makefile. The steps of a release are in CONTRIBUTING.md.

DIST := build/dist/lapedge-$(VERSION)
ABI_DUMP := tests/package/release/liblapedge.so.$(SOVERSION).abi

.PHONY: dist abi
## dist: pack the sources of the last commit, with parts list (SPDX) and checksums, into build/dist
dist:
	@git diff --quiet HEAD -- || { echo "dist: there are changes that are not committed" >&2; exit 1; }
	@rm -rf build/dist && mkdir -p build/dist
	@git archive --format=tar --prefix=lapedge-$(VERSION)/ HEAD | gzip -9n > $(DIST).tar.gz
	@tools/release/sbom $(VERSION) $$(git log -1 --format=%ct) $(DIST).tar.gz > $(DIST).spdx.json
	@cd build/dist && sha256sum lapedge-* > SHA256SUMS && cat SHA256SUMS

.PHONY: deb deb-check
## deb: build Debian packages of the last commit in build/deb; CUDA=1: also those with CUDA
deb:
	@tools/install-deps build packages
	@rm -rf build/deb && mkdir -p build/deb
	@git archive --prefix=lapedge-$(VERSION)/ HEAD | tar x -C build/deb
	@cd build/deb/lapedge-$(VERSION) && DEB_BUILD_OPTIONS="parallel=$(CORES) $(DEB_BUILD_OPTIONS)" \
	  dpkg-buildpackage -us -uc -b $(if $(CUDA),-Ppkg.lapedge.cuda) >../build.log 2>&1 || \
	  { tail -n 30 ../build.log >&2; exit 1; }
	@lintian --fail-on error,warning build/deb/*.changes
	@ls -l build/deb/*.deb

# Needs root and the network: the packages in bare Debian 12 and 13.
## deb-check: install, test and remove the packages of make deb in bare trees of Debian 12 and 13 (root)
deb-check:
	@tools/release/deb-check build/deb bookworm trixie

# The libraries in the wheel are built from the distribution's sources, since its own archives are not made for shared
# objects. Neither is libgomp's, so the wheel is without OpenMP. The CUDA runtime is static, too; it opens the driver
# when a device is first used.
WHEEL_FLAGS = B=$(1) HAVE_OPENMP=0 HAVE_PNG=1 HAVE_STB=1 HAVE_XXHASH=1 HAVE_JANSSON=1 HAVE_JPEG=1 \
  CPPFLAGS='-isystem $(1)/libs/include'
WHEEL := $(call WHEEL_FLAGS,build/wheel) HAVE_CUDA=$(HAVE_CUDA)
WHEEL_ARM64 := $(call WHEEL_FLAGS,build/wheel-arm64) HAVE_CUDA=0 CC=aarch64-linux-gnu-gcc
WHEEL_TOOLS := build/wheel-tools
$(WHEEL_TOOLS)/bin/auditwheel: tools/release/wheel-requirements.txt
	@rm -rf $(WHEEL_TOOLS) && /usr/bin/python3 -m venv $(WHEEL_TOOLS)
	$(call say,PIP)$(WHEEL_TOOLS)/bin/pip install -q --disable-pip-version-check -r $<
	@touch $@
.PHONY: wheel wheel-arm64 wheel-here wheel-check
## wheel: build a wheel of the Python module in build/wheels that needs only libc; with CUDA if nvcc is installed
wheel:
	@tools/install-deps build wheel
	@$(MAKE) --no-print-directory $(WHEEL_TOOLS)/bin/auditwheel
	@tools/release/build-libs wheel build/wheel/libs
	+@$(MAKE_ALL) wheel-here $(WHEEL)
## wheel-arm64: build the same for aarch64, without CUDA, with the cross compiler
wheel-arm64:
	@tools/install-deps build wheel arm64
	@$(MAKE) --no-print-directory $(WHEEL_TOOLS)/bin/auditwheel
	@CC=aarch64-linux-gnu-gcc tools/release/build-libs wheel build/wheel-arm64/libs
	+@$(MAKE_ALL) wheel-here $(WHEEL_ARM64)
wheel-here: $(B)/liblapedge.a
	@CC='$(CC)' tools/release/build-wheel $(B) build/wheels \
	  $(if $(filter 1,$(HAVE_CUDA)),'CUDA runtime=$(NVCC_VERSION)') -- $(LIBS)

# Needs root and the network: the wheel in trees with nothing but Python.
## wheel-check: import and use the wheel of make wheel in bare trees of Debian 11, 12 and 13 (root)
wheel-check: $(PROGRAM) $(WHEEL_TOOLS)/bin/auditwheel
	@tools/install-deps packages
	@tests/run B=$(B) LAPEDGE=$(abspath $(PROGRAM)) tests/package/install/wheel.sh

# abidw reads debug information: only the public types, as the header declares them.
abidw = abidw --headers-dir $(B)/abi --drop-private-types --no-corpus-path --no-comp-dir-path --no-show-locs \
  --exported-interfaces-only --type-id-style hash
## abi: record the library's interface; tests compare later builds with it
# Of a build without CUDA: what nvcc compiles has no debug information.
ifeq ($(HAVE_CUDA),1)
abi:
	@$(MAKE_ALL) HAVE_CUDA=0 B=$(B)/nocuda abi
else
abi: $(B)/liblapedge.so
	@mkdir -p $(B)/abi && cp src/lapedge.h $(B)/abi/
	@$(abidw) $(B)/liblapedge.so.$(SOVERSION) | sed '/<elf-needed>/,/<\/elf-needed>/d' > $(ABI_DUMP)
endif
