# The Python module over the library: built by pip into the build folder, from Debian's python3-cffi. Python itself is
# built by gcc, without sanitizers.
ifeq ($(SAN)$(findstring clang,$(COMPILER)),)
PYTHON_TESTS := $(addprefix tests/python/,module.py pixels.py reports.py dask_folder.py)
TESTS += $(PYTHON_TESTS)
$(PYTHON_TESTS): $(B)/python/.built
endif
PYTHON_SOURCES := src/lapedge.h tools/build-python $(wildcard python/*.* python/lapedge/*.*)
$(B)/python/.built: $(B)/liblapedge.a $(PYTHON_SOURCES)
	$(call say,PIP)LAPEDGE_BUILD=$(B) tools/build-python $(@D) && touch $@

# One for a machine with a GPU, whatever Python it has: the libraries that the module needs lie beside it.
$(P)/python/.built: $(B)/liblapedge.a $(PYTHON_SOURCES)
	$(call say,PIP)LAPEDGE_BUILD=$(B) tools/build-python $(@D) $(LIBS) $(LINK_OPENMP) \
	  '-Wl,-rpath,$$ORIGIN,--disable-new-dtags'
	@[ ! -d $(@D)/lapedge ] || ldd $(@D)/lapedge/*.so | grep -oE '/[^ ]*/lib(jpeg|jansson|png|z|xxhash)[^ ]*' | \
	  xargs cp -t $(@D)/lapedge
	@touch $@
portable-tests: $(P)/python/.built
