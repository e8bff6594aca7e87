/* text_of_report: a report as text, and what must be in it. */
#ifndef XC_TEST_TEXT_OF_REPORT_H
#define XC_TEST_TEXT_OF_REPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/render/render.h"
#include "tests/support/report_fixture.h"

static inline char *render(struct xc_render_options options)
{
	struct fixture f = fixture_new("core.1");
	char *text = render_to_string(xc_render_text, f.report, options);
	assert_non_null(text);
	fixture_free(&f);
	return text;
}

static inline void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in:\n%s", words, text);
}

#endif
