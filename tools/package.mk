# Around the build: dependencies, the demo, the whole test, one-file program, installation, format and lint.
# Included by the Makefile.

CORES := $(shell nproc 2>/dev/null || echo 2)
# The top level of make chooses the number of jobs: the user's -j if there was one.
MAKE_ALL = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(CORES))
SAN_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_TSAN := -fsanitize=thread
# -g1: lines, which reports name; with variables the compiler takes twice as long.
ASAN := B=build/asan HAVE_CUDA=0 OPT='-O1 -g1' WERROR='$(WERROR)' SAN='$(SAN_ASAN)'
# libgomp is not built for ThreadSanitizer, which therefore reports its barriers.
TSAN := B=build/tsan HAVE_CUDA=0 HAVE_OPENMP=0 OPT='-O1 -g1' WERROR='$(WERROR)' SAN='$(SAN_TSAN)'
CLANG := B=build/clang HAVE_CUDA=0 CC=clang
# MemorySanitizer needs all code built for it, libraries too (tools/release/build-libs). Only programs contain its
# runtime, so there is no shared library. Some tests replace a function of a library, as they do where that is a shared
# one.
MSAN_LIBS := build/msan/libs
MSAN := B=build/msan HAVE_CUDA=0 HAVE_OPENMP=0 CC=clang OPT='-O1 -g' WERROR='$(WERROR)' \
  CPPFLAGS='-isystem $(MSAN_LIBS)/include' \
  LDFLAGS='-Wl,--allow-multiple-definition -L$(MSAN_LIBS)/lib $(MSAN_LIBS)/lib/unseen.o' \
  SAN='-fsanitize=memory -fno-omit-frame-pointer -fno-sanitize-recover=all'

.PHONY: deps demo test test-asan test-tsan test-clang print-tests portable install uninstall format lint

## deps: install what a Debian or Ubuntu machine lacks to build and test
deps:
	@tools/install-deps build test
	@tools/install-deps cluster || echo "Tests under schedulers will be skipped."
	@tools/install-deps arm64 || echo "Tests on aarch64 will be skipped."

## demo: install what is missing, build, find the edges of a photo
demo:
	@tools/install-deps build
	@$(MAKE_ALL) all
	@mkdir -p build/demo
	./lapedge -v samples/seeding.jpg build/demo/seeding-edges.jpg
	@echo "The edges of samples/seeding.jpg are in build/demo/seeding-edges.jpg"

# ---- tests --------------------------------------------------------------------------------------

# What runs again under sanitizers, with clang and emulated: programs that were built (AGAIN: those of these names
# alone), and the command line, but for the walk over all options and forms, which takes minutes there.
BATS_AGAIN = $(filter-out tests/cli/forms.bats,$(BATS))
again_too = $(if $(AGAIN),$(filter $(AGAIN),$(call named,$(1))),yes)
TESTS_AGAIN = $(foreach t,$(filter $(B)/%,$(TESTS)),$(if $(call again_too,$(t)),$(t)))
# gcc 12 finds uses of a stack after return only if it is asked to; later versions always look.
print-tests:
	@echo B=$(B) LAPEDGE=$(abspath $(PROGRAM)) SANITIZED=$(if $(SAN),1) FEWER=$(FEWER) \
	  $(if $(SAN),ASAN_OPTIONS=quarantine_size_mb=$(or $(QUARANTINE),16):detect_stack_use_after_return=1) \
	  $(TESTS_AGAIN) $(BATS_AGAIN)
.PHONY: tests-again
tests-again: all $(call programs_of,$(TESTS_AGAIN))

.PHONY: print-sources
print-sources:
	@echo $(SRC) $(CLI)

# The vector flags of each file of cpu_simd, for the test of flags.
.PHONY: print-flags
print-flags:
	@:$(foreach f,$(LADDERS),$(info $(f): $(call isa_flags,$(notdir $(f)))))

again = $$($(MAKE) -s --no-print-directory print-tests $(1))

