# The judge of the lessons: its counts, beside the profiler's, and its reports on solutions and on mistakes.
ifeq ($(SAN)$(if $(COVERAGE),,$(findstring clang,$(CC))),)
ifneq ($(CUDACPU_CXX),)
# The kernels of the ladders, compiled like lessons.
JUDGED_CU := $(sort $(filter-out %/queue.cu %/view.cu,$(wildcard cuda/device/*.cu)) \
  $(wildcard cuda/filter/*.cu cuda/transpose/*.cu cuda/reduce/*.cu cuda/matvec/*.cu))
JUDGED_CU_OBJ := $(JUDGED_CU:%=$(B)/lessons/%.o)
JUDGED_CXX := $(JUDGE_CXX) -O0 -fsanitize=thread -DLAP_HAVE_CUDA=1 -MMD -MP
# As in tests/kernels/cudacpu/rules.mk.
$(B)/lessons/runtime.h.gch: lessons/rules.mk
	@mkdir -p $(@D)
	@echo '#include <cuda_runtime.h>' > $(@:.gch=)
	$(call say,CXX)$(WITH_PCH) $(JUDGED_CXX) -x c++-header -MF $(@:.gch=.d) -MT $@ $(@:.gch=) -o $@
-include $(B)/lessons/runtime.d
$(B)/lessons/%.cu.o: %.cu $(B)/lessons/runtime.h.gch
	@mkdir -p $(@D)
	$(call say,CXX)$(WITH_PCH) $(JUDGED_CXX) -x c++ -fpch-preprocess -include $(B)/lessons/runtime.h -c $< -o $@
LESSON_TESTS := $(B)/tests/lessons_counts $(B)/tests/lessons_traps
$(B)/lessons/tests/kernels/lessons/%.o: JUDGE_CXX += -Ilessons/judge
$(B)/lessons/tests/kernels/lessons/traps.cpp.o: tests/kernels/lessons/traps.cpp lessons/rules.mk
	@mkdir -p $(@D)
	$(call say,CXX)$(JUDGE_CXX) -O0 -fsanitize=thread,bounds -MMD -MP -c $< -o $@
$(B)/tests/lessons_counts: $(JUDGED_CU_OBJ)
$(LESSON_TESTS): $(B)/tests/lessons_%: $(B)/lessons/tests/kernels/lessons/%.cpp.o $(B)/lessons/libjudge.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CXX_HOST) -no-pie -o $@ -Wl,--whole-archive $(B)/lessons/libjudge.a -Wl,--no-whole-archive \
	  $(filter %.o,$^) -lpthread
-include $(JUDGED_CU_OBJ:.o=.d) $(LESSON_TESTS:$(B)/tests/lessons_%=$(B)/lessons/tests/kernels/lessons/%.cpp.d)
tests/kernels/lessons/lessons.sh: $(JUDGE)
TESTS += $(LESSON_TESTS) tests/kernels/lessons/lessons.sh

# Every mistake; make check runs one of each kind in each lesson.
.PHONY: test-long-lessons
test-long-lessons: $(JUDGE) $(PROGRAM)
	@tests/run LESSONS_ALL=1 B=$(B) LAPEDGE=$(abspath $(PROGRAM)) tests/kernels/lessons/lessons.sh
test-long: test-long-lessons
endif
endif
