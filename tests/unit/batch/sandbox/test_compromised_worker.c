/* layer: batch */
/* worker: the parent's handling of a worker compromised by its core. A function of this test replaces examine.c's: it
 * runs in the sandbox with the descriptors of a worker. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch/run/batch.h"
#include "batch/record/examine.h"
#include "batch/sandbox/fork_server.h"
#include "tests/support/check.h"

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = true }; /* a sanitizer's memory cannot be limited */
#else
enum { SANITIZED = false };
#endif

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

/* ---- attacks ---- */

static void say(const char *text)
{
	if (write(RESULT, text, strlen(text)) < 0)
		_exit(7);
}

static void goes_on(void)
{
}

static void spin(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static void wait_forever(void)
{
	char byte;
	while (read(BROKER, &byte, 1) != 0)
		;
	spin();
}

static void says_garbage(void)
{
	say("\x01\xff no JSON at all \x1b[2J");
	_exit(0);
}

static void says_nothing(void)
{
	_exit(0);
}

static void says_half(void)
{
	say("{\"schema\": \"xcore.record/1\", \"status\": \"ok\",");
	_exit(0);
}

static void says_two(void)
{
	for (int i = 0; i < 2; i++)
		say("{\"schema\":\"xcore.record/1\",\"status\":\"limit\",\"path\":\"a\",\"why\":\"b\"}\n");
	_exit(0);
}

static void says_deep(void)
{
	for (int i = 0; i < 100000; i++)
		say("[[[[[[[[");
	_exit(0);
}

static void says_another_schema(void)
{
	say("{\"schema\":\"xcore.part/1\",\"status\":\"ok\",\"path\":\"a\"}");
	_exit(0);
}

static void says_endlessly(void)
{
	for (;;)
		say("{\"schema\": \"xcore.record/1\", \"status\": \"ok\", \"headline\": \"and so on");
}

static void says_another_path(void)
{
	say("{\"schema\":\"xcore.record/1\",\"status\":\"ok\",\"path\":\"../../etc/"
	    "passwd\",\"stored\":1,\"class\":\"null-read\","
	    "\"severity\":\"low\",\"confidence\":\"likely\",\"headline\":\"\\u001b]0;title\\u0007::error::\"}");
	_exit(0);
}

static void closes_its_pipe_and_spins(void)
{
	close(RESULT);
	spin();
}

static void closes_all_and_spins(void)
{
	for (int fd = 0; fd < 64; fd++)
		close(fd);
	spin();
}

static void is_deaf_and_spins(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	spin();
}

static void speaks_and_waits(void)
{
	say("{}");
	wait_forever();
}

/* Complete packets; the answers are not read. */
static void floods_the_broker(void)
{
	static const char request[] = "\0\0\0\0\0\0\0\0\0\0/bin/true"; /* a file of the host */
	for (;;)
		if (write(BROKER, request, sizeof request) < 0)
			spin();
}

static void breaks_the_rules_of_the_broker(void)
{
	if (write(BROKER, "x", 1) != 1)
		_exit(7);
	wait_forever();
}

static void says_nothing_to_the_broker(void)
{
	if (write(BROKER, "", 0))
		_exit(7);
	wait_forever();
}

static char *volatile nowhere = NULL;

static void crashes(void)
{
	*nowhere = 1;
}

static void speaks_and_crashes(void)
{
	say("{\"schema\":\"xcore.record/1\",\"status\":\"limit\",\"path\":\"a\",\"why\":\"b\"}");
	*nowhere = 1;
}

static void opens_a_file(void)
{
	syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
}

static void forks(void)
{
	syscall(SYS_fork);
}

static void connects(void)
{
	syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static void traces(void)
{
	syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

static void kills_its_parent(void)
{
	syscall(SYS_kill, -1, SIGKILL);
}

static void executes(void)
{
	syscall(SYS_execve, "/bin/true", NULL, NULL);
}

/* It has files for reading, the unnamed one that it may write, and nothing of its parent's. */
static void looks_for_descriptors(void)
{
	struct stat st;
	for (int fd = RESULT; fd < 4096; fd++)
		if (fd != RESULT && fd != BROKER && !fstat(fd, &st) &&
		    (!S_ISREG(st.st_mode) || (st.st_nlink && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)))
			spin();
}

static void takes_all_memory(void)
{
	for (;;)
		memset(xc_alloc(1 << 20), 1, 1 << 20);
}

static void takes_memory_for_its_heap(void)
{
	if (with_heap)
		takes_all_memory();
}

static void crashes_at_its_heap(void)
{
	if (with_heap)
		*nowhere = 1;
}

/* As libdw does. */
static void ends_as_libdw_without_memory(void)
{
	if (with_heap)
		exit(EXIT_FAILURE);
}

static const char *secret; /* its address when this program started */
static size_t secret_size;

static void looks_for_secrets(void)
{
	for (size_t i = 0; i < secret_size; i++)
		if (secret[i])
			spin();
	if (environ && *environ)
		spin();
}

static char told[32]; /* in the parent's memory: of finished cores */

static void looks_for_other_cores(void)
{
	for (size_t i = 0; i < sizeof told; i++)
		if (told[i])
			spin();
}

static bool *failed_before; /* of all processes */

static void fails_for_once(void)
{
	if (!*failed_before) {
		*failed_before = true;
		_exit(9); /* like a worker that could not enter its sandbox */
	}
}

static void fails_each_time(void)
{
	_exit(9);
}

static void fails_with_words(void)
{
	say("{\"schema\":\"xcore.record/1\",\"status\":\"unreadable\",\"path\":\"a\",\"why\":\"the disk is full\"}");
	_exit(9);
}

/* ---- outcomes ---- */

struct taken {
	const struct xc_record *record;
};

static struct xc_error *take(void *user, const struct xc_input *input, struct xc_record *record)
{
	(void)input;
	((struct taken *)user)->record = record;
	return NULL;
}

static const struct xc_finder finder = {.quiet = true};
static const struct xc_input input = {.path = "the core", .file = "corpora/golden/assert.pack", .size = 77};

/* The time limit for an attack that never ends; all others may take longer. */
enum { BRIEF = 1, LONG = 60 };

static const struct xc_record *after_within(unsigned seconds, void (*what)(void), struct xc_arena *arena)
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

static const struct xc_record *after(void (*what)(void), struct xc_arena *arena)
{
	return after_within(LONG, what, arena);
}

static void expect(void (*what)(void), enum xc_record_status status, const char *why)
{
	struct xc_arena arena = {0};
	const struct xc_record *record = after_within(status == XC_RECORD_TIMEOUT ? BRIEF : LONG, what, &arena);
	if (record->status != status || !strstr(record->why, why))
		fail_msg("\"%s\" instead of \"%s\"", record->why, why);
	xc_arena_fini(&arena);
}

static void a_worker_that_is_none_gives_a_record(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	assert_int_equal(after(goes_on, &arena)->status, XC_RECORD_OK);
	assert_int_equal(after(looks_for_descriptors, &arena)->status, XC_RECORD_OK);
	xc_arena_fini(&arena);
}

static void what_is_no_record_is_told_to_be_none(void **state)
{
	static const char none[] = "the worker's output is not a record";
	(void)state;
	expect(says_garbage, XC_RECORD_DIED, none);
	expect(says_nothing, XC_RECORD_DIED, none);
	expect(says_half, XC_RECORD_DIED, none);
	expect(says_two, XC_RECORD_DIED, none);
	expect(says_deep, XC_RECORD_DIED, none);
	expect(says_another_schema, XC_RECORD_DIED, none);
	expect(says_endlessly, XC_RECORD_LIMIT, "too long");
}

static void its_path_and_size_are_not_its_own(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	const struct xc_record *record = after(says_another_path, &arena);
	assert_int_equal(record->status, XC_RECORD_OK);
	assert_string_equal(record->headline, "\x1b]0;title\a::error::"); /* hostile text: exports escape it */
	xc_arena_fini(&arena);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void what_does_not_end_is_ended_in_time(void **state)
{
	static void (*const whats[])(void) = {wait_forever, closes_its_pipe_and_spins, closes_all_and_spins,
					      is_deaf_and_spins, speaks_and_waits};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(whats); i++) {
		double took = INFINITY;
		for (int tries = 0; tries < 10 && took > 1.2; tries++) { /* the machine may stall for a moment */
			const double from = now();
			expect(whats[i], XC_RECORD_TIMEOUT, "--timeout");
			took = fmin(took, now() - from);
		}
		if (took < 0.98 || took > 1.2)
			fail_msg("attack %zu ended after %g s", i, took);
	}
}

/* Its broker no longer answers: the worker is killed then, not at its time limit. */
static void what_breaks_the_rules_of_the_broker_is_ended_at_once(void **state)
{
	(void)state;
	double from = now();
	expect(floods_the_broker, XC_RECORD_LIMIT, "more files than");
	assert_true(now() - from < LONG / 2);
	from = now();
	expect(breaks_the_rules_of_the_broker, XC_RECORD_DIED, "a malformed request");
	assert_true(now() - from < LONG / 2);
	expect(says_nothing_to_the_broker, XC_RECORD_DIED, "a malformed request");
}

static void deaths_are_told(void **state)
{
	(void)state;
	if (!SANITIZED) { /* it reports crashes itself */
		expect(crashes, XC_RECORD_DIED, "signal 11");
		expect(speaks_and_crashes, XC_RECORD_DIED, "signal 11");
	}
	expect(opens_a_file, XC_RECORD_DIED, "its sandbox forbids");
	expect(forks, XC_RECORD_DIED, "its sandbox forbids");
	expect(connects, XC_RECORD_DIED, "its sandbox forbids");
	expect(traces, XC_RECORD_DIED, "its sandbox forbids");
	expect(kills_its_parent, XC_RECORD_DIED, "its sandbox forbids");
	expect(executes, XC_RECORD_DIED, "its sandbox forbids");
}

static void a_second_try_leaves_the_heap_out(void **state)
{
	static void (*const whats[])(void) = {takes_memory_for_its_heap, ends_as_libdw_without_memory,
					      crashes_at_its_heap};
	struct xc_arena arena = {0};
	(void)state;
	if (SANITIZED)
		check_skip("a sanitizer takes the crashes");
	for (size_t i = 0; i < XC_COUNT(whats); i++) {
		const struct xc_record *record = after(whats[i], &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_non_null(strstr(record->note, "heap"));
	}
	assert_null(after(goes_on, &arena)->note);
	expect(takes_all_memory, XC_RECORD_LIMIT, "--worker-memory");
	xc_arena_fini(&arena);
}

static void what_is_not_the_cores_is_tried_again_and_then_told(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	failed_before = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct xc_record *record = after(fails_for_once, &arena);
	assert_true(*failed_before);
	assert_int_equal(record->status, XC_RECORD_OK);
	assert_false(record->unlooked);
	record = after(fails_each_time, &arena);
	assert_false(record->unlooked); /* otherwise each core could exclude itself */
	assert_int_equal(record->status, XC_RECORD_DIED);
	assert_string_equal(record->why, "the worker gave up: the worker ended before it had a core");
	record = after(fails_with_words, &arena);
	assert_int_equal(record->status, XC_RECORD_DIED);
	assert_string_equal(record->why, "the worker gave up: the disk is full");
	assert_false(after(says_garbage, &arena)->unlooked);
	munmap(failed_before, 1);
	xc_arena_fini(&arena);
}

static void it_does_not_know_the_environment(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	assert_true(secret_size > 0 && *secret);
	assert_int_equal(after(looks_for_secrets, &arena)->status, XC_RECORD_OK);
	assert_true(*secret); /* the parent's own is unchanged */
	xc_arena_fini(&arena);
}

static struct xc_error *tell(void *user, const struct xc_input *of, struct xc_record *record)
{
	strcpy(told, "what the first one has told");
	return take(user, of, record);
}

static void it_does_not_know_what_others_told(void **state)
{
	const struct xc_input *inputs[] = {&input, &input, &input};
	struct xc_arena arena = {0};
	struct taken taken = {NULL};
	const struct xc_batch batch = {.worker = {.finder = &finder, .seconds = LONG, .memory = 64 << 20},
				       .jobs = 1,
				       .arena = &arena,
				       .take = tell,
				       .user = &taken};
	size_t done;
	(void)state;
	attack = looks_for_other_cores;
	assert_null(xc_batch_run(&batch, inputs, XC_COUNT(inputs), &done));
	assert_int_equal(done, XC_COUNT(inputs));
	assert_true(*told);
	assert_int_equal(taken.record->status, XC_RECORD_OK);
	xc_arena_fini(&arena);
}

/* ---- surroundings ---- */

static void works_a_moment(void)
{
	const double from = now();
	while (now() - from < 0.3)
		;
}

/* The user's ^C is for the parent: a worker killed by it would otherwise become a record of the core. */
static int interrupted(void)
{
	struct xc_arena arena = {0};
	struct xc_worker_options options = {.finder = &finder, .seconds = LONG};
	struct xc_worker *worker;
	attack = works_a_moment;
	setpgid(0, 0);
	signal(SIGINT, SIG_IGN);
	if (xc_fork_server_start(&options, &options.fork_server) || xc_worker_start(&input, &options, &worker))
		return 2;
	const double from = now();
	while (now() - from < 0.1)
		;
	kill(0, SIGINT);
	while (!xc_worker_serve(worker))
		;
	const bool good = xc_worker_finish(worker, &arena)->status == XC_RECORD_OK;
	xc_fork_server_end(options.fork_server);
	return !good;
}

static void a_signal_to_the_terminal_is_not_the_workers(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(interrupted());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static size_t descriptors(void)
{
	size_t count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void nothing_is_left_behind(void **state)
{
	const size_t before = descriptors();
	(void)state;
	expect(says_garbage, XC_RECORD_DIED, "");
	expect(says_endlessly, XC_RECORD_LIMIT, "");
	expect(closes_all_and_spins, XC_RECORD_TIMEOUT, "");
	assert_int_equal(descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* not a child */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_that_is_none_gives_a_record),
		cmocka_unit_test(what_is_no_record_is_told_to_be_none),
		cmocka_unit_test(its_path_and_size_are_not_its_own),
		cmocka_unit_test(what_does_not_end_is_ended_in_time),
		cmocka_unit_test(what_breaks_the_rules_of_the_broker_is_ended_at_once),
		cmocka_unit_test(deaths_are_told),
		cmocka_unit_test(a_second_try_leaves_the_heap_out),
		cmocka_unit_test(what_is_not_the_cores_is_tried_again_and_then_told),
		cmocka_unit_test(it_does_not_know_the_environment),
		cmocka_unit_test(it_does_not_know_what_others_told),
		cmocka_unit_test(a_signal_to_the_terminal_is_not_the_workers),
		cmocka_unit_test(nothing_is_left_behind),
	};
	secret = *environ;
	secret_size = secret ? strlen(secret) : 0;
	return cmocka_run_group_tests_name("takeover", tests, NULL, NULL);
}
