# The build itself: the test runner, the dependency script, features left out and demanded, devices built for.
ifeq ($(SAN),)
TESTS += tests/package/build/runner.sh tests/package/build/deps.sh tests/package/build/features.sh tests/package/build/archs.sh
endif