# nvcc takes more than a minute for each architecture. Where there is no device, and CUDA_ARCHS was not given, a first
# build for the tests is for one; archs.sh compiles for the oldest what differs there, and `make` and make test-long
# build all.
# What was built for other architectures before is kept.
ARCHS_BUILT = $(patsubst code=sm_%,%,$(shell grep -oE 'code=sm_[0-9]+' $(B)/flags-CUDA 2>/dev/null))
TEST_ARCHS = $(or $(ARCHS_BUILT),$(if $(shell command -v nvidia-smi),$(CUDA_ARCHS),90))
TEST_CUDA = $(if $(filter file,$(origin CUDA_ARCHS)),CUDA_ARCHS='$(TEST_ARCHS)')

# What the tests of kernels on the CPU have just compiled for a sanitizer is not compiled again for make test: not where
# other flags were asked for, nor with clang, for which these tests are not built.
twins = $(if $(CFLAGS)$(CPPFLAGS)$(COVERAGE)$(findstring clang,$(CC)),,TWINS=$(B)/cudacpu/$(1))

## test: install what is missing, build, run all tests, also under sanitizers and with clang
test: deps
	@$(MAKE_ALL) tests $(TEST_CUDA)
	@$(MAKE_ALL) tests $(ASAN) $(call twins,asan)
	@$(MAKE_ALL) tests-again $(CLANG_SOME)
	@$(MAKE_ALL) $(TSAN_SOME) $(TSAN) $(call twins,tsan)
	@[ $(ARM64_CAN) -ne 2 ] || $(MAKE_ALL) arm64-some $(ARM64)
	@$(MAKE) --no-print-directory build/arm64/emulated run-all $(TEST_CUDA)

# What has threads of its own; all of it is for make test-tsan.
TSAN_SOME = $(patsubst %,build/tsan/tests/test_%,pool run photo photo_parts filter stats batch)

# clang compiles all of the program. It may compile arithmetic and vectors differently from gcc: their tests run again,
# with some of the unit tests and of the command line, and a share of the decoders' cases. Under AddressSanitizer all
# programs run, a share of the decoders' cases, and three files of the command line: one image, files in place, inputs.
# Folder runs have the tests of CUDA on the CPU, which are built with it. make test-long runs all of both.
command_line = BATS_AGAIN='$(patsubst %,tests/cli/%.bats,$(1))'
CLANG_SOME = $(CLANG) FEWER=1 AGAIN='encode_check decode_check judge_check stages_check filter_ladder ops_ladders \
  test_parts test_filter test_stats test_orient test_run test_batch' $(call command_line,run)
ASAN_SOME = $(ASAN) FEWER=1 $(call command_line,run in_place inputs)
test-long: test-clang test-asan

.PHONY: run-all
run-all:
	@tests/run $(TEST_RUN) $(call again,$(ASAN_SOME)) $(call again,$(CLANG_SOME)) B=build/tsan $(TSAN_SOME) $(ARM64_AGAIN)

# For tools/test/mutants.
.PHONY: print-sanitized
print-sanitized:
	@echo AddressSanitizer $(call again,$(ASAN_SOME))
	@echo ThreadSanitizer $(TSAN_SOME)

## test-asan: run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
test-asan:
	@$(MAKE_ALL) tests $(ASAN)
	@tests/run CORPUS_WHOLE=1 $(call again,$(ASAN) QUARANTINE=256)

## test-tsan: run the tests under ThreadSanitizer
test-tsan:
	@$(MAKE_ALL) tests $(TSAN)
	@tests/run $(call again,$(TSAN))

.PHONY: msan test-msan msan-tests run-msan
## msan: build the program with MemorySanitizer in build/msan, and its libraries from the distribution's sources
msan:
	@tools/release/build-libs msan $(MSAN_LIBS)
	@$(MAKE_ALL) build/msan/lapedge $(MSAN)
msan-tests: $(PROGRAM) $(call programs_of,$(filter $(B)/%,$(TESTS)))
# JSIMD_FORCENONE: djpeg decodes without SIMD, too; the two differ for values that no pixel has.
run-msan:
	@$(MAKE_ALL) msan-tests $(MSAN)
	@TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} tests/run MSAN_OPTIONS=exitcode=99 JSIMD_FORCENONE=1 \
	  $(call again,$(MSAN)) tests/support/msan/msan.sh
## test-msan: run the tests under MemorySanitizer; without the distribution's sources they are reported as skipped
test-msan:
	@tools/release/build-libs msan $(MSAN_LIBS) && $(MAKE) --no-print-directory run-msan || [ $$? -eq 77 ]

