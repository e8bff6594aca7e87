/* layer: batch */
/* worker: a core in a sandbox gives a record, and so does every failure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <glob.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/input/corefd.h"
#include "batch/sandbox/worker_child.h"
#include "batch/sandbox/fork_server.h"
#include "batch/sandbox/worker_impl.h"
#include "tests/support/check.h"
#include "tests/support/hermit.h"
#include "tests/support/corefile.h"
#include "tests/support/scratch.h"

enum { NOBODY = 65534 };

static const struct xc_finder finder = {.quiet = true};

struct taken {
	size_t count;
	struct xc_record *records[64];
};

static struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	struct taken *taken = user;
	assert_string_equal(record->path, input->path);
	taken->records[taken->count++] = record;
	return NULL;
}

/* The record of one file, in the arena. */
static struct xc_record *record_of(const char *file, uint64_t memory, struct xc_arena *arena)
{
	struct taken taken = {0};
	const struct xc_input input = {.path = "the core", .file = file, .size = 77};
	const struct xc_input *inputs[] = {&input};
	const struct xc_batch batch = {
		.worker = {.finder = &finder, .host_files = true, .memory = memory, .seconds = 120},
		.jobs = 1,
		.arena = arena,
		.take = take,
		.user = &taken};
	size_t done;
	assert_null(xc_batch_run(&batch, inputs, 1, &done));
	assert_int_equal(done, 1);
	assert_int_equal(taken.count, 1);
	return taken.records[0];
}

static void a_core_gives_its_verdict(void **state)
{
	struct xc_arena arena = {0};
	glob_t packs;
	(void)state;
	assert_int_equal(glob("corpora/golden/*.pack", 0, NULL, &packs), 0);
	for (size_t i = 0; i < packs.gl_pathc; i++) {
		const struct xc_record *record = record_of(packs.gl_pathv[i], 0, &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_non_null(record->class_name);
		assert_non_null(record->core_id);
		assert_int_equal(record->stored, 77);
		assert_int_equal(record->absent_count, 0); /* a pack brings its files */
	}
	globfree(&packs);
	xc_arena_fini(&arena);
}

/* Its assertion names a global of another unit: threads outside of a sandbox look through all units. */
static void a_name_of_another_unit_is_found_in_the_jail(void **state)
{
	static const char core[] = "build/deaths/abort-assert-next-gcc-o2/core";
	struct xc_arena arena = {0};
	(void)state;
	if (access(core, R_OK) != 0)
		check_skip("there is no core in build/deaths");
	const struct xc_record *record = record_of(core, 0, &arena);
	assert_int_equal(record->status, XC_RECORD_OK);
	assert_string_equal(record->class_name, "assertion");
	xc_arena_fini(&arena);
}

static void a_core_is_read_however_it_is_compressed(void **state)
{
	static const char *const programs[] = {"cat", "zstd -qc", "lz4 -qc", "xz -qc", "gzip -c"};
	static const char stack[4096];
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct xc_arena arena = {0};
	(void)state;
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, sizeof stack, 6, stack, sizeof stack);
	corefile_build(&core, &bytes);
	const char *plain = scratch_file("core", bytes.bytes, bytes.len), *packed = scratch_path("packed"), *id = NULL;
	for (size_t i = 0; i < XC_COUNT(programs); i++) {
		char *line = xc_asprintf("%s <%s >%s", programs[i], scratch_word(plain), scratch_word(packed));
		assert_int_equal(system(line), 0);
		free(line);
		const struct xc_record *record = record_of(packed, 0, &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_int_equal(record->size, bytes.len);
		assert_string_equal(id ? id : record->core_id, record->core_id);
		id = record->core_id;
	}
	corefile_fini(&core);
	xc_text_fini(&bytes);
	xc_arena_fini(&arena);
}

static void what_is_no_core_is_unreadable(void **state)
{
	struct xc_arena arena = {0};
	char fifo[] = "/tmp/xcore-test-XXXXXX";
	(void)state;
	const struct xc_record *text = record_of("README.md", 0, &arena);
	assert_int_equal(text->status, XC_RECORD_UNREADABLE);
	assert_non_null(strstr(text->why, "ELF"));
	const struct xc_record *absent = record_of(scratch_path("absent"), 0, &arena);
	assert_int_equal(absent->status, XC_RECORD_UNREADABLE);
	assert_string_equal(absent->why, "No such file or directory");
	close(mkstemp(fifo));
	unlink(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	const struct xc_record *pipe = record_of(fifo, 0, &arena);
	assert_int_equal(pipe->status, XC_RECORD_UNREADABLE);
	assert_string_equal(pipe->why, "not a regular file");
	unlink(fifo);
	xc_arena_fini(&arena);
}

static void too_little_memory_is_a_limit(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
#ifndef __SANITIZE_ADDRESS__
	const struct xc_record *record = record_of("corpora/golden/assert.pack", 1 << 20, &arena);
	assert_int_equal(record->status, XC_RECORD_LIMIT);
#endif
	xc_arena_fini(&arena);
}

static void many_run_at_once(void **state)
{
	enum { COUNT = 40 };
	struct xc_arena arena = {0};
	struct taken taken = {0};
	struct xc_input inputs[COUNT];
	const struct xc_input *list[COUNT];
	const struct xc_batch batch = {
		.worker = {.finder = &finder}, .jobs = 7, .arena = &arena, .take = take, .user = &taken};
	const char *absent = scratch_path("absent");
	size_t done;
	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		inputs[i] = (struct xc_input){.path = i % 3 ? "a" : "b", .file = i % 3 ? "Makefile" : absent};
		list[i] = &inputs[i];
	}
	assert_null(xc_batch_run(&batch, list, COUNT, &done));
	assert_int_equal(done, COUNT);
	assert_int_equal(taken.count, COUNT);
	xc_arena_fini(&arena);
}

/* ---- surroundings ---- */

static const char *gzipped_core(void)
{
	static const char stack[4096];
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, sizeof stack, 6, stack, sizeof stack);
	corefile_build(&core, &bytes);
	char *line = xc_asprintf("gzip -c <%s >%s.gz", scratch_word(scratch_file("hindered", bytes.bytes, bytes.len)),
				 scratch_word(scratch_path("hindered")));
	assert_int_equal(system(line), 0);
	free(line);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	return scratch_path("hindered.gz");
}

