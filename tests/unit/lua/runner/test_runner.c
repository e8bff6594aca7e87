/* layer: lua tier: test
 *
 * Runs in a child and in this process give the same result; every way for a child to end is reported; nothing of it
 * reaches our streams. */
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/render/render.h"
#include "core/live/sandbox.h"
#include "core/report/stacktree.h"
#include "lua/runner/runner_impl.h"
#include "tests/support/check.h"

struct here {
	struct xc_process *process;
	struct xc_report *report;
	struct xc_error *err;
};

static struct xc_run run_of(const struct here *h, const char *text)
{
	return (struct xc_run){
		.process = h->process,
		.report = h->report,
		.name = "walk.lua",
		.chunk = "walk.lua",
		.text = text,
		.len = strlen(text),
		.limits = xc_limits_defaults(),
		.quiet = true,
	};
}

static struct here start(void)
{
	struct here h = {.process = xc_process_new("made", false), .report = xc_report_new("run")};
	xc_space_seal(h.process->space);
	xc_report_answer(h.report, NULL, "walk.lua");
	return h;
}

static void end(struct here *h)
{
	xc_error_free(h->err);
	xc_report_free(h->report);
	xc_process_close(h->process);
}

static char *json_of(const struct here *h)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	CHECK_OK(xc_render_json(h->report, &(struct xc_render_options){0}, out));
	fclose(out);
	return text;
}

static void check_json(const struct here *h, const char *part)
{
	char *text = json_of(h);
	if (!strstr(text, part))
		fail_msg("no %s in\n%s", part, text);
	free(text);
}

#define SECTIONS                                                                                                       \
	"local xcore = require 'xcore'; local s = xcore.report:section('one', 'One')\n"                                \
	"s:count('n', 7); s:bytes('size', 4096); s:warning('careful')\n"                                               \
	"local t = s:table('rows', {{'i', 'count'}, {'name', 'text'}})\n"                                              \
	"for i = 1, 20000 do t:row(i, 'row ' .. i) end\n"                                                              \
	"s:tree('tree', {unit = 'bytes'}):add({'a', 'b'}, 5)\n"                                                        \
	"local h = xcore.histogram(); h:add{1, 2, 3}; s:histogram('h', h); print('done', ...)\n"

static void a_child_answers_as_this_process_does(void **state)
{
	(void)state;
	static const char *const args[] = {"one", "--two"};
	char *answers[2];
	for (int i = 0; i < 2; i++) {
		struct here h = start();
		struct xc_run run = run_of(&h, SECTIONS);
		run.in_process = i == 1;
		run.args = args;
		run.arg_count = 2;
		CHECK_OK(xc_runner_run(&run));
		check_json(&h, "\"done\\tone\\t--two\"");
		check_json(&h, "{\"i\":20000,\"name\":\"row 20000\"}");
		answers[i] = json_of(&h);
		end(&h);
	}
	assert_string_equal(answers[0], answers[1]);
	free(answers[0]);
	free(answers[1]);
}

static void lines_go_out_before_the_end(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "print('a\\0\\27[1m', 1); print ''; print 'x\\ny'");
	char *text = NULL;
	size_t size;
	run.stream = open_memstream(&text, &size);
	CHECK_OK(xc_runner_run(&run));
	fclose(run.stream);
	assert_string_equal(text, "a\\x00\\x1b[1m\t1\n\nx\ny\n");
	assert_null(h.report->output);
	free(text);
	end(&h);
}

/* While the script still runs: its parent gets the line, and not because the script's time is over. */
static void a_line_is_there_while_the_script_goes_on(void **state)
{
	(void)state;
	int ends[2];
	char first[16] = {0};
	assert_int_equal(pipe(ends), 0);
	alarm(120);
	pid_t reader = fork();
	if (reader == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		struct here h = start();
		struct xc_run run = run_of(&h, "print 'begins'; while true do end");
		close(ends[0]);
		run.stream = fdopen(ends[1], "w");
		run.limits.seconds = 3600;
		xc_error_free(xc_runner_run(&run));
		_exit(0);
	}
	close(ends[1]);
	assert_true(read(ends[0], first, sizeof first - 1) > 0);
	assert_string_equal(first, "begins\n");
	kill(reader, SIGKILL);
	assert_int_equal(waitpid(reader, NULL, 0), reader);
	alarm(0);
	close(ends[0]);
}

