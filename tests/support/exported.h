/* exported: an export of the problems made by hand, as text, and as a file that a checker of its format reads. */
#ifndef XC_TEST_EXPORTED_H
#define XC_TEST_EXPORTED_H

#include <stdio.h>

#include "batch/export/export.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"
#include "tests/support/scratch.h"

static const struct xc_export_options exported_options = {.source_root = "/build/app", .manifest = "README.md"};

/* The exporter's output; malloc'ed. Not inline: gcc 12 takes pointers into it for pointers to the local variable. */
__attribute__((noinline)) static char *exported_text(const char *kind, const struct xc_problems *problems,
						     const struct xc_export_options *options)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	assert_non_null(xc_export_named(kind));
	CHECK_OK(xc_export_named(kind)->write(problems, options, out));
	fclose(out);
	assert_int_equal(strlen(text), len);
	return text;
}

/* Attacker-controlled bytes have no effect on a terminal or in a line-based file. */
static inline void exported_is_plain(const char *text)
{
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at < 0x20 && *at != '\n') || *at == 0x7f)
			fail_msg("byte 0x%02x at %zu: %.60s", (unsigned char)*at, (size_t)(at - text), at);
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xff"));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strstr(text, "\n::error file=x"));
}

/* tests/batch/check KIND accepts the file. */
static inline void exported_is_valid(const char *kind, const char *text)
{
	char path[4096], command[8300];
	snprintf(path, sizeof path, "%s", scratch_file(kind, text, strlen(text)));
	snprintf(command, sizeof command, "tests/batch/check %s %s", kind, scratch_word(path));
	assert_int_equal(system(command), 0);
}

#endif
