#!/bin/bash
# The stages of the ladder `decode` against libjpeg-turbo's C form: if it and the vector form would differ,
# a rung has to refuse.
JSIMD_FORCENONE=1 exec ${EMULATOR:-} "${B:-build}/tests/stages_check" --share=4
