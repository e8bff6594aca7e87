/* booked: programs that record the type of each block (addresses inverted, so that the record itself has no pointers)
 * and die, and what typing says of these blocks. */
#ifndef XC_TEST_BOOKED_H
#define XC_TEST_BOOKED_H

#include <stdio.h>
#include <stdlib.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/stack/variable.h"
#include "heap/session/session.h"
#include "heap/types/typing.h"
#include "tests/support/opened.h"

#define BOOK                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"                                               \
	"struct { unsigned long not_addr; char type[40]; } book[20000]; int booked;\n"                                 \
	"void *note(void *p, const char *type)\n"                                                                      \
	"{ book[booked].not_addr = ~(unsigned long)p; strcpy(book[booked++].type, type); return p; }\n"                \
	"#define NEW(t) ((t *)note(calloc(1, sizeof(t)), #t))\n"                                                       \
	"#define NEWS(t, n) ((t *)note(calloc(n, sizeof(t)), #t))\n"                                                   \
	"void scrub(void) { volatile char a[65536]; for (int i = 0; i < 65536; i++) a[i] = 0; }\n"

struct tally {
	unsigned blocks, typed, right, strong, strong_right;
};

static inline struct xc_value global(struct xc_process *process, const char *name, struct xc_arena *scratch)
{
	struct xc_definition found;
	struct xc_value value;
	assert_true(xc_lookup_one(process, &(struct xc_query){.name = name, .kinds = XC_NAME_VARIABLE}, &found));
	xc_variable_static(process, found.module, NULL, &found.die, scratch, &value);
	return value;
}

static inline uint64_t number(struct xc_process *process, const char *name)
{
	struct xc_arena scratch = {0};
	struct xc_value value = global(process, name, &scratch);
	uint64_t bits;
	assert_true(xc_value_load(&value, &bits));
	xc_arena_fini(&scratch);
	return bits;
}

static inline void count_block(struct tally *t, const struct xc_typing *typing, uint32_t block, const char *type)
{
	const struct xc_typed *typed = xc_typing_get(typing, block);
	bool right = typed && strcmp(xc_typing_name(typing, block), type) == 0;
	t->blocks++;
	t->typed += typed != NULL;
	t->right += right;
	t->strong += typed && typed->confidence >= XC_TYPE_STRONG;
	t->strong_right += right && typed->confidence >= XC_TYPE_STRONG;
	if (!right)
		print_message("a %s is taken for %s (%s)\n", type, typed ? xc_typing_name(typing, block) : "nothing",
			      typed ? typed->via : "");
}

/* The types that typing finds for the recorded blocks. */
static inline struct tally compared(const char *compiler, const char *source)
{
	xc_auto(xc_freep) char *whole = xc_asprintf(BOOK "%s", source);
	struct xc_process *process = died(compiler, whole);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_typing *typing;
	struct xc_arena scratch = {0};
	struct tally t = {0};
	CHECK_OK(xc_typing_of(heap, &typing));
	struct xc_value book = global(process, "book", &scratch);
	uint64_t count = number(process, "booked");
	for (uint64_t i = 0; i < count; i++) {
		struct {
			uint64_t not_addr;
			char type[40];
		} entry;
		assert_true(xc_value_peek(&book, i * sizeof entry, &entry, sizeof entry));
		uint32_t block = xc_blocks_find(&heap->blocks, ~entry.not_addr);
		assert_true(block != XC_NO_BLOCK);
		count_block(&t, typing, block, entry.type);
	}
	xc_arena_fini(&scratch);
	xc_heap_close(heap);
	close_process(process);
	return t;
}

#endif
