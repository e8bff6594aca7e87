/* planted: files that are planted, and the inputs found among them. */
#ifndef XC_TEST_PLANTED_H
#define XC_TEST_PLANTED_H

#include "tests/support/check.h"
#include "batch/input/input.h"
#include "tests/support/scratch.h"

static const char core[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\x3e",
		  big_core[] = "\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\4\0",
		  program[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e", zstd[] = "\x28\xb5\x2f\xfd there";

#define PLANT(name, bytes) scratch_file(name, bytes, sizeof(bytes) - 1)

static inline struct xc_inputs *find(const char *const *operands, size_t count)
{
	struct xc_inputs *inputs = NULL;
	CHECK_OK(xc_inputs_find(operands, count, &inputs));
	return inputs;
}

#define FIND(...) find((const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

static inline void check_paths(const struct xc_inputs *inputs, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < inputs->count && i < count; i++)
		assert_string_equal(inputs->inputs[i].path, paths[i]);
	assert_int_equal(inputs->count, count);
}

#define CHECK_PATHS(inputs, ...)                                                                                       \
	check_paths(inputs, (const char *const[]){__VA_ARGS__}, XC_COUNT(((const char *const[]){__VA_ARGS__})))

static inline struct xc_inputs *listed(const char *bytes, size_t len)
{
	char *operand = xc_asprintf("@%s", scratch_file("list", bytes, len));
	struct xc_inputs *inputs = FIND(operand);
	free(operand);
	return inputs;
}

#endif
