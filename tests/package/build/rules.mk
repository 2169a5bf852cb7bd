# The build itself: the test runner, the dependency script, features left out and demanded, devices built for.
ifeq ($(SAN),)
TESTS += tests/package/build/runner.sh tests/package/build/deps.sh tests/package/build/features.sh tests/package/build/archs.sh
endif

# For all devices, which make test does not build without one.
.PHONY: test-long-archs
ifeq ($(HAVE_CUDA),1)
test-long-archs:
	@$(MAKE_ALL) B=build/archs build/archs/liblapedge.a
	@tests/run ALL_ARCHS=1 B=build/archs tests/package/build/archs.sh
endif
test-long: test-long-archs
