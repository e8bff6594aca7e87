/* overrun_bytes: see heap_evidence.h. */
#include "triage/memory/heap_evidence.h"

#include <inttypes.h>

#include "core/base/text.h"
#include "dwarf/types/field.h"
#include "heap/types/typing.h"

enum { SHOWN = 120 };

/* " at +0x4, `tag`" */
static void add_field(const struct xc_crash_context *crash, uint32_t block, uint64_t offset, struct xc_text *text)
{
	const struct xc_typing *typing = crash->heap->typing;
	const struct xc_typed *typed = typing ? xc_typing_get(typing, block) : NULL;
	struct xc_field_step step;
	xc_text_printf(text, " at +0x%" PRIx64, offset);
	if (typed && typed->shape == XC_TYPED_ONE && !typed->offset &&
	    xc_field_step(xc_type_complete(xc_type_strip(typed->type)), offset, &step) && step.name)
		xc_text_printf(text, ", `%s`", step.name);
}

/* "44 bytes and a NUL, begins in that block of 24 bytes, 21 bytes too long" */
static void add_length(const struct xc_crash_context *crash, const struct xc_overrun *o, bool nul, xc_addr begin,
		       uint64_t size, struct xc_text *text)
{
	uint64_t offset = o->whole_from - begin;
	xc_text_printf(text, "%" PRIu64 " bytes%s, begins in that block", o->whole_len, nul ? " and a NUL" : "");
	if (offset)
		add_field(crash, o->block, offset, text);
	xc_text_printf(text, ", which has %" PRIu64 " bytes%s: %" PRIu64 " too many", size - offset,
		       offset ? " from there on" : "", o->whole_len + nul - (size - offset));
}

static void report_text(const struct xc_crash_context *crash, const struct xc_overrun *o, xc_addr begin, uint64_t size)
{
	char bytes[SHOWN];
	uint64_t last;
	struct xc_text shown = {0}, length = {0}, redacted = {0};
	struct xc_overrun text = *o;
	const struct xc_space *space = crash->process->space;
	/* the length counts a final NUL that is alone behind the block */
	if (xc_space_peek_uint(space, o->whole_from + o->whole_len - 1, 1, &last) && !last)
		text.whole_len--;
	size_t some = text.whole_len < SHOWN ? text.whole_len : SHOWN;
	bool nul = xc_space_peek_uint(space, text.whole_from + text.whole_len, 1, &last) && !last;
	xc_text_escaped(&shown, bytes, xc_space_peek(space, text.whole_from, bytes, some));
	add_length(crash, &text, nul, begin, size, &length);
	xc_verdict_evidence(crash->report, "the text \"%s%s\", %s", xc_text_string(&shown),
			    some < text.whole_len ? "..." : "", xc_text_string(&length));
	xc_text_printf(&redacted, "a text of %s", xc_text_string(&length));
	xc_verdict_redact(crash->report, xc_text_string(&redacted));
	xc_text_fini(&redacted);
	xc_text_fini(&length);
	xc_text_fini(&shown);
}

void xc_overrun_bytes_report(const struct xc_crash_context *crash, const struct xc_overrun *o)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_addr begin = xc_block_addr(blocks, o->block);
	uint64_t size = xc_block_size(blocks, o->block), byte;
	if (o->whole_from < begin || o->whole_from - begin >= size || o->whole_from + o->whole_len < begin + size)
		return;
	if (o->form == XC_OVERRUN_TEXT) {
		report_text(crash, o, begin, size);
	} else if (o->form == XC_OVERRUN_FILL && xc_space_peek_uint(crash->process->space, o->whole_from, 1, &byte)) {
		struct xc_text length = {0};
		add_length(crash, o, false, begin, size, &length);
		xc_verdict_evidence(crash->report, "the byte 0x%02" PRIx64 ", repeated over %s", byte,
				    xc_text_string(&length));
		xc_text_fini(&length);
	}
}
