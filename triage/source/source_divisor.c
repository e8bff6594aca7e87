/* source_divisor: an operand is a name with members, elements and at the end a size(), or a term in parentheses. */
#include "triage/source/source_divisor.h"

#include <string.h>

#include "dwarf/view/view.h"
#include "triage/crash/own_line.h"
#include "triage/source/frame_value.h"
#include "triage/source/source_code.h"

enum { LINES = 3, LONGEST = 24 /* tokens */ };

/* "size" of "t.nodes.size()": the object ends before *cut_out. */
static bool is_query(const struct xc_source_code *code, size_t begin, size_t end, size_t *cut_out)
{
	*cut_out = end - 4;
	return end - begin >= 5 && xc_source_code_is(code, end - 1, ")") && xc_source_code_is(code, end - 2, "(") &&
	       (xc_source_code_is(code, end - 3, "size") || xc_source_code_is(code, end - 3, "length")) &&
	       (xc_source_code_is(code, end - 4, ".") || xc_source_code_is(code, end - 4, "->"));
}

static bool is_zero(const struct xc_crash_context *crash, const struct xc_source_code *code, size_t begin, size_t end)
{
	struct xc_value value;
	struct xc_view view;
	uint64_t number;
	size_t cut;
	if (is_query(code, begin, end, &cut)) {
		bool pointer = xc_source_code_is(code, cut, "->");
		const char *text = xc_source_code_text(crash, code, begin, cut);
		text = pointer ? xc_arena_printf(&crash->report->arena, "*%s", text) : text;
		return xc_frame_value_of(crash, crash->blamed, crash->blame.level, text, &value) &&
		       xc_view_open(&value, &view) == XC_VIEW_FOUND && view.count_known && !view.count;
	}
	return xc_frame_value_of(crash, crash->blamed, crash->blame.level, xc_source_code_text(crash, code, begin, end),
				 &value) &&
	       xc_value_load(&value, &number) && !number;
}

/* Behind the operand that begins there; `begin` itself when there is none that can be evaluated. */
static size_t operand_end(const struct xc_source_code *code, size_t begin)
{
	size_t at = begin;
	if (xc_source_code_is(code, at, "(")) {
		at = xc_source_code_close(code, at, code->count);
		return at < code->count ? at + 1 : begin;
	}
	if (!xc_source_code_is_name(code, at))
		return begin;
	for (at++; at < code->count;) {
		if ((xc_source_code_is(code, at, ".") || xc_source_code_is(code, at, "->") ||
		     xc_source_code_is(code, at, "::")) &&
		    xc_source_code_is_name(code, at + 1))
			at += 2;
		else if (xc_source_code_is(code, at, "[") || xc_source_code_is(code, at, "("))
			at = xc_source_code_close(code, at, code->count) + 1;
		else
			break;
	}
	return at <= code->count ? at : begin;
}

/* The only operand that is 0; NULL: none, or several. */
static const char *find(const struct xc_crash_context *crash, const struct xc_source_code *code)
{
	const char *found = NULL;
	for (size_t i = 0; i + 1 < code->count; i++) {
		bool divides = xc_source_code_is(code, i, "/") || xc_source_code_is(code, i, "%") ||
			       xc_source_code_is(code, i, "/=") || xc_source_code_is(code, i, "%=");
		size_t end = divides ? operand_end(code, i + 1) : 0;
		if (end <= i + 1 || end - i > LONGEST || !is_zero(crash, code, i + 1, end))
			continue;
		const char *text = xc_source_code_text(crash, code, i + 1, end);
		if (found && strcmp(found, text) != 0)
			return NULL;
		found = text;
	}
	return found;
}

void xc_source_divisor_report(struct xc_crash_context *crash)
{
	struct xc_own_line at;
	struct xc_source_code code;
	const char *known = crash->verdict->expression; /* "__range1.size()" is the compiler's name */
	if (!xc_crash_context_is(crash, "div-by-zero") || (known && strncmp(known, "__", 2) != 0) ||
	    !crash->blame.place || !xc_own_line_find(crash->process, crash->blame.place, crash->blame.level, &at))
		return;
	const char *found = NULL;
	bool ends = false;
	for (unsigned more = 0; more < LINES && !found && !ends; more++) { /* a statement may have several lines */
		if (!xc_source_code_read(crash, at.file, at.line, at.line + more, &code))
			break;
		found = find(crash, &code);
		ends = strchr(";{}", code.tokens[code.count - 1].text[0]) != NULL;
	}
	if (!found)
		return;
	crash->verdict->expression = found;
	crash->verdict->cause =
		xc_arena_printf(&crash->report->arena, "likely dividing by `%s`: `%s` is 0", found, found);
}
