/* shell: a loop of read, run, show.
 *
 * A chunk is first compiled as an expression ("return …"), then as statements; when Lua reports that it is
 * incomplete, more lines are read. The results on the stack are shown by pretty.c. The line editor is libedit, with
 * completion by complete.c. A signal handler for ^C only sets flags: it interrupts the read of the editor, and a
 * running chunk checks the flag periodically (limit.h). */
#include "lua/shell/shell.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/say.h"
#include "core/render/render.h"
#include "lua/vm/bind.h"
#include "lua/shell/complete.h"
#include "lua/shell/pretty.h"
#include "lua/shell/shell_help.h"

enum { HISTORY_LINES = 2000, MAX_CHUNK = 1 << 20, LIST_COLUMNS = 80, CTRL_D = 4 };

struct shell {
	const struct xc_shell_options *options;
	struct xc_host *host;
	EditLine *editor; /* NULL: input is not a terminal */
	History *history;
	struct xc_text chunk; /* lines of an incomplete chunk */
};

/* For the signal handlers: there is one shell at a time. */
static volatile sig_atomic_t interrupted;
static struct xc_host *running;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
	if (running)
		running->limit.interrupted = 1;
}

/* ---- showing ---- */

static void put(const struct shell *shell, const char *style, const char *text)
{
	FILE *out = shell->options->out;
	if (shell->options->color && style)
		fprintf(out, "\033[%sm%s\033[m\n", style, text);
	else
		fprintf(out, "%s\n", text);
}

/* Everything that is not the shell's own goes through here: redacted and escaped. */
static void put_clean(const struct shell *shell, const char *style, const char *before, const char *line, size_t len)
{
	xc_auto(xc_text_fini) struct xc_text without = {0}, text = {0};
	xc_say_redacted_line(&without, line, len);
	xc_text_add(&text, before);
	xc_render_printed(&text, xc_text_string(&without), without.len);
	xc_text_disarm(&text, 0);
	put(shell, style, xc_text_string(&text));
}

static void print_line(void *user, const char *line, size_t len)
{
	const struct shell *shell = user;
	put_clean(shell, NULL, "", line, len);
	if (shell->editor)
		fflush(shell->options->out); /* a person is at the terminal */
}

static void put_escaped(const struct shell *shell, const char *style, const char *before, const char *line)
{
	put_clean(shell, style, before, line, strlen(line));
}

static void show_error(struct shell *shell, struct xc_error *err)
{
	fflush(shell->options->out);
	put_escaped(shell, "31", "", err->message);
	if (err->lines)
		put_escaped(shell, "2", "", err->lines);
	if (err->hint)
		put_escaped(shell, NULL, "  hint: ", err->hint);
	xc_error_free(err);
}

/* Protected: showing a value may call its __tostring. The shell is the light userdata below the values. */
static int show_results(lua_State *L)
{
	struct shell *shell = lua_touserdata(L, 1);
	struct xc_text *text = &shell->host->shown;
	int count = lua_gettop(L);
	for (int i = 2; i <= count; i++) {
		text->len = 0;
		xc_pretty_write(L, i, text, shell->options->width);
		put_clean(shell, NULL, "", xc_text_string(text), text->len);
	}
	return 0;
}

/* ---- running ---- */

static struct xc_host *host_new(struct shell *shell)
{
	struct xc_host_options options = shell->options->host;
	options.output = print_line;
	options.output_user = shell;
	struct xc_host *host = xc_host_new(&options);
	xc_shell_help_open(host->L);
	return host;
}

/* "return …" of the chunk when that compiles, else the chunk as it is. */
static const char *as_expression(struct shell *shell, struct xc_text *text)
{
	lua_State *L = shell->host->L;
	const char *chunk = xc_text_string(&shell->chunk);
	chunk += chunk[0] == '='; /* as in older versions of Lua */
	xc_text_add(text, "return ");
	xc_text_add(text, chunk);
	int status = luaL_loadbufferx(L, text->bytes, text->len, "=shell", "t");
	lua_settop(L, 0);
	return status == LUA_OK ? xc_text_string(text) : chunk;
}

/* Does the error mean that the chunk is incomplete? */
static bool is_incomplete(struct shell *shell, const char *code)
{
	static const char mark[] = "<eof>";
	lua_State *L = shell->host->L;
	bool incomplete = false;
	if (luaL_loadbufferx(L, code, strlen(code), "=shell", "t") == LUA_ERRSYNTAX) {
		size_t len;
		const char *message = lua_tolstring(L, -1, &len);
		incomplete = len >= strlen(mark) && strcmp(message + len - strlen(mark), mark) == 0;
	}
	lua_settop(L, 0);
	return incomplete;
}

