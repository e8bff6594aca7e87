/* assembled: functions in assembly language, for hand-made stacks. */
#ifndef XC_TEST_ASSEMBLED_H
#define XC_TEST_ASSEMBLED_H

#include "tests/support/scene.h"

#define FUNCTION(name, body)                                                                                           \
	"\t.globl " name "\n\t.type " name ",@function\n" name ":\n" body "\t.size " name ",.-" name "\n"
#define WITH_CFI(name, body) FUNCTION(name, "\t.cfi_startproc\n" body "\t.cfi_endproc\n")

/* Both programs, of test_unwind.c and test_unwind_bare.c, begin in `start`, with a call of this many bytes. */
enum { START_RET = 5 };

static inline size_t count_frames(struct scene *s, struct xc_frame frame, size_t limit, const char **stop)
{
	size_t count = 1;
	while (count < limit && xc_unwind_step(s->unwinder, &frame, &frame, stop))
		count++;
	return count;
}

#endif
