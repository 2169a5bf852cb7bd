# The Python module over the library: built by pip into the build folder, from Debian's python3-cffi. Python itself is
# built by gcc, without sanitizers.
PYTHON_TESTS := $(addprefix tests/package/python/,module.py pixels.py reports.py settings.py typed.py dataloader.py \
  dask_folder.py)
ifeq ($(SAN)$(findstring clang,$(COMPILER)),)
TESTS += $(PYTHON_TESTS) tests/package/python/installed.sh
$(PYTHON_TESTS): $(B)/python/.built
endif
PYTHON_SOURCES := src/lapedge.h tools/release/build-python $(wildcard python/*.* python/lapedge/*.*)
$(B)/python/.built: $(B)/liblapedge.a $(PYTHON_SOURCES)
	$(call say,PIP)LAPEDGE_INSTALLED=0 LAPEDGE_BUILD=$(B) tools/release/build-python $(@D) $(LIBS) $(LINK_OPENMP) && touch $@

# Of what is installed: the module is built against the library that pkg-config finds, and compared with the program
# beside it, or else with that of PATH.
.PHONY: check-installed
## check-installed: run the tests of the Python module with the installed library and program
check-installed:
	@pkg-config --print-errors --exists lapedge
	@rm -rf $(B)/installed
	@LAPEDGE_INSTALLED=1 LAPEDGE_BUILD=$(B)/installed tools/release/build-python $(B)/installed/python
	@program=$$(pkg-config --variable=prefix lapedge)/bin/lapedge && \
	  { [ -x "$$program" ] || program=$$(command -v lapedge); } && \
	  export LD_LIBRARY_PATH=$$(pkg-config --variable=libdir lapedge)$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH} && \
	  { [ ! -d $(B)/installed/python/lapedge ] || PYTHONPATH=$(B)/installed/python /usr/bin/python3 -c 'import lapedge'; } && \
	  tests/run B=$(B)/installed LAPEDGE="$$program" $(PYTHON_TESTS)

# One for a machine with a GPU, whatever Python it has: the libraries that the module needs lie beside it.
$(P)/python/.built: $(B)/liblapedge.a $(PYTHON_SOURCES)
	$(call say,PIP)LAPEDGE_INSTALLED=0 LAPEDGE_BUILD=$(B) tools/release/build-python $(@D) $(LIBS) $(LINK_OPENMP) \
	  '-Wl,-rpath,$$ORIGIN,--disable-new-dtags'
	@[ ! -d $(@D)/lapedge ] || ldd $(@D)/lapedge/*.so | grep -oE '/[^ ]*/lib(jpeg|jansson|png|z|xxhash)[^ ]*' | \
	  xargs cp -t $(@D)/lapedge
	@touch $@
portable-tests: $(P)/python/.built

# The module over the CUDA runtime on the CPU, under the address sanitizer, which Python has to load first.
ifneq ($(CUDACPU_CXX),)
ifeq ($(SAN)$(COVERAGE)$(findstring clang,$(COMPILER)),)
CUDACPU_LIBRARY := $(patsubst %,$(B)/cudacpu/asan/%.o,$(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))) \
  $(B)/cudacpu/asan/libkernels.a
$(B)/cudacpu/python/.built: $(CUDACPU_LIBRARY) $(B)/liblapedge.a $(PYTHON_SOURCES)
	@rm -rf $(B)/cudacpu/python-build
	$(call say,PIP)LAPEDGE_INSTALLED=0 LAPEDGE_BUILD=$(B) LAPEDGE_PYTHON_BUILD=cudacpu/python-build LAPEDGE_ARCHIVE= tools/release/build-python $(@D) $(abspath $(CUDACPU_LIBRARY)) \
	  $(filter-out -lcudart_static,$(LIBS)) $(CUDACPU_asan) -lstdc++ && touch $@
TESTS += tests/package/python/there.py
tests/package/python/there.py: $(B)/cudacpu/python/.built
endif
endif