# JPEG coders of ours alone: their tests against libjpeg-turbo, which is built for it, too.
MSAN_CODERS = $(patsubst %,build/msan/tests/%,encode_check test_encode decode_check judge_check stages_check \
  test_parts)
.PHONY: test-long-msan run-msan-coders
run-msan-coders:
	@$(MAKE_ALL) $(MSAN_CODERS) $(MSAN)
	@TEST_TIMEOUT=$${TEST_TIMEOUT:-3600} tests/run MSAN_OPTIONS=exitcode=99 JSIMD_FORCENONE=1 B=build/msan SANITIZED=1 \
	  $(MSAN_CODERS)
test-long-msan:
	@tools/release/build-libs msan $(MSAN_LIBS) && $(MAKE) --no-print-directory run-msan-coders || [ $$? -eq 77 ]
test-long: test-long-msan

## test-clang: build the tests with clang and run them
test-clang:
	@$(MAKE_ALL) tests $(CLANG)
	@tests/run CORPUS_WHOLE=1 $(call again,$(CLANG))

# aarch64: built by Debian's cross compiler with Debian's libraries, run by qemu-user. Scripts start the program, and
# so its emulator, by a script of its own.
ARM64 := B=build/arm64 HAVE_CUDA=0 CC=aarch64-linux-gnu-gcc OBJCOPY=aarch64-linux-gnu-objcopy
ARM64_CAN = $(shell command -v aarch64-linux-gnu-gcc qemu-aarch64 | wc -l)
ARM64_SOME := test_filter test_backend test_stats ops_ladders encode_check stages_check
ARM64_UNIT = $(UNIT) $(B)/tests/filter_ladder $(B)/tests/ops_ladders $(B)/tests/encode_check $(B)/tests/decode_check \
  $(B)/tests/stages_check
build/arm64/emulated: tools/package.mk
	@mkdir -p $(@D)
	@printf '#!/bin/sh\nexec qemu-aarch64 "$(abspath build/arm64/lapedge)" "$$@"\n' > $@ && chmod +x $@
.PHONY: test-arm64 arm64-tests arm64-some print-arm64
arm64-tests: all $(ARM64_UNIT)
arm64-some: all $(ARM64_SOME:%=$(B)/tests/%)
ARM64_RUN := B=build/arm64 EMULATOR=qemu-aarch64 LAPEDGE=$(abspath build/arm64/emulated)
# In make test; skipped by name where the packages cannot be installed.
ARM64_AGAIN = $(if $(filter 2,$(ARM64_CAN)),$(ARM64_RUN) TEST_TIMEOUT=170 $(ARM64_SOME:%=build/arm64/tests/%) \
  tests/kernels/ladder/neon.sh,--skip "aarch64: the cross compiler or qemu-user is not installed")
## test-arm64: run the tests for aarch64, with Debian's cross compiler and qemu-user
test-arm64: build/arm64/emulated
	@tools/install-deps build arm64
	@$(MAKE_ALL) all # whose bytes neon.sh compares
	@$(MAKE_ALL) arm64-tests $(ARM64)
	@tests/run $(ARM64_RUN) $(patsubst $(B)/%,build/arm64/%,$(ARM64_UNIT)) tests/kernels/ladder/neon.sh $(BATS_AGAIN)

## lint: check the format; run the static analysis
lint:
	@tests/run tests/structure/lint.sh

## format: format all sources with clang-format
format:
	clang-format -i $$(find src cpu_simd cuda tests lessons -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')

# ---- one file that needs nothing but libc -------------------------------------------------------

# The program contains every library that has a static form here; OpenMP's runtime is gcc's.
PORTABLE_LIBS := -Wl,-Bstatic -ljpeg -ljansson -lxxhash \
  $(if $(filter 1,$(HAVE_PNG)),-lpng -lz) \
  $(if $(filter 1,$(HAVE_CUDA)),-lcudart_static) \
  $(if $(filter 1,$(HAVE_OPENMP)),-lgomp) -Wl,-Bdynamic -lm -lpthread -ldl -lrt

PORTABLE_PROGRAM := $(BESIDE)lapedge-portable
## portable: build ./lapedge-portable, one file that needs nothing but libc
portable: $(PORTABLE_PROGRAM)
$(PORTABLE_PROGRAM): $(CLI_OBJ) $(B)/liblapedge.a
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) -static-libgcc $(filter -L%,$(LIBS)) -o $@ $^ $(PORTABLE_LIBS)
	@$(STRIP) $@

