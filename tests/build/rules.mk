# The build itself: the test runner, the dependency script, features left out and demanded.
ifeq ($(SAN),)
TESTS += tests/build/runner.sh tests/build/deps.sh tests/build/features.sh
endif
