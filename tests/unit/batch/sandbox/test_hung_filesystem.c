/* layer: batch tier: test */
/* batch: file systems that do not answer delay only the core that needs their files. They are real (FUSE). Tests are
 * skipped where FUSE cannot be mounted. */
#include "tests/support/check.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "batch/run/records.h"
#include "tests/support/corefile.h"
#include "tests/support/scratch.h"
#include "tests/support/silent.h"

enum { TOO_LATE = 9, SECONDS = 4, TRIES = 5 };

/* ---- batches ---- */

struct taken {
	size_t count;
	struct xc_record *records[4];
};

static struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	struct taken *taken = user;
	(void)input;
	taken->records[taken->count++] = record;
	return NULL;
}

static const struct xc_record *find(const struct taken *taken, const char *path)
{
	for (size_t i = 0; i < taken->count; i++)
		if (!strcmp(taken->records[i]->path, path))
			return taken->records[i];
	_exit(3);
}

static double now(void)
{
	return (double)xc_now_ns() / 1e9;
}

static const struct xc_input good = {.path = "good", .file = "corpora/golden/assert.pack"};

static int run(const struct xc_input *one, const struct xc_input *two, unsigned jobs, struct taken *taken)
{
	static const struct xc_finder finder = {.quiet = true};
	static struct xc_arena arena;
	const struct xc_input *inputs[] = {one, two};
	const struct xc_batch batch = {.worker = {.finder = &finder, .host_files = true, .seconds = SECONDS},
				       .jobs = jobs,
				       .arena = &arena,
				       .take = take,
				       .user = taken};
	size_t done;
	struct xc_error *err = xc_batch_run(&batch, inputs, XC_COUNT(inputs), &done);
	return err || done != XC_COUNT(inputs);
}

static bool is_passing(const struct xc_record *record)
{
	return record->status == XC_RECORD_OK && record->passing && strstr(record->note, "did not answer");
}

/* A core with one of its modules there. */
static const char *core_of(const char *at)
{
	static const char stack[4096];
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	char module[4096];
	snprintf(module, sizeof module, "%s/lib/module.so", at);
	corefile_prstatus(&core, 77, 11, 0x20010, 0x10000);
	corefile_file(&core, 0x20000, 0x21000, 0, module);
	corefile_load(&core, 0x10000, sizeof stack, 6, stack, sizeof stack);
	corefile_load(&core, 0x20000, 0x1000, 5, NULL, 0);
	corefile_build(&core, &bytes);
	const char *path = scratch_file("core", bytes.bytes, bytes.len);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	return path;
}

/* Both cores get their verdict, the second one immediately. */
static int of_modules(const char *at)
{
	const struct xc_input other = {.path = "other", .file = core_of(at)},
			      again = {.path = "again", .file = other.file};
	struct taken taken = {0};
	const double from = now();
	if (run(&other, &again, 1, &taken))
		return 4;
	const double took = now() - from;
	if (took < SECONDS / 2.0)
		return 5;
	if (took > SECONDS)
		return TOO_LATE;
	return is_passing(find(&taken, "other")) && is_passing(find(&taken, "again")) ? 0 : 6;
}

static int of_the_core(const char *at)
{
	char file[4096];
	const struct xc_input other = {.path = "other", .file = file};
	struct taken taken = {0};
	const double from = now();
	snprintf(file, sizeof file, "%s/core", at);
	if (run(&other, &good, 2, &taken))
		return 4;
	if (now() - from > SECONDS * 1.5) /* it waits once, and once more at the end: half of SECONDS each */
		return TOO_LATE;
	const struct xc_record *record = find(&taken, "other");
	if (!record->unlooked || strcmp(record->why, "not examined: it does not answer") != 0)
		return 6;
	record = find(&taken, "good");
	return record->status == XC_RECORD_OK && !record->passing ? 0 : 7;
}

static int of_its_bytes(const char *at)
{
	char file[4096];
	const struct xc_input other = {.path = "other", .file = file};
	struct taken taken = {0};
	const double from = now();
	snprintf(file, sizeof file, "%s/core", at);
	if (run(&other, &good, 2, &taken))
		return 4;
	if (now() - from > SECONDS + 4)
		return TOO_LATE;
	const struct xc_record *record = find(&taken, "other");
	if (record->status != XC_RECORD_TIMEOUT || !record->passing)
		return 6;
	return find(&taken, "good")->status == XC_RECORD_OK ? 0 : 7;
}

/* ---- resumed ---- */

static bool make(const struct xc_input *input, const volatile sig_atomic_t *stopped, struct xc_records *records)
{
	static const struct xc_finder finder = {.quiet = true};
	static struct xc_arena arena;
	struct xc_records_options options = {
		.batch = {.worker = {.finder = &finder, .host_files = true, .seconds = SECONDS, .stopped = stopped}}};
	struct xc_error *err =
		xc_checkpoint_open(scratch_path("ledger"), "settings", true, &arena, &options.checkpoint);
	err = err ? err : xc_records_make(&input, 1, &options, &arena, records);
	xc_checkpoint_close(options.checkpoint);
	return !err;
}

/* Finished records are unchanged, and an interrupt works. */
static int of_what_is_finished(const char *at)
{
	const struct xc_input input = {.path = "core", .file = core_of(at), .size = 1, .mtime_ns = 1};
	const sig_atomic_t interrupted = 1;
	struct xc_records records;
	if (!make(&input, NULL, &records) || records.reused || records.count != 1 || records.records[0]->passing)
		return 4;
	if (!make(&input, NULL, &records) || records.reused != 1 || records.silent)
		return 5;
	scratch_file("hush", "", 0);
	double from = now();
	if (!make(&input, NULL, &records) || records.reused != 1)
		return 6;
	if (now() - from > SECONDS)
		return TOO_LATE;
	if (!records.silent || !strstr(records.silent, at))
		return 7;
	from = now();
	if (!make(&input, &interrupted, &records) || !records.stopped)
		return 8;
	return now() - from < 1 ? 0 : TOO_LATE;
}

/* ---- surroundings ---- */

/* A run delayed by a stalled machine is in time when retried. */
static void expect(enum silent how, int (*body)(const char *at))
{
	int result = TOO_LATE;
	for (int tries = 0; tries < TRIES && result == TOO_LATE; tries++) {
		remove(scratch_path("hush"));
		remove(scratch_path("ledger"));
		result = silent_try(how, body);
	}
	if (result == SILENT_CANNOT_MOUNT)
		check_skip("no mount may be made here");
	assert_int_equal(result, 0);
}

static void modules_that_do_not_answer_are_absent(void **state)
{
	(void)state;
	expect(SILENT_DEAF, of_modules);
	expect(SILENT_MUTE, of_modules);
}

static void a_core_that_does_not_answer_is_not_looked_at(void **state)
{
	(void)state;
	expect(SILENT_DEAF, of_the_core);
	expect(SILENT_MUTE, of_the_core);
}

static void a_worker_that_cannot_be_ended_is_not_waited_for(void **state)
{
	(void)state;
	expect(SILENT_WITHOUT_DATA, of_its_bytes);
}

static void what_is_finished_is_not_waited_for(void **state)
{
	(void)state;
	expect(SILENT_EMPTY, of_what_is_finished);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_that_do_not_answer_are_absent),
		cmocka_unit_test(a_core_that_does_not_answer_is_not_looked_at),
		cmocka_unit_test(a_worker_that_cannot_be_ended_is_not_waited_for),
		cmocka_unit_test(what_is_finished_is_not_waited_for),
	};
	return cmocka_run_group_tests_name("silence", tests, NULL, NULL);
}
