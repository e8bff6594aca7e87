/* runner_child: the run itself.
 *
 * A child leaves the standard streams but stderr (for progress) alone: unwritten data in their buffers belong to the
 * parent. It ends by _exit, without releasing anything. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/cursor.h"
#include "core/base/shared_status.h"
#include "core/base/progress.h"
#include "core/report/report_wire.h"
#include "core/report/stacktree.h"
#include "dwarf/cfi/foreign_frame_report.h"
#include "dwarf/cfi/foreign_frame_report.h"
#include "heap/graph/claim_transfer.h"
#include "heap/graph/claim_transfer.h"
#include "heap/session/session.h"
#include "lua/vm/bind.h"
#include "lua/report/bind_report.h"
#include "lua/target/bind_stacks.h"
#include "lua/shell/pretty.h"
#include "lua/runner/runner_impl.h"

static const double GRACE = 2; /* seconds for the error of the script and for sending the results */

enum { WIDTH = 100 };                         /* of tables that are shown */
enum { EAGER_LINES = 1000 };                  /* the first lines are sent at once */
static const uint64_t FLUSH_EVERY = 50000000; /* ns: later ones in batches */

/* ---- calling ---- */

static void push_target(lua_State *L)
{
	lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_getfield(L, -1, "xcore");
	lua_getfield(L, -1, "target");
	lua_replace(L, -3);
	lua_pop(L, 1);
}

