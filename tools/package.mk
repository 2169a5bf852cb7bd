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

## demo: install what is missing, build, find the edges of a photo
demo:
	@tools/install-deps build
	@$(MAKE_ALL) all
	@mkdir -p build/demo
	./lapedge -v samples/seeding.jpg build/demo/seeding-edges.jpg
	@echo "samples/seeding.jpg -> build/demo/seeding-edges.jpg"

# ---- tests --------------------------------------------------------------------------------------

# What runs again under sanitizers and with clang: programs that were built, and the command line.
print-tests:
	@echo B=$(B) LAPEDGE=$(abspath $(PROGRAM)) SANITIZED=$(if $(SAN),1) $(filter $(B)/%,$(TESTS)) $(BATS)

again = $$($(MAKE) -s --no-print-directory print-tests $(1))

## test: install what is missing, build, run all tests, also under sanitizers and with clang
test: deps
	@$(MAKE_ALL) tests
	@$(MAKE_ALL) tests $(ASAN)
	@$(MAKE) --no-print-directory run-all

.PHONY: run-all
run-all:
	@tests/run $(TEST_RUN) $(call again,$(ASAN))

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