/* Exit status of a child that runs body. */
static int ends(int (*body)(void))
{
	int status;
	const pid_t pid = fork();
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* cmocka's handlers jump into the tests */
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* ---- a small disk for temporary files ---- */

enum { CANNOT_MOUNT = 77, CANNOT_BECOME = 78 /* another user: a name space without others */ };

/* Of this many bytes of memory, half of them noise. Returns its name and stored size. */
static struct xc_input large_core(size_t size)
{
	struct xc_input input = {.path = "the core", .file = scratch_path("large.gz")};
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct stat st;
	uint8_t *memory = xc_alloc(size);
	uint32_t seed = 7;
	for (size_t i = 0; i < size; i++)
		memory[i] = (uint8_t)(i & 4096 ? 'x' : (seed = seed * 1664525 + 1013904223) >> 24);
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	corefile_load(&core, 0x10000, size, 6, memory, size);
	corefile_build(&core, &bytes);
	char *line = xc_asprintf("gzip -1c <%s >%s", scratch_word(scratch_file("large", bytes.bytes, bytes.len)),
				 scratch_word(input.file));
	assert_int_equal(system(line), 0);
	assert_int_equal(stat(input.file, &st), 0);
	input.size = (uint64_t)st.st_size;
	free(line);
	free(memory);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	return input;
}

/* The last try's result if it may take `room` bytes; NULL: nothing can be mounted here. */
static const struct xc_record *on_a_disk_of(const char *size, struct xc_input input, uint64_t room,
					    struct xc_arena *arena)
{
	struct xc_worker_options options = {
		.finder = &finder, .host_files = true, .room = room, .last_try = true, .seconds = 20};
	struct xc_worker *worker;
	mkdir(scratch_path("disk"), 0755);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", scratch_path("disk"), "tmpfs", 0, size))
		return NULL;
	setenv("TMPDIR", scratch_path("disk"), 1);
	struct xc_error *err = xc_fork_server_start(&options, &options.fork_server);
	if (!err)
		err = xc_worker_start(&input, &options, &worker);
	while (!err && !xc_worker_serve(worker))
		usleep(1000);
	return err ? NULL : xc_worker_finish(worker, arena);
}

static int says(const struct xc_record *record, bool unlooked, const char *why)
{
	if (!record)
		return CANNOT_MOUNT;
	if (record->unlooked == unlooked && !strcmp(record->why, why))
		return 0;
	fprintf(stderr, "%sunlooked: %s\n", record->unlooked ? "" : "not ", record->why);
	return 1;
}

static int full_disk(void)
{
	struct xc_arena arena = {0};
	return says(on_a_disk_of("size=1m", large_core(4 << 20), 0, &arena), true,
		    "not examined: temporary files (TMPDIR): No space left on device");
}

static int small_share(void)
{
	struct xc_arena arena = {0};
	return says(on_a_disk_of("size=8m", large_core(8 << 20), 4 << 20, &arena), true,
		    "not examined: temporary files (TMPDIR; a core may use half of the disk): No space left on "
		    "device");
}

static int bomb(void)
{
	struct xc_arena arena = {0};
	struct xc_input input = large_core(8 << 20);
	input.size = (4 << 20) / 64;
	return says(on_a_disk_of("size=8m", input, 4 << 20, &arena), false,
		    "inflates to more than the 4194304 bytes of disk space that it may use");
}

static int small_files(void)
{
	const struct rlimit few = {1 << 20, 1 << 20};
	struct xc_arena arena = {0};
	const struct xc_input input = large_core(4 << 20);
	setrlimit(RLIMIT_FSIZE, &few);
	return says(on_a_disk_of("size=8m", input, 0, &arena), true,
		    "not examined: temporary files (ulimit -f): File too large");
}

static void a_disk_that_is_full_is_not_the_core_s_a_bomb_is(void **state)
{
	int (*const cases[])(void) = {full_disk, small_share, bomb, small_files};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		const int status = ends(cases[i]);
		if (status == CANNOT_MOUNT)
			check_skip("no mount may be made here");
		assert_int_equal(status, 0);
	}
}

