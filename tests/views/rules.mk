# Pixels that lie on a device, through the public library: on the CPU runtime of the CUDA tests.
ifneq ($(CUDACPU_CXX),)
VIEWS_LIBRARY := $(patsubst %,$(B)/cudacpu/asan/%.o,$(filter-out $(RUNG_SRC) %/none.c,$(sort $(SRC)))) $(B)/cudacpu/asan/libkernels.a
VIEWS_TESTS := $(B)/tests/cudacpu_views
$(VIEWS_TESTS): $(B)/tests/cudacpu_%: $(B)/cudacpu/asan/tests/views/%.c.o $(VIEWS_LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ $(filter-out -lcudart_static,$(LIBS))
TESTS += $(VIEWS_TESTS)
-include $(patsubst %,$(B)/cudacpu/asan/%.d,$(wildcard tests/views/*.c))
endif