static void run(struct shell *shell, const char *code)
{
	lua_State *L = shell->host->L;
	shell->host->limit.interrupted = 0;
	running = shell->host;
	if (interrupted) /* since the line was read */
		running->limit.interrupted = 1;
	struct xc_error *err = xc_host_run(shell->host, "shell", code, strlen(code), NULL, 0);
	if (!err) {
		int count = lua_gettop(L);
		lua_pushcfunction(L, show_results);
		lua_pushlightuserdata(L, shell);
		lua_rotate(L, 1, 2);
		if (lua_pcall(L, count + 1, 0, 0) != LUA_OK)
			err = xc_bind_error_take(L);
	}
	running = NULL;
	lua_settop(L, 0);
	bool spent = err && shell->host->limit.tripped && !interrupted;
	if (err)
		show_error(shell, err);
	if (spent) {
		put(shell, "33", "the shell restarts: its variables are lost");
		xc_host_free(shell->host);
		shell->host = host_new(shell);
	}
}

/* One more line. */
static void take(struct shell *shell, const char *line)
{
	struct xc_text expression = {0};
	xc_text_add(&shell->chunk, line);
	const char *code = as_expression(shell, &expression);
	if (!is_incomplete(shell, code) || shell->chunk.len > MAX_CHUNK) {
		if (xc_text_string(&shell->chunk)[strspn(xc_text_string(&shell->chunk), " \t\n")])
			run(shell, code);
		xc_text_fini(&shell->chunk);
	}
	xc_text_fini(&expression);
	fflush(shell->options->out);
}

/* ---- the editor ---- */

static struct shell *of_editor(EditLine *editor)
{
	struct shell *shell = NULL;
	el_get(editor, EL_CLIENTDATA, &shell);
	return shell;
}

static char *prompt(EditLine *editor)
{
	static char first[] = "xcore> ", more[] = "   ..> ";
	return of_editor(editor)->chunk.len > 0 ? more : first;
}

static void list_words(const struct xc_completions *all)
{
	FILE *out = stdout;
	size_t widest = 0, column = 0;
	for (size_t i = 0; i < all->count; i++)
		widest = strlen(all->words[i]) > widest ? strlen(all->words[i]) : widest;
	fputc('\n', out);
	for (size_t i = 0; i < all->count; i++) {
		fprintf(out, "%-*s", (int)widest + 2, all->words[i]);
		column += widest + 2;
		if (column + widest > LIST_COLUMNS || i + 1 == all->count) {
			fputc('\n', out);
			column = 0;
		}
	}
	if (all->more)
		fprintf(out, "… and more\n");
	fflush(out);
}

static unsigned char complete(EditLine *editor, int character)
{
	struct shell *shell = of_editor(editor);
	const LineInfo *line = el_line(editor);
	struct xc_completions all;
	(void)character;
	xc_complete_line(shell->host, line->buffer, (size_t)(line->cursor - line->buffer), &all);
	size_t typed = (size_t)(line->cursor - line->buffer) - all.start, common = xc_completions_common(&all);
	unsigned char result = CC_ERROR;
	if (all.count > 0 && common > typed) {
		char *rest = all.words[0];
		rest[common] = '\0';
		el_insertstr(editor, rest + typed);
		result = CC_REFRESH;
	} else if (all.count > 1) {
		list_words(&all);
		result = CC_REDISPLAY;
	}
	xc_completions_fini(&all);
	return result;
}

