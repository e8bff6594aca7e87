/* layer: batch tier: test */
/* checkpoint_dir: checkpoints for other inputs and settings are other files. Only our own old and idle ones are
 * removed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch/run/checkpoint.h"
#include "batch/run/checkpoint_dir.h"
#include "tests/support/scratch.h"

#define ONE "0123456789abcdef0123456789abcdef"
#define TWO "fedcba98765432100123456789abcdef"

static const int64_t now = INT64_C(2000000000), day = 86400;

static char *file_of(const char *inputs, const char *config)
{
	return xc_checkpoint_dir_file(scratch_dir(), inputs, config);
}

/* Sets the time of last use. */
static void age(const char *path, int64_t days)
{
	const struct timespec times[2] = {{.tv_sec = now - days * day}, {.tv_sec = now - days * day}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void make_ledger(const char *path, int64_t days)
{
	struct xc_arena arena = {0};
	struct xc_checkpoint *checkpoint;
	assert_null(xc_checkpoint_open(path, "config", true, &arena, &checkpoint));
	xc_checkpoint_close(checkpoint);
	xc_arena_fini(&arena);
	age(path, days);
}

static bool stays(const char *path)
{
	struct stat st;
	xc_checkpoint_dir_clean(scratch_dir(), now);
	return lstat(path, &st) == 0;
}

static void inputs_and_settings_both_count(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *one = file_of(ONE ONE, ONE), *two = file_of(ONE, TWO), *three = file_of(TWO, ONE);
	xc_auto(xc_freep) char *again = file_of(ONE, ONE ONE);
	assert_string_equal(one, again);
	assert_string_not_equal(one, two);
	assert_string_not_equal(one, three);
	assert_string_not_equal(two, three);
}

static void what_nobody_used_for_a_month_goes(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, ONE);
	make_ledger(path, XC_CHECKPOINT_DIR_DAYS - 1);
	assert_true(stays(path));
	make_ledger(path, -400); /* from a clock that was wrong */
	assert_true(stays(path));
	make_ledger(path, XC_CHECKPOINT_DIR_DAYS + 1);
	assert_false(stays(path));
}

static void ledgers_of_before_go(void **state)
{
	(void)state;
	const char *path = scratch_path(ONE ".jsonl");
	make_ledger(path, XC_CHECKPOINT_DIR_DAYS + 1);
	assert_false(stays(path));
}

/* A run reads it without writing. */
static void to_open_one_is_to_use_it(void **state)
{
	struct xc_arena arena = {0};
	struct xc_checkpoint *checkpoint;
	struct stat st;
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, ONE);
	make_ledger(path, XC_CHECKPOINT_DIR_DAYS + 1);
	const time_t before = time(NULL);
	assert_null(xc_checkpoint_open(path, "config", true, &arena, &checkpoint));
	xc_checkpoint_close(checkpoint);
	xc_arena_fini(&arena);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtime >= before);
	assert_int_equal(unlink(path), 0);
}

static void one_that_is_open_stays(void **state)
{
	struct xc_arena arena = {0};
	struct xc_checkpoint *checkpoint;
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, ONE);
	assert_null(xc_checkpoint_open(path, "config", true, &arena, &checkpoint));
	age(path, XC_CHECKPOINT_DIR_DAYS + 1);
	assert_true(stays(path));
	xc_checkpoint_close(checkpoint);
	xc_arena_fini(&arena);
	assert_false(stays(path));
}

/* A process that repeatedly removes everything unused for a month before this time. */
static pid_t start_cleaner(int64_t when)
{
	const pid_t cleaner = fork();
	while (cleaner == 0) {
		xc_checkpoint_dir_clean(scratch_dir(), when);
		if (getppid() == 1)
			_exit(0);
	}
	return cleaner;
}

static void stop_cleaner(pid_t cleaner)
{
	kill(cleaner, SIGKILL);
	waitpid(cleaner, NULL, 0);
}

/* Outcome of runs that opened their checkpoint: it was removed while open, or they got none because another process had
 * locked it. */
struct outcome {
	size_t opened, nameless, refused;
};

