# The JPEG decoder of cuda/jpeg compared with libjpeg: on the CPU runtime here, on a GPU as a program that needs
# nothing but libc (build/portable/jpeg_check, jpeg_bench).
JPEGCUDA_C := tests/jpegcuda/make.c tests/jpegcuda/subject.c src/jpeg/jpeg_frame.c
ifneq ($(CUDACPU_CXX),)
$(B)/tests/cudacpu_jpeg: $(patsubst %,$(B)/cudacpu/asan/%.o,tests/jpegcuda/check.c $(JPEGCUDA_C)) \
  $(B)/cudacpu/asan/libkernels.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) $(CUDACPU_asan) -o $@ $^ -ljpeg -lpthread -lm
TESTS += $(B)/tests/cudacpu_jpeg
endif
