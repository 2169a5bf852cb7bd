# The lessons (lessons/README.md). The judge is the runtime of tests/kernels/cudacpu with its own hooks; a lesson is
# compiled at -O0 -fsanitize=thread,bounds, and the judge implements the functions that these options call. Only g++ and
# binutils are needed.
JUDGE_CXX := $(CXX_HOST) -std=c++17 -g -no-pie -ffp-contract=off -Wall -Wextra -Wno-unknown-pragmas \
  -Itests/kernels/cudacpu/include $(INCLUDES) -DLAP_CUDACPU -DLAP_CUDACPU_COUNTED
JUDGE_OBJ := $(patsubst %,$(B)/lessons/%.o,$(filter-out tests/kernels/cudacpu/hooks.cpp lessons/judge/exam_%, \
  $(sort $(wildcard lessons/judge/*.cpp tests/kernels/cudacpu/*.cpp))) cpu_simd/filter/filter_1_c.c $(sort $(wildcard src/base/*.c)))
$(B)/lessons/%.cpp.o: %.cpp lessons/rules.mk
	@mkdir -p $(@D)
	$(call say,CXX)$(JUDGE_CXX) -O2 -MMD -MP -c $< -o $@
$(B)/lessons/%.c.o: %.c lessons/rules.mk
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -std=c11 -O2 -g -ffp-contract=off -D_GNU_SOURCE $(INCLUDES) -DLAP_HAVE_CUDA=0 -DLAP_HAVE_OPENMP=0 \
	  -DLAP_RUNG_FLAGS='""' -MMD -MP -c $< -o $@
$(B)/lessons/libjudge.a: $(JUDGE_OBJ)
	@rm -f $@
	$(call say,AR)ar rcs $@ $^
# The header that exams include first, precompiled.
$(B)/lessons/exam.h.gch: lessons/lesson lessons/judge/judge.h $(wildcard tests/kernels/cudacpu/include/*.h)
	@mkdir -p $(@D)
	$(call say,CXX)B=$(B) CXX_HOST='$(CXX_HOST)' lessons/lesson header
JUDGE := $(B)/lessons/libjudge.a $(B)/lessons/exam.h.gch
-include $(JUDGE_OBJ:.o=.d)

# The student's copies.
MINE ?= my-lessons
LESSONS := $(sort $(foreach l,$(wildcard lessons/lesson_*.c*),$(word 2,$(subst _, ,$(notdir $l)))))
LESSON = B=$(B) MINE='$(MINE)' CXX_HOST='$(CXX_HOST)' NVCC='$(NVCC)' lessons/lesson
.PHONY: lesson $(LESSONS:%=lesson-%) $(LESSONS:%=check-%) $(LESSONS:%=time-%) $(LESSONS:%=solution-%)
## lesson: list the lessons
lesson:
	@$(LESSON) list
## lesson-1: copy lesson 1 (2, 3, ...) to my-lessons/ and say what to do; MINE=folder
$(LESSONS:%=lesson-%): lesson-%:
	@$(LESSON) get $*
## check-1: judge my-lessons/lesson_1_index.cu (2, 3, ...); no GPU is needed
$(LESSONS:%=check-%): check-%: $(JUDGE)
	@$(LESSON) check $*
## time-1: run it on this machine's GPU, and then the same step of the ladder
$(LESSONS:%=time-%): time-%:
	@$(LESSON) time $*
## solution-1: print lesson 1 with its hole filled (2, 3, ...)
$(LESSONS:%=solution-%): solution-%:
	@$(LESSON) solve $*
# For lessons that do not exist: the script says which do.
lesson-%:
	@$(LESSON) get $*
time-%:
	@$(LESSON) time $*
solution-%:
	@$(LESSON) solve $*
check-%:
	@$(LESSON) check $*
.PHONY: read-huffman
## read-huffman: a Huffman code that falls into step, to predict (lessons/read_huffman.c)
read-huffman: $(B)/lessons/read_huffman
	@$<
$(B)/lessons/read_huffman: lessons/read_huffman.c
	@mkdir -p $(@D)
	@$(CC) -std=c11 -O2 -Wall -Wextra -o $@ $<
