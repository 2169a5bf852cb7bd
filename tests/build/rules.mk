# The build itself: the test runner, the dependency script, features left out and demanded, devices built for.
ifeq ($(SAN),)
TESTS += tests/build/runner.sh tests/build/deps.sh tests/build/features.sh tests/build/archs.sh
endif