# ---- one file that needs nothing at all ---------------------------------------------------------

# Without CUDA, whose driver is a shared library. On x86-64 also for aarch64, by the cross compiler. The program is
# position-independent: the kernel may load it anywhere.
STATIC_PROGRAM := $(BESIDE)lapedge-static-$(MACHINE)
# static_for MACHINE FOLDER: variables for a make whose objects are in another folder, not its program.
static_for = STATIC_PROGRAM=$(BESIDE)lapedge-static-$(1) B=$(2)
STATIC_LIBS := $(filter -l%,$(PORTABLE_LIBS))
STATIC_MISSING = $(strip $(foreach l,$(STATIC_LIBS:-l%=lib%.a),$(if \
  $(filter /%,$(shell $(CC) -print-file-name=$l)),,$l)))
.PHONY: portable-static static-here
## portable-static: build ./lapedge-static-MACHINE, one file that needs nothing, for x86-64 and aarch64, without CUDA
portable-static:
	@$(MAKE_ALL) HAVE_CUDA=0 $(call static_for,$(MACHINE),$(B)$(if $(filter 1,$(HAVE_CUDA)),/nocuda)) static-here
	@[ $(MACHINE) = aarch64 ] || if command -v aarch64-linux-gnu-gcc >/dev/null; then \
	  $(MAKE_ALL) $(filter-out B=%,$(ARM64)) $(call static_for,aarch64,$(B)/arm64) static-here; \
	  else echo "For aarch64, too, after: tools/install-deps arm64"; fi
static-here: $(STATIC_PROGRAM)
$(STATIC_PROGRAM): $(CLI_OBJ) $(B)/liblapedge.a $(B)/tools/release/static_dlopen.o
	@[ -z "$(STATIC_MISSING)" ] || { echo "not there for $(MACHINE): $(STATIC_MISSING)" >&2; exit 1; }
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) -static-pie -s -Wl,--fatal-warnings -Wl,--wrap=dlopen -o $@ $^ $(STATIC_LIBS)

# ---- installation -------------------------------------------------------------------------------

BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
DOCDIR ?= $(DATADIR)/doc/lapedge
COMPLETIONDIR ?= $(DATADIR)/bash-completion/completions
ZSHCOMPLETIONDIR ?= $(DATADIR)/zsh/site-functions
FISHCOMPLETIONDIR ?= $(DATADIR)/fish/vendor_completions.d
FOLDERS := PREFIX BINDIR LIBDIR INCLUDEDIR DATADIR MANDIR DOCDIR COMPLETIONDIR ZSHCOMPLETIONDIR FISHCOMPLETIONDIR
without_slash = $(if $(filter %/,$(1)),$(call without_slash,$(1:%/=%)),$(1))
$(foreach f,$(FOLDERS),$(eval override $(f) := $$(call without_slash,$$($(f)))))
INSTALL ?= install
STRIP ?= strip
SO := liblapedge.so

# The library that the compiler links for -fopenmp, and its folder if only this compiler searches it: another compiler
# may link another one, which lacks functions that this library calls. The flag itself if the compiler does not say.
OPENMP_LINKED = $(shell $(CC) $(SAN) $(CFLAGS) $(LDFLAGS) $(LINK_OPENMP) -\#\#\# -x c /dev/null 2>&1 | tr -d '"' | \
  tr ' ' '\n' | sed -n -e '/^-L.*llvm/p' -e '/^-l\(gomp\|omp\|iomp5\)$$/p' | sort -u)
OPENMP_LIBS = $(if $(LINK_OPENMP),$(or $(OPENMP_LINKED),$(LINK_OPENMP)))

$(B)/lapedge.pc: tools/release/lapedge.pc.in $(B)/flags-C
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
	  -e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' \
	  -e 's|@PRIVATE@|$(strip $(LIBRARY_LIBS) $(OPENMP_LIBS))|' $< > $@
$(B)/lapedge.pc: FORCE # PREFIX may have changed

