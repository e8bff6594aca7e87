/* given: the argument of the blamed function's call; see argument.h. */
#include "given.h"

#include <inttypes.h>
#include <string.h>

#include "../heap/audit.h"
#include "../heap/whatis.h"
#include "argument.h"
#include "libcall.h"

/* What leads there: with the heap's help the block, else the mapping. */
static void tell_target(const struct xc_inquiry *q, const char *function, const char *name, uint64_t value)
{
	struct xc_what what = xc_what(q->process, q->heap, value);
	struct xc_text text = {0};
	xc_what_text(q->process, q->heap, &what, &text);
	bool freed = what.kind == XC_WHAT_BLOCK && xc_block_is_free(xc_block_state(&q->heap->blocks, what.block));
	xc_verdict_evidence(q->report, "%s() was given 0x%" PRIx64 "%s%s, %s%s", function, value,
			    name ? ", the value of " : "", name ? name : "",
			    freed && !what.offset ? "which is free already: " : "which is: ", xc_text_string(&text));
	xc_text_fini(&text);
}

/* "double free or corruption" is what it says: what is not free was not freed twice. */
static void reconsider(struct xc_inquiry *q, bool known, uint64_t value)
{
	const char *message = q->verdict->message;
	if (!message || !strstr(message, "double free or corruption"))
		return;
	struct xc_what what = xc_what(q->process, q->heap, known ? value : 0);
	bool block = q->heap && known && what.kind == XC_WHAT_BLOCK;
	if (block && xc_block_is_free(xc_block_state(&q->heap->blocks, what.block)))
		return;
	const struct xc_damage *damage = q->heap ? xc_audit_first(q->heap) : NULL;
	if (damage && damage->kind == XC_DAMAGE_HEADER)
		xc_inquiry_class(q, "heap-corruption", "overrun", "high", "likely",
				 "the size of a heap block was overwritten: something wrote past the end of the block "
				 "before it");
	else if (block)
		xc_inquiry_class(
			q, "heap-corruption", "list damage", "high", "likely",
			"the C library found a block that is in use as if it were free: its header was overwritten");
	else
		xc_inquiry_class(q, "heap-corruption", "double free", "high", "likely", q->verdict->cause);
}

void xc_given_tell(struct xc_inquiry *q)
{
	uint64_t value = 0;
	bool located;
	const char *function = q->blame.place ? xc_libcall_frees(xc_argument_callee(q, q->blamed)) : NULL;
	bool known = function && xc_argument_find(q, q->blamed, 0, &value);
	reconsider(q, known, value);
	if (!known)
		return;
	struct xc_frame_context context = xc_inquiry_context(q, q->blamed);
	const char *name = context.place->level_count > q->blame.level && !context.place->line_only
				   ? xc_variables_in_register(&context, q->blame.level, -1, value, &located)
				   : NULL;
	if (name)
		q->verdict->expression = xc_arena_strdup(&q->report->arena, name);
	tell_target(q, function, name, value);
}
