/* layer: core */
/* No rendering contains a command that GitHub's or Azure's runners execute (actions/runner, ActionCommand.cs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HOSTILE_END "\n::a::b\n  ::c::d ##[e]##vso[f]###[g] ::h ::i::j ::k::l ::m::n ::o::p ::q::r ::s::t"
#include "tests/support/report_fixture.h"

/* The colours are xcore's own. */
static void bleach(char *text)
{
	for (char *at = text; (at = strchr(at, '\033'));) {
		const char *end = strchr(at, 'm') + 1;
		memmove(at, end, strlen(end) + 1);
	}
}

static void assert_inert(const char *text)
{
	if (strstr(text, "##["))
		fail_msg("a command: %.160s", strstr(text, "##[") - 75);
	assert_null(strcasestr(text, "##vso["));
	for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line + strspn(line, " \t\n"), "::", 2))
			fail_msg("a command: %.80s", line);
}

static void render(render_function *how, struct xc_render_options options)
{
	struct fixture f = fixture_new(HOSTILE);
	char *text = render_to_string(how, f.report, options);
	assert_non_null(text);
	assert_non_null(strstr(text, "[e]"));
	bleach(text);
	assert_inert(text);
	free(text);
	fixture_free(&f);
}

/* Also where a line breaks before it. */
static void no_line_of_text_is_a_command(void **state)
{
	(void)state;
	for (unsigned width = 40; width < 140; width++)
		render(xc_render_text, (struct xc_render_options){.stats = true, .width = width, .color = width % 2});
}

static void no_page_has_one(void **state)
{
	(void)state;
	render(xc_render_html, (struct xc_render_options){.stats = true});
}

static void no_json_has_one(void **state)
{
	(void)state;
	render(xc_render_json, (struct xc_render_options){.stats = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_line_of_text_is_a_command),
		cmocka_unit_test(no_page_has_one),
		cmocka_unit_test(no_json_has_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
