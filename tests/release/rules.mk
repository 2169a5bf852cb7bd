ifeq ($(SAN)$(findstring clang,$(COMPILER)),)
TESTS += tests/release/release.sh
endif