static void without_room_to_inflate_it_is_not_looked_at(void **state)
{
	struct xc_arena arena = {0};
	const char *core = gzipped_core();
	(void)state;
	setenv("TMPDIR", scratch_path("absent"), 1);
	const struct xc_record *record = record_of(core, 0, &arena);
	unsetenv("TMPDIR");
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: a temporary file (TMPDIR): No such file or directory");
	assert_false(record_of(core, 0, &arena)->unlooked);
	xc_arena_fini(&arena);
}

static void what_the_broker_lacked_is_no_timeout(void **state)
{
	struct xc_arena arena = {0};
	struct xc_broker_status broker_status = {.number = 0};
	const struct xc_input input = {.path = "the core"};
	struct xc_worker worker = {.input = &input, .pair = {.status = &broker_status}, .late = true, .ended = true};
	(void)state;
	assert_int_equal(xc_worker_outcome(&worker, &arena)->status, XC_RECORD_TIMEOUT);
	worker.trouble = ETOOMANYREFS;
	worker.what = "giving it a file";
	const struct xc_record *record = xc_worker_outcome(&worker, &arena);
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: giving it a file: Too many references: cannot splice");
	xc_arena_fini(&arena);
}

static pid_t child(void (*body)(void))
{
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body();
		_exit(5); /* like xc_alloc */
	}
	return pid;
}

static void give_up(void)
{
}

static void end_well(void)
{
	_exit(0);
}

static void wait_for_ever(void)
{
	for (;;)
		pause();
}

/* A worker that would never end, without its own time limit, is served beside a broker that does this, until it has
 * ended. */
static struct xc_worker ended_beside(void (*broker)(void), const struct xc_input *input,
				     struct xc_broker_status *broker_status)
{
	struct xc_worker worker = {.input = input, .pair = {.status = broker_status}, .result = -1, .process = -1};
	worker.pair.scratch = -1;
	worker.deadline_ns = UINT64_MAX;
	worker.pair.worker_pid = child(wait_for_ever);
	worker.pair.broker_pid = child(broker);
	alarm(120);
	while (!xc_worker_serve(&worker))
		usleep(1000);
	alarm(0);
	return worker;
}