static struct outcome open_often(const char *path, size_t times)
{
	enum { MOST = 1 << 20 };
	struct xc_arena arena = {0};
	struct outcome outcome = {0};
	while (outcome.opened < times && outcome.refused < MOST) {
		struct xc_checkpoint *checkpoint;
		struct xc_error *err = xc_checkpoint_open(path, "config", true, &arena, &checkpoint);
		if (!err) {
			outcome.opened++;
			sched_yield();
			outcome.nameless += access(path, F_OK) != 0;
			xc_checkpoint_close(checkpoint);
		}
		outcome.refused += err != NULL;
		xc_error_free(err);
	}
	xc_arena_fini(&arena);
	return outcome;
}

/* With any number of cleaners, a run that opened its checkpoint has one with a name. */
static void one_that_is_being_opened_stays(void **state)
{
	enum { TIMES = 1000, CLEANERS = 2 };
	pid_t cleaners[CLEANERS];
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, ONE);
	for (size_t i = 0; i < CLEANERS; i++)
		cleaners[i] = start_cleaner(INT64_C(1) << 40);
	const struct outcome outcome = open_often(path, TIMES);
	for (size_t i = 0; i < CLEANERS; i++)
		stop_cleaner(cleaners[i]);
	unlink(path);
	assert_int_equal(outcome.nameless, 0);
	assert_int_equal(outcome.opened, TIMES);
}

/* A cleaner with nothing to remove blocks no run. */
static void one_that_is_in_use_can_always_be_opened(void **state)
{
	enum { TIMES = 10000 };
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, ONE);
	make_ledger(path, 0);
	age(path, (now - time(NULL)) / day);
	const pid_t cleaner = start_cleaner(time(NULL));
	const struct outcome outcome = open_often(path, TIMES);
	stop_cleaner(cleaner);
	unlink(path);
	assert_int_equal(outcome.refused, 0);
	assert_int_equal(outcome.nameless, 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	age(path, XC_CHECKPOINT_DIR_DAYS + 1);
}

static void files_of_others_stay(void **state)
{
	static const char *const names[] = {
		ONE,           ONE ".json",   "a" ONE ".jsonl",      ONE "-" ONE ".jsonl.bak",
		"cat.jsonl",   ONE "-.jsonl", ONE "-" ONE "0.jsonl", ONE "0-" ONE ".jsonl",
		ONE "-0.jsonl"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		const char *path = scratch_path(names[i]);
		write_file(path, "{\"schema\":\"xcore.ledger/2\",\"config\":\"config\"}\n");
		assert_true(stays(path));
		assert_int_equal(unlink(path), 0);
	}
}

static void what_is_no_ledger_stays(void **state)
{
	static const char *const texts[] = {"", "{\"schema\":\"xcore.ledg", "{\"schema\":\"xcore.part/1\"}\n"};
	(void)state;
	xc_auto(xc_freep) char *path = file_of(ONE, TWO), *target = file_of(ONE, ONE);
	for (size_t i = 0; i < XC_COUNT(texts); i++) {
		write_file(path, texts[i]);
		assert_true(stays(path));
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(mkfifo(path, 0600), 0); /* and nothing blocks */
	age(path, XC_CHECKPOINT_DIR_DAYS + 1);
	assert_true(stays(path));
	assert_int_equal(unlink(path), 0);
	make_ledger(target, 0);
	assert_int_equal(symlink(target, path), 0);
	age(path, XC_CHECKPOINT_DIR_DAYS + 1);
	assert_true(stays(path));
	assert_int_equal(unlink(path), 0);
	xc_checkpoint_dir_clean(path, now); /* no such directory */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_and_settings_both_count),
		cmocka_unit_test(what_nobody_used_for_a_month_goes),
		cmocka_unit_test(ledgers_of_before_go),
		cmocka_unit_test(to_open_one_is_to_use_it),
		cmocka_unit_test(one_that_is_open_stays),
		cmocka_unit_test(files_of_others_stay),
		cmocka_unit_test(one_that_is_being_opened_stays),
		cmocka_unit_test(what_is_no_ledger_stays),
		cmocka_unit_test(one_that_is_in_use_can_always_be_opened),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
