/* compromised: a worker that was taken over by its core. A function of the test replaces examine.c's: it runs in the
 * sandbox with the descriptors of a worker. */
#ifndef XC_TEST_COMPROMISED_H
#define XC_TEST_COMPROMISED_H

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/record/examine.h"
#include "tests/support/check.h"

enum { SANITIZED = UNDER_ASAN }; /* a sanitizer's memory cannot be limited */

enum { RESULT = 3, BROKER = 4, CORE = 5 }; /* of worker_child.c */

/* Action of the next worker instead of analysing its core. It may return. */
static void (*attack)(void);
static bool with_heap;

struct xc_record *xc_examine(struct xc_process *process, const struct xc_examine_options *options,
			     struct xc_arena *arena)
{
	struct xc_record *record = xc_arena_alloc(arena, sizeof *record);
	(void)process;
	with_heap = !options->without_heap;
	attack();
	record->path = options->path;
	record->class_name = record->headline = "null-read";
	record->severity = record->confidence = "low";
	return record;
}

static inline void say(const char *text)
{
	if (write(RESULT, text, strlen(text)) < 0)
		_exit(7);
}

static inline void goes_on(void)
{
}

static inline void spin(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static inline void says_garbage(void)
{
	say("\x01\xff no JSON at all \x1b[2J");
	_exit(0);
}

static char *volatile nowhere = NULL;

static inline void takes_all_memory(void)
{
	for (;;)
		memset(xc_alloc(1 << 20), 1, 1 << 20);
}

struct taken {
	const struct xc_record *record;
};

static inline struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	(void)input;
	((struct taken *)user)->record = record;
	return NULL;
}

static const struct xc_finder finder = {.quiet = true};
static const struct xc_input input = {.path = "the core", .file = "corpora/golden/assert.pack", .size = 77};

/* The time limit for an attack that never ends; all others may take longer. */
enum { BRIEF = 1, LONG = 60 };

static inline const struct xc_record *after_within(unsigned seconds, void (*what)(void), struct xc_arena *arena)
{
	const struct xc_input *inputs[] = {&input};
	struct taken taken = {NULL};
	const struct xc_batch batch = {
		.worker = {.finder = &finder, .host_files = true, .seconds = seconds, .memory = 64 << 20},
		.jobs = 1,
		.arena = arena,
		.take = take,
		.user = &taken};
	size_t done;
	attack = what;
	assert_null(xc_batch_run(&batch, inputs, 1, &done));
	assert_int_equal(done, 1);
	assert_string_equal(taken.record->path, "the core");
	assert_int_equal(taken.record->stored, 77);
	return taken.record;
}

static inline const struct xc_record *after(void (*what)(void), struct xc_arena *arena)
{
	return after_within(LONG, what, arena);
}

static inline void expect(void (*what)(void), enum xc_record_status status, const char *why)
{
	struct xc_arena arena = {0};
	const struct xc_record *record = after_within(status == XC_RECORD_TIMEOUT ? BRIEF : LONG, what, &arena);
	if (record->status != status || !strstr(record->why, why))
		fail_msg("\"%s\" instead of \"%s\"", record->why, why);
	xc_arena_fini(&arena);
}

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
