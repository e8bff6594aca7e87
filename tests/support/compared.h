/* compared: the result of typing, compared with the program's allocation log. */
#ifndef XC_TEST_COMPARED_H
#define XC_TEST_COMPARED_H

#include "heap/types/typing.h"
#include "tests/support/allocation_log.h"

/* Normalize a type name: remove spaces and differences between compilers. "int const" is "const int"; clang names an
 * enum's value; rustc omits allocators in display names, and has called the block of an Rc both RcBox and RcInner. */
static inline void compared_normalize(const char *name, char *out, size_t size)
{
	static const char *const left_out[] = {"const",
					       "(__gnu_cxx::_Lock_policy)2",
					       "__gnu_cxx::_S_atomic",
					       ", alloc::alloc::Global",
					       "RcBox",
					       "RcInner",
					       " "};
	size_t len = 0;
	while (*name && len + 1 < size) {
		size_t skip = 0;
		for (size_t i = 0; i < XC_COUNT(left_out) && !skip; i++)
			skip = strncmp(name, left_out[i], strlen(left_out[i])) ? 0 : strlen(left_out[i]);
		name += skip;
		if (!skip)
			out[len++] = *name++;
	}
	out[len] = '\0';
}

static inline bool compared_same(const char *a, const char *b)
{
	char x[2048], y[2048];
	compared_normalize(a, x, sizeof x);
	compared_normalize(b, y, sizeof y);
	return strcmp(x, y) == 0;
}

struct compared {
	uint64_t typed, sure, wrong, wrong_sure;
};

/* Would glibc (2.26 to 2.41, request2size) allocate a block of this size for one object of the type? */
static inline bool compared_fits(const struct xc_type *type, uint64_t block_size)
{
	uint64_t size;
	return xc_type_size(type, &size) && block_size == (size <= 24 ? 24 : ((size + 23) & ~(uint64_t)15) - 8);
}

static inline void compared_look(const struct booked *b, const struct xc_typing *typing, const struct booking *booking,
				 struct compared *tally)
{
	uint32_t block = xc_blocks_find(&b->heap->blocks, booking->block);
	assert_int_not_equal(block, XC_NO_BLOCK);
	const struct xc_typed *typed = xc_typing_get(typing, block);
	const char *name = typed ? xc_type_name(typed->type) : "nothing";
	bool sure = typed && typed->confidence >= XC_TYPE_STRONG, wrong = typed && !compared_same(name, booking->type);
	if (typed && typed->shape == XC_TYPED_ONE && !wrong &&
	    !compared_fits(typed->type, xc_block_size(&b->heap->blocks, block)))
		fail_msg("0x%lx: the size of %s does not fit", (unsigned long)booking->block, name);
	tally->typed += typed != NULL;
	tally->sure += sure;
	tally->wrong += wrong;
	tally->wrong_sure += wrong && sure;
	if (wrong || !sure)
		print_message("0x%lx: %s, %lu; taken for %s (%s) via %s\n", (unsigned long)booking->block,
			      booking->type, (unsigned long)booking->count, name,
			      typed ? xc_confidence_word((enum xc_confidence)typed->confidence) : "-",
			      typed ? typed->via : "-");
}

/* At least `least` percent of the blocks have a type with more than weak confidence, and none of those types is
 * wrong. */
static inline void compared_check(const struct booked *b, const char *what, unsigned least)
{
	struct compared tally = {0};
	struct xc_typing *typing;
	CHECK_OK(xc_typing_of(b->heap, &typing));
	for (uint64_t i = 0; i < b->count; i++) {
		struct booking booking = booked_get(b, i);
		compared_look(b, typing, &booking, &tally);
	}
	print_message("%s: %lu blocks, %lu typed, %lu sure, %lu wrong, %lu surely wrong\n", what,
		      (unsigned long)b->count, (unsigned long)tally.typed, (unsigned long)tally.sure,
		      (unsigned long)tally.wrong, (unsigned long)tally.wrong_sure);
	assert_true(tally.sure * 100 >= b->count * least);
	assert_int_equal(tally.wrong_sure, 0);
}

#endif