# Pages with their pictures, schemas and examples. Links to other files lead nowhere once these are installed, so
# tools/release/pages changes them.
DOCUMENTS := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE \
  $(wildcard docs/*.md docs/img/*.* docs/schema/*.json) python/README.md $(wildcard python/examples/*.py) \
  samples/SOURCES.md samples/chelsea.jpg
.PHONY: pages
pages: $(DOCUMENTS)
	@tools/release/pages $(B)/pages '$(DOCDIR)' '$(INCLUDEDIR)' $(DOCUMENTS)
# SOURCE:TARGET[:MODE] of all files that are installed; uninstall removes the targets.
INSTALLED = $(PROGRAM):$(BINDIR)/lapedge:755 $(B)/liblapedge.a:$(LIBDIR)/liblapedge.a \
  $(B)/$(SO).$(SOVERSION):$(LIBDIR)/$(SO).$(VERSION):755 src/lapedge.h:$(INCLUDEDIR)/lapedge.h \
  $(B)/lapedge.pc:$(LIBDIR)/pkgconfig/lapedge.pc docs/lapedge.1:$(MANDIR)/man1/lapedge.1 \
  tools/release/completion/lapedge.bash:$(COMPLETIONDIR)/lapedge \
  tools/release/completion/_lapedge:$(ZSHCOMPLETIONDIR)/_lapedge \
  tools/release/completion/lapedge.fish:$(FISHCOMPLETIONDIR)/lapedge.fish \
  $(foreach f,$(DOCUMENTS),$(if $(filter %.md,$(f)),$(B)/pages/)$(f):$(DOCDIR)/$(f))
installed_part = $(word $(1),$(subst :, ,$(2)))
LINKS = $(LIBDIR)/$(SO) $(LIBDIR)/$(SO).$(SOVERSION)

# A blank or a colon would separate what INSTALLED holds together.
CHECK_FOLDERS = $(foreach f,$(FOLDERS),case "$($(f))" in \
  (*[[:space:]:]*) echo "$(f)=$($(f)): must not contain a blank or a colon" >&2; exit 2 ;; (/* | "") ;; \
  (*) echo "$(f)=$($(f)): must begin with /" >&2; exit 2 ;; esac;)

## install: install the program, libraries, header, manual, completions and documents under DESTDIR and PREFIX
install: all $(B)/lapedge.pc pages
	@chown -Rf --reference=$(B) $(B)/. || : # after root, the user may build and install
	@$(CHECK_FOLDERS) :
	@$(foreach f,$(INSTALLED),$(INSTALL) -D -m $(or $(call installed_part,3,$(f)),644) \
	  "$(call installed_part,1,$(f))" "$(DESTDIR)$(call installed_part,2,$(f))" &&) :
	ln -sf $(SO).$(VERSION) "$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)"
	ln -sf $(SO).$(SOVERSION) "$(DESTDIR)$(LIBDIR)/$(SO)"
	@[ -n "$(DESTDIR)" ] || ldconfig -p 2>/dev/null | grep -q '$(LIBDIR)/$(SO)' || \
	  echo "Programs find the shared library after: ldconfig (if it knows $(LIBDIR))"

## install-strip: install without debug information
.PHONY: install-strip
install-strip: install
	$(STRIP) "$(DESTDIR)$(BINDIR)/lapedge"
	$(STRIP) --strip-unneeded "$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)"
	$(STRIP) --strip-debug "$(DESTDIR)$(LIBDIR)/liblapedge.a"

# Other programs may use the other folders, even if they are empty now: only those of the documents are removed.
## uninstall: remove what make install installed
uninstall:
	@$(CHECK_FOLDERS) :
	rm -f $(foreach f,$(INSTALLED),"$(DESTDIR)$(call installed_part,2,$(f))") $(LINKS:%="$(DESTDIR)%")
	@(cd "$(DESTDIR)$(DOCDIR)" && rmdir -p $(filter-out ./,$(sort $(dir $(DOCUMENTS))))) 2>/dev/null; \
	  rmdir "$(DESTDIR)$(DOCDIR)" 2>/dev/null || :

# What the static library needs, for those who link it (python/build_interface.py).
.PHONY: print-libs
print-libs:
	@echo $(LIBRARY_LIBS) $(OPENMP_LIBS)
