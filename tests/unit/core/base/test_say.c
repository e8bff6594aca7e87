/* layer: core */
/* Standard error: every line is redacted and escaped, whoever writes it. */
#include "core/base/say.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

static void said(void (*act)(void), const char *wanted)
{
	int ends[2];
	char got[1000] = "";
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], 2);
		act();
		_exit(0);
	}
	close(ends[1]);
	size_t len = 0;
	for (ssize_t n; (n = read(ends[0], got + len, sizeof got - 1 - len)) > 0;)
		len += (size_t)n;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	assert_string_equal(got, wanted);
}

static bool hide(const void *user, const char *text, enum xc_say_kind kind, struct xc_text *out)
{
	const char *at = strstr(text, user);
	if (!at || kind == XC_SAY_JSON)
		return false;
	xc_text_addn(out, text, (size_t)(at - text));
	xc_text_add(out, "(redacted)");
	xc_text_add(out, at + strlen(user));
	return true;
}

static void hostile(void)
{
	xc_say("%s: %d", "core.\033[31m\n::error::x\xc2\x9b##[error]", 7);
}

static void lines(void)
{
	xc_say_line("  ", "::error::x");
	xc_say_line("", " ::warning::x");
	xc_say_line("  hint: ", "::x");
}

static void secret(void)
{
	xc_say_redact(hide, "hunter2");
	xc_say("%s", "a hunter2\033");
	xc_say_line("  hint: ", "b hunter2");
	xc_say_redact(NULL, NULL);
	xc_say("%s", "c hunter2");
}

static void what_a_message_quotes_is_escaped(void **state)
{
	(void)state;
	said(hostile, "xcore: core.\\x1b[31m\\x0a::error::x\\xc2\\x9b\\x23#[error]: 7\n");
	said(lines, "  \\x3a:error::x\n \\x3a:warning::x\n  hint: ::x\n");
}

static void what_redaction_hides_is_hidden_first(void **state)
{
	(void)state;
	said(secret, "xcore: a (redacted)\\x1b\n  hint: b (redacted)\nxcore: c hunter2\n");
}

static void a_printed_line_keeps_its_bytes(void **state)
{
	(void)state;
	struct xc_text text = {0};
	xc_say_redact(hide, "hunter2");
	xc_say_redacted_line(&text, "a\0hunter2\0\0b", 12);
	assert_int_equal(text.len, 15);
	assert_memory_equal(text.bytes, "a\0(redacted)\0\0b", 15);
	text.len = 0;
	xc_say_redacted_line(&text, "{\"a\":\"hunter2\"}", 15);
	assert_string_equal(xc_text_string(&text), "{\"a\":\"hunter2\"}"); /* this one hides nothing there */
	xc_say_redact(NULL, NULL);
	xc_text_fini(&text);
}

static void commands_are_disarmed_in_every_line(void **state)
{
	(void)state;
	struct xc_text text = {0};
	xc_text_add(&text, "::a\nb ::c\n\t ::d\n::\n");
	xc_text_disarm(&text, 0);
	assert_string_equal(xc_text_string(&text), "\\x3a:a\nb ::c\n\t \\x3a:d\n\\x3a:\n");
	text.len = 0;
	xc_text_add(&text, "x");
	xc_text_disarm(&text, 0);
	xc_text_disarm(&text, 1);
	assert_string_equal(xc_text_string(&text), "x");
	xc_text_fini(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_message_quotes_is_escaped),
		cmocka_unit_test(what_redaction_hides_is_hidden_first),
		cmocka_unit_test(a_printed_line_keeps_its_bytes),
		cmocka_unit_test(commands_are_disarmed_in_every_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