static void push_args(lua_State *L, const struct xc_run *run)
{
	lua_createtable(L, (int)run->arg_count, 0);
	for (size_t i = 0; i < run->arg_count; i++) {
		lua_pushstring(L, run->args[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* Push the entry of one of the plugin's tables (argument 1 is the plugin). */
static void push_entry(lua_State *L, const char *table, const char *what, const char *entry)
{
	if (lua_getfield(L, 1, table) != LUA_TTABLE || lua_getfield(L, -1, entry) != LUA_TTABLE)
		xc_bind_fail(L, XC_ERR_NOT_FOUND, "there is no %s '%s'", what, entry);
}

static struct xc_stacktree *new_tree(const struct xc_run *run, struct xc_report *report, const char *unit)
{
	const char *title = xc_arena_printf(&report->arena, "%s.%s of %s", run->plugin ? run->plugin : run->chunk,
					    run->entry, run->process->target);
	struct xc_stacktree *tree = xc_report_new_tree(report, title, unit);
	xc_section_tree(xc_report_section(report, "flame", "Flame graph"), run->entry, tree);
	return tree;
}

static void call_analyze(lua_State *L)
{
	if (lua_getfield(L, 1, "analyze") == LUA_TNIL)
		return;
	push_target(L);
	xc_report_push(L);
	lua_call(L, 2, 0);
}

/* The heap is this process's, or a copy of the parent's: claims are sent as tables. */
static void call_claims(lua_State *L, const struct xc_run *run)
{
	if (lua_getfield(L, 1, "claims") == LUA_TNIL)
		return;
	push_target(L);
	lua_getfield(L, -1, "heap");
	push_target(L);
	lua_call(L, 1, 1);
	lua_call(L, 2, 0);
	struct xc_report *report = xc_bind_host(L)->options.report;
	xc_claim_transfer_report(xc_report_section(report, "claims", "Claims"), xc_heap_of(run->process, NULL));
}

static void call_stacks(lua_State *L, const struct xc_run *run)
{
	if (lua_getfield(L, 1, "stacks") == LUA_TNIL)
		return;
	push_target(L);
	xc_bind_push_stacks(L, run->plugin, run->detached);
	lua_call(L, 2, 0);
}

static void call_command(lua_State *L, const struct xc_run *run)
{
	push_entry(L, "commands", "command", run->entry);
	lua_getfield(L, -1, "run");
	push_target(L);
	xc_report_push(L);
	push_args(L, run);
	lua_call(L, 3, 0);
}

static void call_flame(lua_State *L, const struct xc_run *run)
{
	push_entry(L, "flames", "flame graph", run->entry);
	const char *unit = lua_getfield(L, -1, "unit") == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
	lua_getfield(L, -2, "run");
	push_target(L);
	xc_report_push_tree(L, new_tree(run, xc_bind_host(L)->options.report, unit));
	lua_call(L, 2, 0);
}

/* Arguments: the plugin, the run. */
static int call_plugin(lua_State *L)
{
	const struct xc_run *run = lua_touserdata(L, 2);
	if (!lua_istable(L, 1))
		return xc_bind_fail(L, XC_ERR_FORMAT, "%s returns a %s value, not a plugin", run->chunk,
				    luaL_typename(L, 1));
	if (run->what == XC_RUN_ANALYZE)
		call_analyze(L);
	else if (run->what == XC_RUN_CLAIMS)
		call_claims(L, run);
	else if (run->what == XC_RUN_STACKS)
		call_stacks(L, run);
	else if (run->what == XC_RUN_COMMAND)
		call_command(L, run);
	else
		call_flame(L, run);
	return 0;
}

/* ---- showing ---- */

/* Is it a table without a __tostring or __name? */
static bool is_plain_table(lua_State *L, int index)
{
	if (!lua_istable(L, index))
		return false;
	bool plain = luaL_getmetafield(L, index, "__tostring") == LUA_TNIL;
	lua_pop(L, plain ? 0 : 1);
	return plain;
}

static void print_text(lua_State *L, const char *text)
{
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		lua_getglobal(L, "print");
		lua_pushlstring(L, line, len);
		lua_call(L, 1, 0);
		line += len + (line[len] == '\n');
	}
}

/* Print all values like print, if none is a table; else one below the other. */
static int show_results(lua_State *L)
{
	struct xc_text *text = &xc_bind_host(L)->shown;
	int count = lua_gettop(L);
	bool tables = false;
	for (int i = 1; i <= count; i++)
		tables |= is_plain_table(L, i);
	if (!tables) {
		lua_getglobal(L, "print");
		lua_insert(L, 1);
		lua_call(L, count, 0);
		return 0;
	}
	for (int i = 1; i <= count; i++) {
		text->len = 0;
		xc_pretty_write(L, i, text, WIDTH);
		print_text(L, xc_text_string(text));
	}
	return 0;
}

static struct xc_error *show(struct xc_host *host)
{
	lua_pushcfunction(host->L, show_results);
	lua_insert(host->L, 1);
	return xc_host_call(host, lua_gettop(host->L) - 1);
}

static struct xc_error *call(struct xc_host *host, const struct xc_run *run)
{
	bool script = run->what == XC_RUN_SCRIPT;
	struct xc_error *err = xc_host_run(host, run->chunk, run->text, run->len, script ? run->args : NULL,
					   script ? run->arg_count : 0);
	if (err || script)
		return err || !run->shows ? err : show(host);
	lua_State *L = host->L;
	lua_settop(L, 1);
	lua_pushcfunction(L, call_plugin);
	lua_insert(L, 1);
	lua_pushlightuserdata(L, (void *)run);
	return xc_host_call(host, 2);
}

void xc_runner_perform(const struct xc_run *run, struct xc_report *report, xc_output_fn *output, void *user,
		       struct xc_ending *ending)
{
	struct xc_progress progress = xc_progress_start(run->name, run->quiet);
	const struct xc_host_options options = {
		.process = run->process,
		.report = report,
		.name = run->name,
		.limits = run->limits,
		.module_dirs = run->module_dirs,
		.module_dir_count = run->module_dir_count,
		.output = output,
		.output_user = user,
		.progress = &progress,
		.profiler = run->profiler,
		.redacts = run->redacts,
		.unsafe = run->unsafe,
	};
	struct xc_host *host = xc_host_new(&options);
	ending->err = call(host, run);
	if (run->what == XC_RUN_STACKS)
		xc_foreign_report(xc_report_section(report, "stacks", "Stacks"), run->process);
	ending->instructions = host->limit.steps;
	ending->memory = host->limit.peak;
	xc_progress_end(&progress);
	xc_report_finish_trees(report);
	if (run->in_process)
		xc_host_free(host);
}

/* ---- the child ---- */

struct pipe {
	FILE *out;
	uint64_t lines, flushed_ns;
};

static void put_head(FILE *out, enum xc_frame_kind kind, size_t len)
{
	putc_unlocked((int)kind, out);
	for (int shift = 0; shift < 32; shift += 8)
		putc_unlocked((int)(len >> shift & 0xff), out);
}

static void put_frame(FILE *out, enum xc_frame_kind kind, const char *bytes, size_t len)
{
	put_head(out, kind, len);
	fwrite(bytes, 1, len, out);
}

static void send_line(void *user, const char *line, size_t len)
{
	struct pipe *pipe = user;
	struct timespec now;
	put_frame(pipe->out, XC_FRAME_LINE, line, len < XC_FRAME_MOST ? len : XC_FRAME_MOST);
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (++pipe->lines > EAGER_LINES && ns - pipe->flushed_ns < FLUSH_EVERY)
		return;
	fflush(pipe->out);
	pipe->flushed_ns = ns;
}

/* The report is sent in frames while it is written. */
static ssize_t write_part(void *cookie, const char *bytes, size_t len)
{
	put_frame(cookie, XC_FRAME_REPORT, bytes, len);
	return ferror((FILE *)cookie) ? -1 : (ssize_t)len;
}

static struct xc_error *send_report(FILE *out, const struct xc_report *report)
{
	FILE *parts = fopencookie(out, "w", (cookie_io_functions_t){.write = write_part});
	if (!parts)
		return xc_error_errno(errno, "sending a report");
	struct xc_error *err = xc_report_write(report, parts);
	fclose(parts);
	return err;
}

/* Default signals; the timer; the child ends with the parent. */
static void settle(const struct xc_run *run, pid_t parent)
{
	static const int defaults[] = {SIGALRM, SIGPIPE};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < XC_COUNT(defaults); i++) {
		signal(defaults[i], SIG_DFL);
		sigaddset(&set, defaults[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	xc_shared_status_allow_ptrace();
	xc_limit_arm(&run->limits, GRACE);
}

/* ---- endings ---- */

static void add_uint(struct xc_text *text, uint64_t number)
{
	for (int shift = 0; shift < 64; shift += 8)
		xc_text_char(text, (char)(number >> shift & 0xff));
}

static void add_string(struct xc_text *text, const char *string)
{
	xc_text_addn(text, string ? string : "", string ? strlen(string) + 1 : 1);
}

static void write_ending(struct xc_text *text, const struct xc_ending *ending)
{
	const struct xc_error *err = ending->err;
	add_uint(text, ending->instructions);
	add_uint(text, ending->memory);
	add_uint(text, err ? (uint64_t)err->code : 0);
	add_uint(text, err ? err->addr : 0);
	add_string(text, err ? err->message : NULL);
	add_string(text, err ? err->hint : NULL);
	add_string(text, err ? err->lines : NULL);
}

/* ---- the child ---- */

_Noreturn void xc_runner_child(const struct xc_run *run, int fd, pid_t parent)
{
	struct pipe pipe = {.out = fdopen(fd, "w")};
	struct xc_report *report = xc_report_new("run");
	struct xc_ending ending;
	struct xc_text last = {0};
	struct xc_error *err;
	settle(run, parent);
	if (!pipe.out)
		_exit(1);
	xc_runner_perform(run, report, send_line, &pipe, &ending);
	if ((err = send_report(pipe.out, report)) && !ending.err)
		ending.err = err;
	write_ending(&last, &ending);
	put_frame(pipe.out, XC_FRAME_ENDED, xc_text_string(&last), last.len);
	if (run->unsafe)
		fflush(stdout); /* of io.write: the parent's data were written before the fork */
	_exit(fflush(pipe.out) || ferror(pipe.out));
}

/* ---- and back ---- */

struct xc_error *xc_runner_read_ending(const void *bytes, size_t len, struct xc_ending *ending_out)
{
	struct xc_cursor c = xc_cursor(bytes, len, "the end of a run");
	struct xc_ending ending = {0};
	uint64_t code, addr;
	const char *message, *hint, *lines;
	struct xc_error *err;
	if ((err = xc_cursor_uint(&c, 8, &ending.instructions)) || (err = xc_cursor_uint(&c, 8, &ending.memory)) ||
	    (err = xc_cursor_uint(&c, 8, &code)) || (err = xc_cursor_uint(&c, 8, &addr)) ||
	    (err = xc_cursor_string(&c, &message)) || (err = xc_cursor_string(&c, &hint)) ||
	    (err = xc_cursor_string(&c, &lines)))
		return err;
	if (code > XC_ERR_TORN)
		return xc_error_new(XC_ERR_FORMAT, "the end of a run: damaged");
	if (code) {
		ending.err = xc_error_new((enum xc_error_code)code, "%s", message);
		ending.err->addr = addr;
		if (*hint)
			xc_error_hint(ending.err, "%s", hint);
		if (*lines)
			xc_error_lines(ending.err, lines);
	}
	*ending_out = ending;
	return NULL;
}