static void without_its_broker_a_worker_is_ended(void **state)
{
	struct xc_arena arena = {0};
	struct xc_broker_status broker_status = {.number = 0};
	const struct xc_input input = {.path = "the core"};
	(void)state;
	struct xc_worker worker = ended_beside(give_up, &input, &broker_status);
	assert_false(worker.late);
	const struct xc_record *record = xc_worker_outcome(&worker, &arena);
	assert_true(record->unlooked);
	assert_string_equal(record->why, "not examined: its broker gave up: Input/output error");
	xc_arena_fini(&arena);
}

/* Its own fault, however its broker ended: it is killed immediately, and that is its record. */
static void a_worker_that_was_refused_is_ended(void **state)
{
	static const struct {
		enum xc_broker_status_refusal refused;
		enum xc_record_status status;
		const char *why;
	} cases[] = {
		{XC_BROKER_STATUS_TOO_MUCH, XC_RECORD_LIMIT, "it names more files than may be opened for a core"},
		{XC_BROKER_STATUS_FOUL, XC_RECORD_DIED, "the worker sent a malformed request for a file"},
	};
	const struct xc_input input = {.path = "the core"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_arena arena = {0};
		struct xc_broker_status broker_status = {.refused = cases[i].refused};
		struct xc_worker worker = ended_beside(end_well, &input, &broker_status);
		assert_false(xc_worker_hindered(&worker));
		assert_null(xc_worker_excess(&worker));
		const struct xc_record *record = xc_worker_outcome(&worker, &arena);
		assert_int_equal(record->status, cases[i].status);
		assert_string_equal(record->why, cases[i].why);
		assert_false(record->unlooked || record->passing);
		xc_arena_fini(&arena);
	}
}

/* None of them exists. */
static void a_core_of_thousands_of_files_is_looked_at(void **state)
{
	enum { FILES = 8000, PAGE = 4096 };
	struct corefile core = corefile_new();
	struct xc_text bytes = {0};
	struct xc_arena arena = {0};
	(void)state;
	corefile_prstatus(&core, 77, 11, 0x1000, 0x10000);
	for (xc_addr i = 0; i < FILES; i++) {
		char *path = xc_asprintf("/none/lib%u.so", (unsigned)i);
		corefile_file(&core, 0x10000000 + 2 * i * PAGE, 0x10000000 + (2 * i + 1) * PAGE, 0, path);
		corefile_load(&core, 0x10000000 + 2 * i * PAGE, PAGE, 5, "", 0);
		free(path);
	}
	corefile_build(&core, &bytes);
	const struct xc_record *record = record_of(scratch_file("many", bytes.bytes, bytes.len), 0, &arena);
	assert_int_equal(record->status, XC_RECORD_OK);
	corefile_fini(&core);
	xc_text_fini(&bytes);
	xc_arena_fini(&arena);
}

/* ---- files that did not answer ---- */

/* A fork server with a broker that has been opening this file since time 1, and was given up at state `judged`. Returns
 * the first status. */
static struct xc_broker_status *given_up(struct xc_worker_options *options, const char *file, uint64_t judged)
{
	struct xc_fork_server_pair pair = {.scratch = -1};
	int sockets[2];
	assert_null(xc_fork_server_start(options, &options->fork_server));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	pair.broker = sockets[0];
	pair.status = xc_fork_server_take_status(options->fork_server);
	xc_broker_status_set_place(pair.status, NULL, file);
	atomic_store(&pair.status->since_ns, 1);
	assert_null(xc_fork_server_replace(options->fork_server, &pair, judged));
	close(sockets[0]);
	close(sockets[1]);
	assert_int_equal(waitpid(pair.broker_pid, NULL, 0), pair.broker_pid);
	return pair.status;
}

static void only_the_place_that_was_waited_for_is_given_up(void **state)
{
	struct xc_worker_options options = {.finder = &finder, .host_files = true};
	(void)state;
	for (uint64_t judged = 1; judged <= 2; judged++) {
		const struct xc_broker_status *broker_status = given_up(&options, "/made/up/a.so", judged);
		const struct xc_broker_statuses *broker_statuses = (const struct xc_broker_statuses *)broker_status;
		assert_true(broker_status->silent); /* it was not opened, regardless of the time */
		assert_int_equal(xc_broker_status_is_silent(broker_statuses, NULL, "/made/up/b.so"), judged == 1);
		xc_fork_server_end(options.fork_server);
	}
}

