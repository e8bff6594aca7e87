/* scripted: runs scripts on a compiled program and returns their output. `t` and `xcore` are set. */
#ifndef XC_TEST_SCRIPTED_H
#define XC_TEST_SCRIPTED_H

#include "lua/vm/host.h"
#include "tests/support/compile_program.h"

struct scripted {
	struct compiled *program; /* NULL if someone else owns the process */
	struct xc_process *process;
	struct xc_host *host;
	struct xc_text printed;
};

static inline void take_line(void *user, const char *line, size_t len)
{
	struct scripted *s = user;
	if (s->printed.len)
		xc_text_char(&s->printed, '\n');
	xc_text_addn(&s->printed, line, len);
}

static inline struct scripted *script_over(struct xc_process *process)
{
	struct scripted *s = xc_alloc(sizeof *s);
	struct xc_host_options options = {.process = process,
					  .name = "test",
					  .limits = xc_limits_defaults(),
					  .output = take_line,
					  .output_user = s};
	s->process = process;
	s->host = xc_host_new(&options);
	return s;
}

static inline struct scripted *script(const char *compiler, const char *source)
{
	struct compiled *program = compile(compiler, source);
	const struct xc_space *space = program->process->space;
	program->module.lo = xc_space_at(space, 0)->lo;
	program->module.hi = xc_space_at(space, xc_space_count(space) - 1)->hi;
	xc_process_index(program->process);
	struct scripted *s = script_over(program->process);
	s->program = program;
	return s;
}

static inline void end_script(struct scripted *s)
{
	xc_host_free(s->host);
	if (s->program)
		release(s->program);
	xc_text_fini(&s->printed);
	free(s);
}

/* The output of the code, or the message of the error that ends it; valid until the next call. */
static inline const char *outcome(struct scripted *s, const char *code)
{
	xc_auto(xc_freep) char *text = xc_asprintf("local xcore = require 'xcore' local t = xcore.target %s", code);
	s->printed.len = 0;
	struct xc_error *err = xc_host_run(s->host, "script", text, strlen(text), NULL, 0);
	if (err)
		take_line(s, err->message, strlen(err->message));
	xc_error_free(err);
	return xc_text_string(&s->printed);
}

static inline void says_at(struct scripted *s, const char *code, const char *want, int line)
{
	const char *got = outcome(s, code);
	if (strcmp(got, want) != 0)
		fail_msg("line %d: %s\n   says %s\n   want %s", line, code, got, want);
}

/* The expressions, formatted as print does. */
#define SAYS(s, expressions, want) says_at(s, "print(" expressions ")", want, __LINE__)
#define RUNS(s, code, want)        says_at(s, code, want, __LINE__)

/* The statement raises an xcore.Error of this kind with this message. */
#define RAISES(s, statement, kind, message)                                                                            \
	says_at(s,                                                                                                     \
		"local ok, e = pcall(function() " statement                                                            \
		" end) if ok then print 'nothing raised' elseif type(e) == 'string' then print(e) "                    \
		"else print(e.kind .. ': ' .. e.message) end",                                                         \
		kind ": " message, __LINE__)

#endif