static void a_reader_that_goes_away_ends_the_run(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "while true do print 'line' end");
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	run.stream = fdopen(ends[1], "w");
	signal(SIGPIPE, SIG_IGN);
	CHECK_OK(xc_runner_run(&run));
	assert_true(waitpid(-1, NULL, 0) > 0); /* no wait for it: we end, and it ends with us */
	fclose(run.stream);
	end(&h);
}

static void fails_with(const char *text, enum xc_error_code code, const char *part)
{
	struct here h = start();
	struct xc_run run = run_of(&h, text);
	run.limits.instructions = 5000000;
	run.limits.memory = 32 << 20;
	CHECK_ERROR(xc_runner_run(&run), code, part);
	check_json(&h, "\"made\":1");
	end(&h);
}

#define MADE "local xcore = require 'xcore'; xcore.report:section('one'):count('made', 1)\n"

static void a_script_that_fails_keeps_what_it_made(void **state)
{
	(void)state;
	fails_with(MADE "error 'no more'", XC_ERR_FORMAT, "walk.lua:2: no more");
	fails_with(MADE "local t = {} while true do t[#t + 1] = string.rep('x', 10000) end", XC_ERR_LIMIT,
		   "walk.lua: more than 32.0 MiB of memory");
	fails_with(MADE "for i = 1, 1e12 do local x = i end", XC_ERR_LIMIT,
		   "walk.lua: more than 5,000,000 instructions");
	fails_with(MADE "xcore.report:section('one'):count('Bad', 1)", XC_ERR_FORMAT,
		   "walk.lua:2: 'Bad' is not a valid key");
}

static void a_traceback_comes_home(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "local function inner() error 'deep' end\ninner()");
	struct xc_error *err = xc_runner_run(&run);
	assert_non_null(err);
	assert_non_null(err->lines);
	assert_non_null(strstr(err->lines, "walk.lua:2: in main chunk"));
	xc_error_free(err);
	end(&h);
}

static void lines_without_end_are_stopped(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "local x = string.rep('x', 1 << 20) while true do print(x) end");
	CHECK_ERROR(xc_runner_run(&run), XC_ERR_LIMIT, "walk.lua: more than 64.0 MiB of printed lines");
	run.limits.printed = UINT64_MAX; /* lines that are kept have a limit of their own */
	CHECK_ERROR(xc_runner_run(&run), XC_ERR_LIMIT, "walk.lua: more than 256 MiB of printed lines");
	end(&h);
}

/* ---- plugins ---- */

static const char plugin[] =
	"return {name = 'redis', about = 'x',\n"
	"analyze = function(t, r) r:section('redis'):count('a', 1); r:section('keys'):count('b', 2); print 'noted' "
	"end,\n"
	"commands = {keys = {about = 'x', run = function(t, r, args) r:section('keys'):text('args', args[2]) end}},\n"
	"flames = {memory = {about = 'x', unit = 'bytes', run = function(t, tree) tree:add({'db0', 'k'}, 10) end}}}\n";

static void plugins_are_called_by_their_entries(void **state)
{
	(void)state;
	static const char *const args[] = {"--db", "3"};
	struct here h = start();
	struct xc_run run = run_of(&h, plugin);
	run.plugin = "redis";
	run.what = XC_RUN_COMMAND;
	run.entry = "keys";
	run.args = args;
	run.arg_count = 2;
	CHECK_OK(xc_runner_run(&run));
	check_json(&h, "{\"key\":\"keys\",\"title\":\"keys\",\"fields\":{\"args\":\"3\"}}");
	run.entry = "nothing";
	CHECK_ERROR(xc_runner_run(&run), XC_ERR_NOT_FOUND, "there is no command 'nothing'");
	run.what = XC_RUN_FLAME;
	run.entry = "memory";
	CHECK_OK(xc_runner_run(&run));
	const struct xc_stacktree *tree = xc_runner_tree(h.report);
	assert_non_null(tree);
	assert_int_equal(tree->root.total, 10);
	assert_string_equal(tree->unit, "bytes");
	assert_string_equal(tree->title, "redis.memory of made");
	run = run_of(&h, "return 7");
	run.what = XC_RUN_ANALYZE;
	CHECK_ERROR(xc_runner_run(&run), XC_ERR_FORMAT, "walk.lua returns a number value, not a plugin");
	end(&h);
}

