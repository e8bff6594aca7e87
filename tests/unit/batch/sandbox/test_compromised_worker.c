/* layer: batch tier: test */
/* worker: the parent's handling of a worker compromised by its core. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/batch/sandbox/compromised.h"

/* ---- attacks ---- */

static void wait_forever(void)
{
	char byte;
	while (read(BROKER, &byte, 1) != 0)
		;
	spin();
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

/* ---- outcomes ---- */

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
		cmocka_unit_test(what_is_no_record_is_told_to_be_none),
		cmocka_unit_test(its_path_and_size_are_not_its_own),
		cmocka_unit_test(what_does_not_end_is_ended_in_time),
		cmocka_unit_test(what_breaks_the_rules_of_the_broker_is_ended_at_once),
		cmocka_unit_test(deaths_are_told),
		cmocka_unit_test(nothing_is_left_behind),
	};
	return cmocka_run_group_tests_name("takeover", tests, NULL, NULL);
}
