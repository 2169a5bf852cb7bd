ifeq ($(SAN)$(findstring clang,$(COMPILER)),)
TESTS += tests/package/release/release.sh
endif