static void what_was_silent_is_asked_once_more_at_the_end(void **state)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	struct xc_worker_options options = {.finder = &finder, .host_files = true, .seconds = 20};
	const struct xc_input input = {.path = "the core", .file = "corpora/golden/assert.pack"};
	const struct xc_input *inputs[] = {&input};
	size_t done;
	(void)state;
	given_up(&options, "corpora/golden/other.pack", 1);
	const struct xc_batch batch = {.worker = options, .jobs = 1, .arena = &arena, .take = take, .user = &taken};
	assert_null(xc_batch_run(&batch, inputs, 1, &done));
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.records[0]->status, XC_RECORD_OK);
	xc_fork_server_end(options.fork_server);
	xc_arena_fini(&arena);
}

/* A process blocked in the kernel is not waited for, even if it cannot be watched. */
static int leaving_without_descriptors(void)
{
	struct xc_worker_options options = {.finder = &finder};
	const struct rlimit none = {0, 0};
	if (xc_fork_server_start(&options, &options.fork_server))
		return 2;
	const pid_t pid = child(wait_for_ever);
	setrlimit(RLIMIT_NOFILE, &none);
	alarm(60);
	const int status = xc_fork_server_reap(options.fork_server, pid);
	kill(pid, SIGKILL);
	xc_fork_server_end(options.fork_server);
	return status;
}

static void a_process_that_cannot_be_watched_is_left(void **state)
{
	(void)state;
	assert_int_equal(ends(leaving_without_descriptors), 0);
}

/* Otherwise a worker's output could reach the terminal. */
static int shedding_without_null(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/dev", "tmpfs", 0, NULL))
		return CANNOT_MOUNT;
	return xc_worker_child_shed(NULL, 0);
}

static void without_dev_null_nothing_is_kept(void **state)
{
	const int status = ends(shedding_without_null);
	(void)state;
	if (status == CANNOT_MOUNT)
		check_skip("no mount may be made here");
	assert_int_equal(status, false);
}

static struct xc_error *run_many(size_t count, unsigned jobs, struct taken *taken, struct xc_arena *arena)
{
	const struct xc_input input = {.path = "a", .file = "corpora/golden/assert.pack"};
	const struct xc_input *list[64];
	const struct xc_batch batch = {.worker = {.finder = &finder, .host_files = true, .seconds = 20},
				       .jobs = jobs,
				       .arena = arena,
				       .take = take,
				       .user = taken};
	size_t done;
	for (size_t i = 0; i < count; i++)
		list[i] = &input;
	return xc_batch_run(&batch, list, count, &done);
}

static bool all_are_taken(struct taken *taken, struct xc_arena *arena)
{
	struct xc_error *err = run_many(20, 40, taken, arena);
	if (err || taken->count != 20)
		fprintf(stderr, "%zu of 20: %s\n", taken->count, err ? err->message : "no error");
	return !err && taken->count == 20;
}

static int with_few_descriptors(void)
{
	const struct rlimit few = {48, 48};
	struct xc_arena arena = {0};
	struct taken taken = {0};
	setrlimit(RLIMIT_NOFILE, &few);
	if (!all_are_taken(&taken, &arena))
		return 1;
	for (size_t i = 0; i < taken.count; i++)
		if (taken.records[i]->status != XC_RECORD_OK || taken.records[i]->unlooked)
			return 2;
	return 0;
}

static int with_few_processes(void)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	const struct rlimit few = {4, 4};
	if (!hermit_become())
		return CANNOT_BECOME;
	if (setrlimit(RLIMIT_NPROC, &few))
		return 3;
	return all_are_taken(&taken, &arena) ? 0 : 1;
}

static int as_somebody_else(void)
{
	struct xc_arena arena = {0};
	if (setgid(NOBODY) || setuid(NOBODY))
		return CANNOT_BECOME;
	const struct xc_record *record = record_of(scratch_path("private"), 0, &arena);
	return record->unlooked && !strcmp(record->why, "not examined: Permission denied") ? 0 : 1;
}