static void in_analyze_sections_bear_the_plugins_name(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, plugin);
	xc_report_section(h.report, "keys", "ours");
	run.plugin = "redis";
	run.what = XC_RUN_ANALYZE;
	CHECK_OK(xc_runner_run(&run));
	assert_string_equal(h.report->sections->key, "keys");
	assert_string_equal(h.report->sections->next->key, "redis");
	assert_string_equal(h.report->sections->next->next->key, "redis.keys");
	check_json(&h, "\"texts\":{\"printed\":\"noted\\n\"}");
	xc_runner_note(&run, xc_error_new(XC_ERR_FORMAT, "it failed"));
	check_json(&h, "\"messages\":[{\"severity\":\"warning\",\"text\":\"it failed\"");
	assert_null(h.report->sections->next->next->next);
	run.plugin = "other";
	xc_runner_note(&run, xc_error_new(XC_ERR_FORMAT, "it failed too"));
	assert_string_equal(h.report->sections->next->next->next->key, "other");
	end(&h);
}

/* ---- deaths ---- */

/* A child that runs the test's code instead of a script. */
static struct xc_collected collect(const struct xc_run *run, void (*child)(FILE *out), int *status)
{
	struct xc_collected c = {.run = run};
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		FILE *out = fdopen(ends[1], "w");
		child(out);
		fflush(out);
		_exit(3);
	}
	close(ends[1]);
	xc_runner_collect(&c, ends[0]);
	close(ends[0]);
	assert_int_equal(waitpid(pid, status, 0), pid);
	return c;
}

static void send_cut(FILE *out)
{
	fwrite("\1\5\0\0\0hello\2\377\0\0\0half", 1, 19, out);
}

static void send_garbage(FILE *out)
{
	fwrite("\7\1\0\0\0x", 1, 6, out);
}

static void send_too_long(FILE *out)
{
	fwrite("\1\377\377\377\377", 1, 5, out);
}

static void send_bad_end(FILE *out)
{
	fwrite("\3\4\0\0\0oops", 1, 9, out);
}

static void what_comes_is_checked(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "");
	int status;
	struct xc_collected c = collect(&run, send_cut, &status);
	assert_false(c.ended);
	assert_null(c.err);
	check_json(&h, "\"hello\"");
	xc_runner_collected_fini(&c);
	static void (*const senders[])(FILE *) = {send_garbage, send_too_long, send_bad_end};
	for (size_t i = 0; i < XC_COUNT(senders); i++) {
		c = collect(&run, senders[i], &status);
		assert_non_null(c.err);
		assert_int_equal(c.err->code, XC_ERR_FORMAT);
		assert_non_null(strstr(c.err->message, "walk.lua: "));
		xc_runner_collected_fini(&c);
	}
	end(&h);
}

/* CPU time of a process in its own program, in seconds, if its parent is that process; otherwise 0. */
static double busy_child_of(long wanted, const char *pid)
{
	char path[300];
	long parent = 0;
	unsigned long ticks = 0;
	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &parent, &ticks) != 2)
		parent = 0;
	if (f)
		fclose(f);
	return parent == wanted ? (double)ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* Waits until a child of this process has worked for a while: its script is in its loop. */
static pid_t wait_for_script(pid_t parent)
{
	for (;; usleep(10000)) {
		pid_t found = 0;
		struct dirent *entry;
		DIR *dir = opendir("/proc");
		while (dir && (entry = readdir(dir)))
			if (atol(entry->d_name) > 0 && atol(entry->d_name) != getpid() &&
			    busy_child_of(parent, entry->d_name) > 0.3)
				found = (pid_t)atol(entry->d_name);
		if (dir)
			closedir(dir);
		if (found)
			return found;
	}
}

