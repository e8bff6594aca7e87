/* format_filled: see format_filled.h. Flags and widths are of no use in a report, but for those of hexadecimal
 * numbers. */
#include "triage/libc/format_filled.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/argument.h"
#include "triage/libc/passed_argument.h"

enum { REGISTERS = 6, CONVERSIONS = 16, TEXT_MOST = 1024, STRING_MOST = 200 };

struct filling {
	const struct xc_crash_context *crash;
	size_t frame;
	size_t first; /* among the arguments, the first that is not named */
	struct xc_text out;
	size_t known;
};

/* Which argument is the text? */
static bool find_format(struct filling *f, const char *text)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		char there[TEXT_MOST];
		uint64_t at;
		bool cut;
		if (!xc_argument_find(f->crash, f->frame, i, &at) ||
		    xc_space_peek_string(f->crash->process->space, at, there, sizeof there - 1, &cut) < 0)
			continue;
		size_t len = strlen(text);
		if (strncmp(there, text, len) != 0 || strspn(there + len, " \t\n") != strlen(there + len))
			continue;
		f->first = i + 1;
		return true;
	}
	return false;
}

static bool add_string(struct filling *f, uint64_t at)
{
	char text[STRING_MOST];
	bool cut;
	if (xc_space_peek_string(f->crash->process->space, at, text, sizeof text - 1, &cut) < 0)
		return false;
	xc_text_escaped(&f->out, text, strlen(text));
	xc_text_add(&f->out, cut ? "..." : "");
	return true;
}

/* How many bits the conversion takes: "%hhd" 8, "%ld" 64. */
static unsigned bits(const char *conversion, size_t length)
{
	const char *h = memchr(conversion, 'h', length);
	if (h)
		return h[1] == 'h' ? 8 : 16;
	for (size_t i = 0; i < length; i++)
		if (strchr("lqjztZ", conversion[i]))
			return 64;
	return 32;
}

static bool add_number(struct filling *f, const struct xc_conversion *c, const char *conversion, uint64_t value)
{
	unsigned width = bits(conversion, c->length);
	value = xc_extend(value, width, c->letter == 'd' || c->letter == 'i');
	switch (c->letter) {
	case 'd':
	case 'i':
		xc_text_printf(&f->out, "%" PRId64, (int64_t)value);
		return true;
	case 'u':
		xc_text_printf(&f->out, "%" PRIu64, value);
		return true;
	case 'x':
	case 'X':
		xc_text_printf(&f->out, "%s%" PRIx64, memchr(conversion, '#', c->length) ? "0x" : "", value);
		return true;
	default:
		return false;
	}
}

static bool add(struct filling *f, const struct xc_conversion *c, const char *conversion)
{
	uint64_t value;
	char letter;
	if (!xc_passed_argument_value(f->crash, f->frame, f->first, c, &value))
		return false;
	if (c->letter == 's')
		return !memchr(conversion, 'l', c->length) && add_string(f, value);
	if (c->letter == 'p')
		xc_text_printf(&f->out, "0x%" PRIx64, value);
	else if (c->letter == 'c' && value > ' ' && value < 0x7f)
		xc_text_escaped(&f->out, (letter = (char)value, &letter), 1);
	else
		return add_number(f, c, conversion, value);
	return true;
}

const char *xc_format_filled(const struct xc_crash_context *crash, size_t frame, const char *text)
{
	struct filling f = {.crash = crash, .frame = frame};
	struct xc_conversion conversions[CONVERSIONS];
	size_t count = xc_format_text_parse(text, conversions, CONVERSIONS), at = 0;
	if (!count || frame >= crash->frame_count || !find_format(&f, text))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct xc_conversion *c = &conversions[i];
		xc_text_printf(&f.out, "%.*s", (int)(c->begin - at), text + at);
		at = c->begin + c->length;
		if (add(&f, c, text + c->begin))
			f.known++;
		else
			xc_text_printf(&f.out, "%.*s", (int)c->length, text + c->begin);
	}
	xc_text_add(&f.out, text + at);
	const char *filled = f.known ? xc_arena_strdup(&crash->report->arena, xc_text_string(&f.out)) : NULL;
	xc_text_fini(&f.out);
	return filled;
}
