/* overrun_bytes: see heap_evidence.h. */
#include "triage/memory/heap_evidence.h"

#include <inttypes.h>

#include "core/base/text.h"
#include "dwarf/types/field.h"
#include "heap/types/typing.h"

enum { SHOWN = 120 };

/* The member of the block's type in which the overrun begins. */
struct member {
	const char *name; /* NULL: not known */
	uint64_t left;    /* bytes from there to its end */
};

static const struct xc_typed *typed_of(const struct xc_crash_context *crash, uint32_t block)
{
	const struct xc_typing *typing = crash->heap->typing;
	const struct xc_typed *typed = typing ? xc_typing_get(typing, block) : NULL;
	return typed && !typed->offset && (typed->shape == XC_TYPED_ONE || typed->shape == XC_TYPED_ARRAY) ? typed
													   : NULL;
}

/* The innermost array on the way is what was written to; a last one of no or one element stands for the rest of the
 * block. */
static struct member find_member(const struct xc_crash_context *crash, uint32_t block, uint64_t offset)
{
	enum { STEPS = 32 };
	struct member out = {.name = NULL};
	const struct xc_typed *typed = typed_of(crash, block);
	const struct xc_type *type = typed ? xc_type_complete(xc_type_strip(typed->type)) : NULL;
	uint64_t whole, size, rest = xc_block_size(&crash->heap->blocks, block) - offset;
	if (!type || !xc_type_size(type, &whole) || !whole || (offset >= whole && typed->shape != XC_TYPED_ARRAY))
		return out;
	uint64_t at = offset % whole;
	struct xc_field_step step;
	for (unsigned i = 0; i < STEPS && xc_field_step(type, at, &step); i++) {
		type = xc_type_complete(xc_type_strip(step.type));
		at = step.offset;
		if (step.name)
			out = (struct member){.name = step.name,
					      .left = xc_type_size(type, &size) && size > 1 ? size - at : rest};
		if (type->kind == XC_TYPE_ARRAY)
			break;
	}
	return out;
}

/* "44 bytes and a NUL, begins in that block at +0x4, `tag`, which has 24 bytes: 21 too many" */
static void add_length(const struct xc_crash_context *crash, const struct xc_overrun *o, bool nul, xc_addr begin,
		       uint64_t size, struct xc_text *text)
{
	uint64_t offset = o->whole_from - begin, len = o->whole_len + nul, left = size - offset;
	struct member member = find_member(crash, o->block, offset);
	xc_text_printf(text, "%" PRIu64 " bytes%s, begins in that block", o->whole_len, nul ? " and a NUL" : "");
	if (offset)
		xc_text_printf(text, " at +0x%" PRIx64, offset);
	if (member.name && (offset || member.left < left)) {
		xc_text_printf(text, ", `%s`", member.name);
		left = member.left < left ? member.left : left;
	}
	xc_text_printf(text, ", which has %" PRIu64 " bytes%s: %s%" PRIu64 " too many", left,
		       offset ? " from there on" : "", o->form == XC_OVERRUN_FILL ? "at least " : "", len - left);
}

static void report_text(const struct xc_crash_context *crash, const struct xc_overrun *o, xc_addr begin, uint64_t size)
{
	char bytes[SHOWN];
	uint64_t last;
	struct xc_text shown = {0}, length = {0}, redacted = {0};
	struct xc_overrun text = *o;
	const struct xc_space *space = crash->process->space;
	/* the length counts a final NUL that is alone after the block */
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
