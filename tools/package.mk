# Around the build: dependencies, the demo, the whole test, one-file program, installation, format and lint.
# Included by the Makefile.

CORES := $(shell nproc 2>/dev/null || echo 2)
# One level of make decides on the jobs: the user's -j if there was one.
MAKE_ALL = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(CORES))
SAN_ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_TSAN := -fsanitize=thread
ASAN := B=build/asan HAVE_CUDA=0 OPT='-O1 -g' SAN='$(SAN_ASAN)'
# libgomp is not built for ThreadSanitizer, which then reports its barriers.
TSAN := B=build/tsan HAVE_CUDA=0 HAVE_OPENMP=0 OPT='-O1 -g' SAN='$(SAN_TSAN)'
CLANG := B=build/clang HAVE_CUDA=0 CC=clang

.PHONY: deps demo test test-asan test-tsan test-clang print-tests portable install uninstall format lint

## deps: install what a Debian or Ubuntu machine lacks to build and test
deps:
	@tools/install-deps build test
	@tools/install-deps cluster || echo "Tests under schedulers will be skipped."

## demo: install what is missing, build, find the edges of a photo
demo:
	@tools/install-deps build
	@$(MAKE_ALL) all
	@mkdir -p build/demo
	./lapedge -v samples/seeding.jpg build/demo/seeding-edges.jpg
	@echo "The edges of samples/seeding.jpg are in build/demo/seeding-edges.jpg"

# ---- tests --------------------------------------------------------------------------------------

# What runs again under sanitizers and with clang: programs that were built, and the command line.
print-tests:
	@echo B=$(B) LAPEDGE=$(abspath $(PROGRAM)) SANITIZED=$(if $(SAN),1) $(filter $(B)/%,$(TESTS)) $(BATS)

.PHONY: print-sources
print-sources:
	@echo $(SRC) $(CLI)

# The vector flags of each file of cpu_simd, for the test of flags.
.PHONY: print-flags
print-flags:
	@:$(foreach f,$(LADDERS),$(info $(f): $(call isa_flags,$(notdir $(f)))))

again = $$($(MAKE) -s --no-print-directory print-tests $(1))

## test: install what is missing, build, run all tests, also under sanitizers and with clang
test: deps
	@$(MAKE_ALL) tests
	@$(MAKE_ALL) tests $(ASAN)
	@$(MAKE_ALL) tests $(CLANG)
	@$(MAKE_ALL) $(TSAN_SOME) $(TSAN)
	@$(MAKE) --no-print-directory run-all

# What has threads of its own; all of it is for make test-tsan.
TSAN_SOME = $(patsubst %,build/tsan/tests/test_%,pool run pipeline pipeline_parts filter stats batch)

.PHONY: run-all
run-all:
	@tests/run $(TEST_RUN) $(call again,$(ASAN)) $(call again,$(CLANG)) B=build/tsan $(TSAN_SOME)

## test-asan: the tests under AddressSanitizer and UndefinedBehaviorSanitizer
test-asan:
	@$(MAKE_ALL) tests $(ASAN)
	@tests/run $(call again,$(ASAN))

## test-tsan: the tests under ThreadSanitizer
test-tsan:
	@$(MAKE_ALL) tests $(TSAN)
	@tests/run $(call again,$(TSAN))

## test-clang: the tests, built with clang
test-clang:
	@$(MAKE_ALL) tests $(CLANG)
	@tests/run $(call again,$(CLANG))

## lint: format and static analysis
lint:
	@tests/run tests/lint/lint.sh