/* Kernels without seccomp filters, and containers that deny them. */
static int without_filters(void)
{
	struct xc_arena arena = {0};
	struct taken taken = {0};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	const struct scmp_arg_cmp mode = {0, SCMP_CMP_EQ, PR_SET_SECCOMP, 0};
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SYS_seccomp, 0) ||
	    seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EINVAL), SYS_prctl, 1, &mode) || seccomp_load(filter))
		return 3;
	struct xc_error *err = run_many(3, 2, &taken, &arena);
	return !err || err->code != XC_ERR_IO || !err->hint || taken.count ||
	       strncmp(err->message, "no core can be examined here: ", 30) != 0;
}

static void where_there_is_little_of_something_fewer_run_at_once(void **state)
{
	(void)state;
	assert_int_equal(ends(with_few_descriptors), 0);
	const int status = geteuid() == 0 ? ends(with_few_processes) : CANNOT_BECOME;
	if (status == CANNOT_BECOME)
		check_skip("there is no other user to become");
	assert_int_equal(status, 0);
}

static void what_may_not_be_read_is_not_looked_at(void **state)
{
	(void)state;
	if (geteuid() != 0)
		check_skip("only root may become another user");
	chmod(scratch_file("private", "x", 1), 0);
	chmod(scratch_dir(), 0755);
	const int status = ends(as_somebody_else);
	if (status == CANNOT_BECOME)
		check_skip("there is no other user to become");
	assert_int_equal(status, 0);
}

/* Between listing and opening: a link to a file that only we may read. */
static void what_was_exchanged_is_not_opened(void **state)
{
	struct xc_input input = {.path = "a", .file = scratch_path("exchanged")};
	struct stat st;
	(void)state;
	assert_int_equal(stat(scratch_file("exchanged", "core", 4), &st), 0);
	input.dev = st.st_dev;
	input.ino = st.st_ino;
	struct xc_corefd core = xc_corefd_open(&input);
	assert_true(core.fd >= 0);
	close(core.fd);
	assert_int_equal(rename(input.file, scratch_path("aside")), 0);
	assert_int_equal(symlink("/etc/passwd", input.file), 0);
	core = xc_corefd_open(&input);
	assert_int_equal(core.fd, -1);
	assert_true(core.hindered);
	assert_int_equal(unlink(input.file), 0);
	assert_int_equal(mkfifo(input.file, 0600), 0);
	core = xc_corefd_open(&input);
	assert_string_equal(core.why, "not a regular file");
	assert_int_equal(unlink(input.file), 0);
}

static void without_a_jail_nothing_is_looked_at(void **state)
{
	(void)state;
	assert_int_equal(ends(without_filters), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_core_gives_its_verdict),
		cmocka_unit_test(a_name_of_another_unit_is_found_in_the_jail),
		cmocka_unit_test(a_core_is_read_however_it_is_compressed),
		cmocka_unit_test(what_is_no_core_is_unreadable),
		cmocka_unit_test(too_little_memory_is_a_limit),
		cmocka_unit_test(many_run_at_once),
		cmocka_unit_test(without_room_to_inflate_it_is_not_looked_at),
		cmocka_unit_test(what_the_broker_lacked_is_no_timeout),
		cmocka_unit_test(without_its_broker_a_worker_is_ended),
		cmocka_unit_test(a_worker_that_was_refused_is_ended),
		cmocka_unit_test(a_core_of_thousands_of_files_is_looked_at),
		cmocka_unit_test(a_process_that_cannot_be_watched_is_left),
		cmocka_unit_test(without_dev_null_nothing_is_kept),
		cmocka_unit_test(only_the_place_that_was_waited_for_is_given_up),
		cmocka_unit_test(what_was_silent_is_asked_once_more_at_the_end),
		cmocka_unit_test(a_disk_that_is_full_is_not_the_core_s_a_bomb_is),
		cmocka_unit_test(where_there_is_little_of_something_fewer_run_at_once),
		cmocka_unit_test(what_may_not_be_read_is_not_looked_at),
		cmocka_unit_test(what_was_exchanged_is_not_opened),
		cmocka_unit_test(without_a_jail_nothing_is_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