/* Read a byte from the terminal. ^C ends the wait, also one typed just before it: the signal is unblocked only here. */
static ssize_t read_byte(int in, char *byte)
{
	sigset_t none, before;
	fd_set set;
	sigemptyset(&none);
	sigaddset(&none, SIGINT);
	sigprocmask(SIG_BLOCK, &none, &before);
	sigdelset(&before, SIGINT);
	FD_ZERO(&set);
	FD_SET(in, &set);
	int ready = -1;
	while (!interrupted && (ready = pselect(in + 1, &set, NULL, NULL, NULL, &before)) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready > 0 ? read(in, byte, 1) : -1;
}

/* Read one character from the terminal. libedit's own reader continues after an interrupt, so that ^C would leave
 * the line as it is. */
static int read_character(EditLine *editor, wchar_t *character)
{
	mbstate_t state = {0};
	char byte;
	size_t taken = (size_t)-2;
	while (taken == (size_t)-2) { /* the character continues */
		ssize_t got = read_byte(fileno(of_editor(editor)->options->in), &byte);
		if (got <= 0)
			return (int)got;
		if (byte == '\0') /* ^D typed while a line ran; the end of input only in line mode */
			byte = CTRL_D;
		taken = mbrtowc(character, &byte, 1, &state);
	}
	if (taken == (size_t)-1) /* invalid in this locale: pass it unchanged */
		*character = (unsigned char)byte;
	return 1;
}

static void load_history(struct shell *shell)
{
	HistEvent event;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t len;
	shell->history = history_init();
	history(shell->history, &event, H_SETSIZE, HISTORY_LINES);
	history(shell->history, &event, H_SETUNIQUE, 1);
	if (!shell->options->history)
		return;
	while ((len = getline(&line, &capacity, shell->options->history)) > 0)
		history(shell->history, &event, H_ENTER, line);
	free(line);
	fseek(shell->options->history, 0, SEEK_END);
}

static void remember(struct shell *shell, const char *line)
{
	HistEvent event;
	if (!line[strspn(line, " \t\n")])
		return;
	history(shell->history, &event, H_ENTER, line);
	if (shell->options->history) {
		fputs(line, shell->options->history);
		fflush(shell->options->history);
	}
}

static void open_editor(struct shell *shell)
{
	const struct xc_shell_options *options = shell->options;
	shell->editor = el_init("xcore", options->in, stdout, stderr);
	if (!shell->editor)
		return;
	load_history(shell);
	el_set(shell->editor, EL_CLIENTDATA, shell);
	el_set(shell->editor, EL_PROMPT, prompt);
	el_set(shell->editor, EL_EDITOR, "emacs");
	el_set(shell->editor, EL_SIGNAL, 0);
	el_set(shell->editor, EL_GETCFN, read_character);
	el_set(shell->editor, EL_HIST, history, shell->history);
	el_wset(shell->editor, EL_ADDFN, L"xcore-complete", L"complete names", complete); /* el_set's copies leak */
	el_set(shell->editor, EL_BIND, "^I", "xcore-complete", NULL);
	el_set(shell->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(shell->editor, NULL);
}

static void close_editor(struct shell *shell)
{
	if (!shell->editor)
		return;
	el_end(shell->editor);
	history_end(shell->history);
}

/* The next line without the editor; malloc'ed. NULL at the end. */
static char *plain_line(struct shell *shell)
{
	char *line = NULL;
	size_t capacity = 0;
	if (getline(&line, &capacity, shell->options->in) > 0)
		return line;
	free(line);
	return NULL;
}

/* The next line; malloc'ed. NULL at the end of input, or after ^C. */
static char *next_line(struct shell *shell)
{
	int len;
	if (!shell->editor)
		return plain_line(shell);
	const char *line = el_gets(shell->editor, &len);
	if (!line || len <= 0)
		return NULL;
	remember(shell, line);
	return xc_strdup(line);
}

static void loop(struct shell *shell)
{
	while (!ferror(shell->options->out)) {
		interrupted = 0;
		char *line = next_line(shell);
		if (!line && interrupted) { /* begin again with an empty line */
			xc_text_fini(&shell->chunk);
			putchar('\n');
			fflush(stdout);
			continue;
		}
		if (!line)
			return;
		take(shell, line);
		free(line);
	}
}

struct xc_error *xc_shell(const struct xc_shell_options *options)
{
	struct shell shell = {.options = options};
	struct sigaction action = {.sa_handler = on_interrupt}, before;
	bool terminal = isatty(fileno(options->in)) && isatty(STDOUT_FILENO);
	shell.host = host_new(&shell);
	sigaction(SIGINT, &action, &before);
	if (terminal) {
		open_editor(&shell);
		if (options->banner)
			put(&shell, NULL, options->banner);
		fflush(options->out);
	}
	loop(&shell);
	close_editor(&shell);
	if (terminal)
		fputc('\n', options->out);
	sigaction(SIGINT, &before, NULL);
	xc_host_free(shell.host);
	xc_text_fini(&shell.chunk);
	if (fflush(options->out) != 0 || ferror(options->out))
		return xc_error_errno(errno, "output");
	return NULL;
}
