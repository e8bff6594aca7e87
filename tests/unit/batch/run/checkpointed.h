/* checkpointed: a checkpoint in a temporary file, and its inputs. */
#ifndef XC_TEST_CHECKPOINTED_H
#define XC_TEST_CHECKPOINTED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch/run/checkpoint.h"

static char path[] = "/tmp/xcore-ledger-XXXXXX";
static struct xc_arena arena;

static const struct xc_input inputs[] = {
	{.path = "b/core", .size = 10, .mtime_ns = 111, .ctime_ns = 112, .ino = 7},
	{.path = "a/core", .size = 20, .mtime_ns = -5, .ctime_ns = -4, .ino = UINT64_MAX},
};

static inline int make_file(void **state)
{
	(void)state;
	strcpy(path + strlen(path) - 6, "XXXXXX");
	close(mkstemp(path));
	return 0;
}

static inline int remove_file(void **state)
{
	(void)state;
	xc_arena_fini(&arena);
	return unlink(path);
}

static inline struct xc_checkpoint *open_it(const char *config, bool resume)
{
	struct xc_checkpoint *checkpoint;
	assert_null(xc_checkpoint_open(path, config, resume, &arena, &checkpoint));
	return checkpoint;
}

static inline void fill(void)
{
	struct xc_checkpoint *checkpoint = open_it("one", false);
	for (size_t i = 0; i < XC_COUNT(inputs); i++)
		assert_null(xc_checkpoint_add(checkpoint, &inputs[i],
					      xc_record_failed(&arena, XC_RECORD_DIED, inputs[i].path, "why")));
	xc_checkpoint_close(checkpoint);
}

static inline void add(struct xc_checkpoint *checkpoint, const struct xc_input *input, const char *why)
{
	assert_null(xc_checkpoint_add(checkpoint, input, xc_record_failed(&arena, XC_RECORD_DIED, input->path, why)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

#endif