/* An external signal, once the script has started. */
static void dies_of(int number, enum xc_error_code code, const char *part)
{
	struct here h = start();
	struct xc_run run = run_of(&h, "print 'before'; while true do end");
	pid_t killer = fork();
	if (killer == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(kill(wait_for_script(getppid()), number) ? 1 : 0);
	}
	time_t began = time(NULL);
	CHECK_ERROR(xc_runner_run(&run), code, part);
	assert_true(time(NULL) - began < 50); /* it would end by itself at 60 */
	check_json(&h, "\"before\"");
	assert_int_equal(waitpid(killer, NULL, 0), killer);
	end(&h);
}

static void deaths_are_told(void **state)
{
	(void)state;
	dies_of(SIGALRM, XC_ERR_LIMIT, "walk.lua: more than 60 s (raise it with --max-time)");
	dies_of(SIGKILL, XC_ERR_LIMIT, "walk.lua: was killed");
	dies_of(SIGTERM, XC_ERR_FORMAT, "walk.lua: died of SIGTERM");
}

/* Behind both fences, as for live processes: its own timer ends the run. */
static void a_run_behind_the_fences_ends_in_time(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		struct here h = start();
		struct xc_run run = run_of(&h, "print(1) while true do end");
		const struct xc_sandbox_options nowhere = {NULL, 0};
		run.limits.seconds = 2;
		xc_error_free(xc_sandbox_calls());
		xc_error_free(xc_sandbox_writes(&nowhere, NULL));
		struct xc_error *err = xc_runner_run(&run);
		_exit(err && err->code == XC_ERR_LIMIT && strstr(err->message, "more than 2 s") && h.report->output
			      ? 0
			      : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A child does not outlive us. */
static void a_child_ends_with_its_parent(void **state)
{
	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	alarm(120);
	pid_t pid = fork();
	if (pid == 0) {
		struct here h = start();
		struct xc_run run = run_of(&h, "while true do end");
		xc_error_free(xc_runner_run(&run));
		_exit(0);
	}
	wait_for_script(pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	int status;
	pid_t orphan = waitpid(-1, &status, 0); /* its child, ours now */
	assert_true(orphan > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	alarm(0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* The content of our buffers is written once. */
static void our_streams_are_left_alone(void **state)
{
	(void)state;
	char *path = strdup("/tmp/xc-runner-XXXXXX"), text[32] = {0};
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w+");
	struct here h = start();
	struct xc_run run = run_of(&h, "print 'x'");
	fputs("once ", f);
	CHECK_OK(xc_runner_run(&run));
	fflush(f);
	rewind(f);
	assert_non_null(fgets(text, sizeof text, f));
	assert_string_equal(text, "once ");
	fclose(f);
	unlink(path);
	free(path);
	end(&h);
}

static void what_was_used_is_told_for_stats(void **state)
{
	(void)state;
	struct here h = start();
	struct xc_run run = run_of(&h, "local t = {} for i = 1, 100000 do t[i] = i end");
	CHECK_OK(xc_runner_run(&run));
	const struct xc_table *table = h.report->run->items->table;
	assert_int_equal(table->row_count, 1);
	assert_string_equal(table->cells[0].text, "walk.lua");
	assert_true(table->cells[3].number > 100000 && table->cells[3].number < 1000000); /* steps */
	assert_true(table->cells[4].number > 100000 * 8 && table->cells[4].number < 8 << 20);
	end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_answers_as_this_process_does),
		cmocka_unit_test(lines_go_out_before_the_end),
		cmocka_unit_test(a_line_is_there_while_the_script_goes_on),
		cmocka_unit_test(a_reader_that_goes_away_ends_the_run),
		cmocka_unit_test(a_script_that_fails_keeps_what_it_made),
		cmocka_unit_test(a_traceback_comes_home),
		cmocka_unit_test(lines_without_end_are_stopped),
		cmocka_unit_test(plugins_are_called_by_their_entries),
		cmocka_unit_test(in_analyze_sections_bear_the_plugins_name),
		cmocka_unit_test(what_comes_is_checked),
		cmocka_unit_test(deaths_are_told),
		cmocka_unit_test(a_run_behind_the_fences_ends_in_time),
		cmocka_unit_test(a_child_ends_with_its_parent),
		cmocka_unit_test(our_streams_are_left_alone),
		cmocka_unit_test(what_was_used_is_told_for_stats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
