/* hosted: scripts in a Lua state, with what they print, their errors and their limits. */
#ifndef XC_TEST_HOSTED_H
#define XC_TEST_HOSTED_H

#include "tests/support/check.h"
#include "lua/vm/bind.h"

enum { INSTRUCTIONS = 2000000, MEMORY = 16 << 20 };

static struct xc_text printed;

static inline void take_line(void *user, const char *line, size_t len)
{
	(void)user;
	xc_text_addn(&printed, line, len);
	xc_text_char(&printed, '\n');
}

static inline struct xc_host_options options(void)
{
	return (struct xc_host_options){.name = "plugin test",
					.limits = {.instructions = INSTRUCTIONS, .memory = MEMORY, .seconds = 20},
					.output = take_line};
}

static inline struct xc_error *run_with(const struct xc_host_options *chosen, const char *code)
{
	struct xc_host *host = xc_host_new(chosen);
	xc_text_fini(&printed);
	struct xc_error *err = xc_host_run(host, "test.lua", code, strlen(code), NULL, 0);
	xc_host_free(host);
	return err;
}

static inline struct xc_error *run(const char *code)
{
	struct xc_host_options chosen = options();
	return run_with(&chosen, code);
}

/* The script runs to its end and prints this. */
static inline void check_prints(const char *code, const char *wanted)
{
	struct xc_error *err = run(code);
	if (err)
		fail_msg("%s: %s\n%s", code, err->message, err->lines);
	if (strcmp(xc_text_string(&printed), wanted) != 0)
		fail_msg("%s: printed \"%s\"", code, xc_text_string(&printed));
}

/* The script fails with this message; it prints nothing. */
static inline void check_fails(const char *code, const char *message)
{
	struct xc_error *err = run(code);
	if (!err)
		fail_msg("%s: no error", code);
	if (!strstr(err->message, message))
		fail_msg("%s: %s", code, err->message);
	assert_string_equal(xc_text_string(&printed), "");
	xc_error_free(err);
}

/* A limit ends it with its message, and nothing is printed afterwards. */
static inline void check_ends(const char *code, const char *message)
{
	struct xc_error *err = run(code);
	if (!err)
		fail_msg("%s: no error, printed %s", code, xc_text_string(&printed));
	if (err->code != XC_ERR_LIMIT || strcmp(err->message, message) != 0)
		fail_msg("%s: %s", code, err->message);
	if (!err->lines || !strstr(err->lines, "test.lua:"))
		fail_msg("%s: %s\n%s", code, err->message, err->lines ? err->lines : "no traceback");
	if (printed.len > 0)
		fail_msg("%s: printed \"%s\"", code, xc_text_string(&printed));
	xc_error_free(err);
}

#define TOO_LONG  "plugin test: more than 2,000,000 instructions (raise it with --max-instructions)"
#define TOO_LARGE "plugin test: more than 16.0 MiB of memory (raise it with --max-memory)"

#endif