## format: clang-format over all sources
format:
	clang-format -i $$(find src cpu_simd cuda tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')

# ---- one file that needs nothing but libc -------------------------------------------------------

# Whatever has a static library here goes in; OpenMP's runtime is gcc's. TurboJPEG comes before libjpeg: it has all of
# that, too, and each symbol is taken where it is found first.
HAS_STATIC_TURBOJPEG := $(filter /%,$(shell $(CC) -print-file-name=libturbojpeg.a))
PORTABLE_LIBS := -Wl,-Bstatic $(if $(filter 1,$(HAVE_TURBOJPEG)),-lturbojpeg) -ljpeg -ljansson -lxxhash \
  $(if $(filter 1,$(HAVE_PNG)),-lpng -lz) \
  $(if $(filter 1,$(HAVE_CUDA)),-lcudart_static) \
  $(if $(filter 1,$(HAVE_OPENMP)),-lgomp) -Wl,-Bdynamic -lm -lpthread -ldl -lrt

## portable: ./lapedge-portable, one file that needs nothing but libc
ifneq ($(and $(filter 1,$(HAVE_TURBOJPEG)),$(if $(HAS_STATIC_TURBOJPEG),,missing)),)
# Built without it, then.
portable:
	@$(MAKE) --no-print-directory HAVE_TURBOJPEG=0 B=$(B)/static portable
else
portable: lapedge-portable
endif
lapedge-portable: $(CLI_OBJ) $(B)/liblapedge.a
	$(call say,LINK)$(CC) $(LDFLAGS_ALL) -static-libgcc $(filter -L%,$(LIBS)) -o $@ $^ $(PORTABLE_LIBS)
	@strip $@

# ---- installation -------------------------------------------------------------------------------

BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
COMPLETIONDIR ?= $(DATADIR)/bash-completion/completions
INSTALL ?= install
SO := liblapedge.so

$(B)/lapedge.pc: tools/lapedge.pc.in $(B)/flags-C
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
	  -e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' \
	  -e 's|@PRIVATE@|$(strip $(LIBS) $(LINK_OPENMP))|' $< > $@
$(B)/lapedge.pc: FORCE # PREFIX may have changed

## install: program, libraries, header, pkg-config file, manual and completion, under DESTDIR and PREFIX
install: all $(B)/lapedge.pc
	$(INSTALL) -d $(addprefix "$(DESTDIR)",$(BINDIR) $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man1 $(COMPLETIONDIR))
	$(INSTALL) -m 755 $(PROGRAM) "$(DESTDIR)$(BINDIR)/lapedge"
	$(INSTALL) -m 644 $(B)/liblapedge.a "$(DESTDIR)$(LIBDIR)/liblapedge.a"
	$(INSTALL) -m 755 $(B)/$(SO).$(SOVERSION) "$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)"
	ln -sf $(SO).$(VERSION) "$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)"
	ln -sf $(SO).$(SOVERSION) "$(DESTDIR)$(LIBDIR)/$(SO)"
	$(INSTALL) -m 644 src/lapedge.h "$(DESTDIR)$(INCLUDEDIR)/lapedge.h"
	$(INSTALL) -m 644 $(B)/lapedge.pc "$(DESTDIR)$(LIBDIR)/pkgconfig/lapedge.pc"
	$(INSTALL) -m 644 docs/lapedge.1 "$(DESTDIR)$(MANDIR)/man1/lapedge.1"
	$(INSTALL) -m 644 tools/completion/lapedge.bash "$(DESTDIR)$(COMPLETIONDIR)/lapedge"
	$(INSTALL) -d "$(DESTDIR)$(DATADIR)/zsh/site-functions" "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d"
	$(INSTALL) -m 644 tools/completion/_lapedge "$(DESTDIR)$(DATADIR)/zsh/site-functions/_lapedge"
	$(INSTALL) -m 644 tools/completion/lapedge.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/lapedge.fish"

## uninstall: remove what install put there
uninstall:
	rm -f "$(DESTDIR)$(DATADIR)/zsh/site-functions/_lapedge" \
	  "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/lapedge.fish" \
	  "$(DESTDIR)$(BINDIR)/lapedge" "$(DESTDIR)$(LIBDIR)/liblapedge.a" "$(DESTDIR)$(LIBDIR)/$(SO)" \
	  "$(DESTDIR)$(LIBDIR)/$(SO).$(SOVERSION)" "$(DESTDIR)$(LIBDIR)/$(SO).$(VERSION)" \
	  "$(DESTDIR)$(INCLUDEDIR)/lapedge.h" "$(DESTDIR)$(LIBDIR)/pkgconfig/lapedge.pc" \
	  "$(DESTDIR)$(MANDIR)/man1/lapedge.1" "$(DESTDIR)$(COMPLETIONDIR)/lapedge"

# What the static library needs, for those who link it (python/build_interface.py).
.PHONY: print-libs
print-libs:
	@echo $(LIBS) $(LINK_OPENMP)
