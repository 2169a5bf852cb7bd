# The house itself: headers, symbols, arrows, sizes; format and static analysis. They need compiler and libraries, not
# the program.
TESTS += tests/structure/headers.sh tests/structure/symbols.sh tests/structure/arrows.sh tests/structure/sizes.sh \
  tests/structure/aarch64.sh tests/structure/flags.sh tests/structure/commits.sh tests/structure/options.sh \
  tests/structure/names.py tests/structure/where.py tests/structure/examples.sh tests/structure/lint.sh

# The analyzer of clang-tidy to its own limit (minutes); make check has an eighth of that.
.PHONY: test-long-lint
test-long-lint:
	@tests/run TIDY_NODES=225000 tests/structure/lint.sh
test-long: test-long-lint
