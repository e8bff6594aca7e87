/* say: redaction comes first, because escaping would change the forms that it recognizes. */
#include "core/base/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static xc_say_scrub *scrub_by;
static const void *scrub_user;

void xc_say_redact(xc_say_scrub *scrub, const void *user)
{
	scrub_by = scrub;
	scrub_user = user;
}

bool xc_say_redacts(void)
{
	return scrub_by != NULL;
}

void xc_say_redacted(struct xc_text *out, const char *text, enum xc_say_kind kind)
{
	if (!scrub_by || !scrub_by(scrub_user, text, kind, out))
		xc_text_add(out, text);
}

/* The rules for prose would remove quotes of JSON. */
void xc_say_redacted_line(struct xc_text *out, const char *line, size_t len)
{
	const enum xc_say_kind kind = len && (*line == '{' || *line == '[') ? XC_SAY_JSON : XC_SAY_PROSE;
	for (size_t at = 0; at < len; at++) {
		const size_t piece = strnlen(line + at, len - at);
		xc_auto(xc_freep) char *part = xc_alloc(piece + 1);
		memcpy(part, line + at, piece);
		xc_say_redacted(out, part, kind);
		at += piece;
		if (at < len)
			xc_text_addn(out, "", 1);
	}
}

void xc_say_clean(struct xc_text *out, const char *text, enum xc_say_kind kind)
{
	xc_auto(xc_text_fini) struct xc_text without = {0};
	if (scrub_by && scrub_by(scrub_user, text, kind, &without))
		text = xc_text_string(&without);
	xc_text_name(out, text);
}

void xc_say_line(const char *before, const char *text)
{
	xc_auto(xc_text_fini) struct xc_text line = {0};
	xc_text_add(&line, before);
	xc_say_clean(&line, text, XC_SAY_PROSE);
	xc_text_disarm(&line, 0);
	xc_text_char(&line, '\n');
	fputs(xc_text_string(&line), stderr);
}

void xc_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	xc_auto(xc_freep) char *words = xc_vasprintf(format, args);
	va_end(args);
	xc_say_line("xcore: ", words);
}
