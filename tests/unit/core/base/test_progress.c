/* layer: core */
#include "tests/support/check.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/progress.h"

/* The output of `act` on stderr, which is a terminal or a pipe. */
static size_t capture(bool terminal, void (*act)(void), char *out, size_t room)
{
	int master, slave, ends[2];
	if (terminal)
		assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	else
		assert_int_equal(pipe(ends), 0);
	if (!terminal)
		master = ends[0], slave = ends[1];
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(slave, 2);
		act();
		_exit(0);
	}
	close(slave);
	size_t got = 0;
	for (ssize_t n; got < room && (n = read(master, out + got, room - got)) > 0;)
		got += (size_t)n;
	close(master);
	waitpid(pid, NULL, 0);
	return got;
}

/* Two seconds of work by the bar's own clock. */
static void work(bool quiet, uint64_t done, uint64_t total)
{
	struct xc_progress p = xc_progress_start("inflating", quiet);
	p.started_ns -= UINT64_C(2000000000);
	xc_progress_step(&p, done, total);
	xc_progress_end(&p);
}

/* That many seconds of work, one fifth of which is done. */
static void fifth(uint64_t seconds)
{
	struct xc_progress p = xc_progress_start("triage", false);
	p.started_ns -= seconds * UINT64_C(1000000000);
	xc_progress_step(&p, 20, 100);
	xc_progress_end(&p);
}

static void one_second(void)
{
	fifth(1);
}

static void ten_seconds(void)
{
	fifth(10);
}

static void three_minutes(void)
{
	fifth(180);
}

static void two_hours(void)
{
	fifth(7200);
}

static void none_of_it(void)
{
	struct xc_progress p = xc_progress_start("triage", false);
	p.started_ns -= UINT64_C(10000000000);
	xc_progress_step(&p, 0, 100);
	xc_progress_end(&p);
}

static void half(void)
{
	work(false, 50, 100);
}

static void half_quietly(void)
{
	work(true, 50, 100);
}

static void more_than_all(void)
{
	work(false, UINT64_MAX, 3);
}

static void of_unknown_length(void)
{
	work(false, 50, 0);
}

static void quick(void)
{
	struct xc_progress p = xc_progress_start("quick", false);
	xc_progress_step(&p, 1, 2);
	xc_progress_end(&p);
}

static void a_terminal_sees_the_bar_and_then_a_clear_line(void **state)
{
	(void)state;
	char out[512];
	size_t got = capture(true, half, out, sizeof out - 1);
	out[got] = '\0';
	assert_non_null(strstr(out, "inflating"));
	assert_non_null(strstr(out, "50 %"));
	assert_string_equal(out + got - 4, "\r\033[K");
}

static void how_long_it_will_take_is_told_once_something_is_known(void **state)
{
	static const struct {
		void (*act)(void);
		const char *left;
	} cases[] = {{ten_seconds, " 20 %, 40 s left\033"},
		     {three_minutes, ", 12 min left\033"},
		     {two_hours, ", 8 h left\033"}};
	char out[512];
	(void)state;
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		out[capture(true, cases[i].act, out, sizeof out - 1)] = '\0';
		if (!strstr(out, cases[i].left))
			fail_msg("%s", out);
	}
	out[capture(true, one_second, out, sizeof out - 1)] = '\0';
	assert_null(strstr(out, "left"));
	out[capture(true, none_of_it, out, sizeof out - 1)] = '\0';
	assert_non_null(strstr(out, "  0 %\033"));
}

static void a_pipe_and_quiet_see_nothing(void **state)
{
	(void)state;
	char out[64];
	assert_int_equal(capture(false, half, out, sizeof out), 0);
	assert_int_equal(capture(true, half_quietly, out, sizeof out), 0);
}

static void short_work_shows_nothing(void **state)
{
	(void)state;
	char out[64];
	assert_int_equal(capture(true, quick, out, sizeof out), 0);
}

static void odd_counts_stay_in_bounds(void **state)
{
	(void)state;
	char out[512];
	size_t got = capture(true, more_than_all, out, sizeof out - 1);
	out[got] = '\0';
	assert_non_null(strstr(out, "100 %"));
	got = capture(true, of_unknown_length, out, sizeof out - 1);
	out[got] = '\0';
	assert_non_null(strstr(out, "inflating"));
	assert_null(strchr(out, '%'));
}

static void no_progress_is_fine(void **state)
{
	(void)state;
	xc_progress_step(NULL, 1, 2);
	xc_progress_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_sees_the_bar_and_then_a_clear_line),
		cmocka_unit_test(how_long_it_will_take_is_told_once_something_is_known),
		cmocka_unit_test(a_pipe_and_quiet_see_nothing),
		cmocka_unit_test(short_work_shows_nothing),
		cmocka_unit_test(odd_counts_stay_in_bounds),
		cmocka_unit_test(no_progress_is_fine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
