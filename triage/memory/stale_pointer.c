/* stale_pointer: use-after-free of a block that is in use again: a pointer that was kept reads what the next owner
 * stored.
 *
 * Then the block is live. What shows it is a conflict: text where the type has pointers and numbers, or another live
 * pointer to the block with another type. One conflicting opinion is no proof: the cause says "likely". */
#include "triage/memory/stale_pointer.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/types/field.h"
#include "dwarf/view/view.h"
#include "heap/query/whatis.h"
#include "heap/types/typing.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/dead_frame.h"
#include "triage/blocks/freed_by.h"
#include "triage/blocks/moved_container.h"
#include "triage/blocks/object_class.h"
#include "triage/blocks/other_owner.h"
#include "triage/blocks/freed_content.h"
#include "triage/blocks/referrers.h"
#include "triage/blocks/value_place.h"
#include "triage/memory/stale_pointer_impl.h"
#include "triage/util/same_type.h"

enum {
	TEXT_LOOK = 256,
	TEXT_LEAST = 8,
	INSIDE_LEAST = 16, /* bytes of members that a text which begins within an object has run over */
	LEAST = 64 << 10,
	LEVELS = 8,
	BLOCKS = 100000, /* whose types are inferred for this: some tenths of a second */
	STEPS = 3,       /* whose other owners are searched for: each search reads the process's memory */
};

bool xc_stale_target(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_pointed *t)
{
	*t = (struct xc_pointed){.crash = crash, .deref = deref, .type = xc_same_type_pointed(deref->pointer_type)};
	if (!crash->heap || !crash->heap->blocks.count)
		return false;
	t->block = xc_blocks_find(&crash->heap->blocks, deref->led);
	if (t->block == XC_NO_BLOCK)
		return false;
	t->begin = xc_block_addr(&crash->heap->blocks, t->block);
	t->size = xc_block_size(&crash->heap->blocks, t->block);
	return true;
}

/* "`book->best` (struct order *)" */
static const char *pointer_words(const struct xc_crash_context *crash, const struct xc_deref *deref)
{
	struct xc_arena *arena = &crash->report->arena;
	const struct xc_type *target = deref->pointer_type ? xc_type_strip(deref->pointer_type)->target : NULL;
	struct xc_text name = {0};
	if (!deref->pointer)
		return "the pointer";
	if (!target || !xc_view_brief_name(&name, target))
		return xc_arena_printf(arena, "`%s`%s%s%s", deref->pointer, deref->pointer_type ? " (" : "",
				       deref->pointer_type ? xc_type_name(deref->pointer_type) : "",
				       deref->pointer_type ? ")" : "");
	const char *words = xc_arena_printf(arena, "`%s` (%s %s)", deref->pointer, xc_text_string(&name),
					    xc_type_strip(deref->pointer_type)->kind == XC_TYPE_POINTER ? "*" : "&");
	xc_text_fini(&name);
	return words;
}

/* ---- text where the type has something else ---- */

static bool is_character(const struct xc_type *type)
{
	uint64_t size;
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_CHAR || type->kind == XC_TYPE_UNION || type->kind == XC_TYPE_UNKNOWN ||
	       (xc_type_size(type, &size) && size == 1);
}

/* How many bytes of the object, from one of them to another, are in members that are no characters. */
static uint64_t other_bytes(const struct xc_pointed *t, uint64_t from, uint64_t to)
{
	uint64_t size, others = 0;
	if (!xc_type_size(t->type, &size))
		return 0;
	for (uint64_t at = from; at + 4 <= to && at + 4 <= size; at += 4) {
		uint64_t rest = 0;
		const struct xc_type *leaf = xc_field_path(NULL, t->type, at, &rest);
		others += leaf && leaf != t->type && !is_character(leaf) ? 4 : 0;
	}
	return others;
}

/* A text that begins with the block, or with the object. */
static bool has_text(const struct xc_pointed *t, struct xc_text *shown)
{
	char bytes[TEXT_LOOK];
	uint64_t end = t->begin + t->size, within = t->deref->led - t->begin;
	xc_addr from = within < TEXT_LOOK / 2 ? t->begin : t->deref->led;
	uint64_t want = end - from < sizeof bytes ? end - from : sizeof bytes;
	size_t got = xc_space_peek(t->crash->process->space, from, bytes, want);
	size_t len = xc_text_readable_length(bytes, got), before = t->deref->led - from;
	if (!t->type || !xc_same_type_is_record(t->type) || len < TEXT_LEAST + before ||
	    other_bytes(t, 0, len - before) < TEXT_LEAST)
		return false;
	xc_text_escaped(shown, bytes, len);
	return true;
}

/* A text that begins within the object, where it has no characters, and runs over the member that was read: none of its
 * own, and none that came from before it. *offset_out: where it begins. */
static bool has_text_inside(const struct xc_pointed *t, struct xc_text *shown, uint64_t *offset_out)
{
	char bytes[TEXT_LOOK];
	uint64_t size, rest, bad = t->deref->at - t->deref->led, end = t->begin + t->size - t->deref->led;
	if (!t->type || !xc_same_type_is_record(t->type) || !t->deref->at_known || !xc_type_size(t->type, &size) ||
	    bad >= size || bad >= sizeof bytes)
		return false;
	size_t got =
		xc_space_peek(t->crash->process->space, t->deref->led, bytes, end < sizeof bytes ? end : sizeof bytes);
	size_t from = (size_t)bad < got ? (size_t)bad : 0;
	while (from > 0 && xc_text_readable_length(bytes + from - 1, 1) == 1)
		from--;
	size_t len = xc_text_readable_length(bytes + from, got - from);
	const struct xc_type *first = xc_field_path(NULL, t->type, from, &rest);
	if (!from || from + len <= bad || !first || is_character(first) ||
	    other_bytes(t, from, from + len) < INSIDE_LEAST)
		return false;
	xc_text_escaped(shown, bytes + from, len);
	*offset_out = from;
	return true;
}

/* ---- other owners ---- */

/* Types may renumber the blocks. */
static void infer_types(struct xc_pointed *t)
{
	if (t->crash->heap->blocks.count > BLOCKS)
		return;
	xc_block_types_infer(t->crash);
	t->block = xc_blocks_find(&t->crash->heap->blocks, t->begin);
}

void xc_stale_moved(struct xc_pointed *t, struct xc_stale *out)
{
	struct xc_text moved = {0};
	t->moved = xc_moved_container_find(t, &moved);
	if (t->moved)
		out->moved = xc_arena_strdup(&t->crash->report->arena, xc_text_string(&moved));
	xc_text_fini(&moved);
}

/* `near`: search for other owners. */
static bool find_reused(struct xc_pointed *t, bool near, struct xc_stale *out)
{
	struct xc_arena *arena = &t->crash->report->arena;
	struct xc_text shown = {0}, owner = {0};
	if (!t->type || !xc_same_type_is_record(t->type))
		return false;
	infer_types(t);
	if (near)
		xc_stale_moved(t, out);
	bool cast = false, text = has_text(t, &shown), other = near && xc_other_owner_find(t, text, &owner, &cast);
	if (text || other) {
		const char *where =
			xc_arena_printf(arena, "the block at 0x%" PRIx64 ", of %" PRIu64 " bytes, ", t->begin, t->size);
		out->redact = xc_arena_printf(arena, "%s%s%s%s", where,
					      other ? "is held as another type by "
						    : "contains text, where the type has none",
					      xc_text_string(&owner), other && text ? ", and contains text" : "");
		out->why =
			text ? xc_arena_printf(arena, "%s: \"%s\"", out->redact, xc_text_string(&shown)) : out->redact;
		out->kind = other && !cast ? XC_STALE_REUSED : text ? XC_STALE_TEXT : XC_STALE_OTHER;
		out->sure = false;
	}
	xc_text_fini(&shown);
	xc_text_fini(&owner);
	return text || other;
}

/* The new owner of the block need not be known: its text is, and who else had the old object, or where the container is
 * that had it. */
static bool find_overwritten(const struct xc_pointed *t, struct xc_stale *out)
{
	struct xc_arena *arena = &t->crash->report->arena;
	struct xc_text shown = {0};
	uint64_t offset, rest;
	bool found = has_text_inside(t, &shown, &offset) && (t->moved || xc_other_owner_has_fellow(t));
	if (found) {
		struct xc_text path = {0};
		xc_field_path(&path, t->type, offset, &rest);
		out->redact = xc_arena_printf(arena,
					      "the block at 0x%" PRIx64 ", of %" PRIu64
					      " bytes, contains text that begins in the object, "
					      "where a %s has `%s`",
					      t->begin, t->size, xc_type_name(t->type),
					      xc_text_string(&path) + (*xc_text_string(&path) == '.'));
		out->why = xc_arena_printf(arena, "%s: \"%s\"", out->redact, xc_text_string(&shown));
		out->kind = XC_STALE_REUSED;
		out->sure = false;
		xc_text_fini(&path);
	}
	xc_text_fini(&shown);
	return found;
}

/* ---- objects and their vtables ---- */

bool xc_stale_class_at(const struct xc_crash_context *crash, xc_addr led, const struct xc_type *type,
		       struct xc_stale *out)
{
	const struct xc_type *found = xc_object_class_other(crash, led, type);
	if (!found)
		return false;
	out->kind = XC_STALE_CLASS;
	out->redact = NULL;
	out->type = type;
	out->found = found;
	out->why =
		xc_arena_printf(&crash->report->arena, "the object there is a %s, by its vtable", xc_type_name(found));
	return true;
}

static bool find_table(const struct xc_pointed *t, struct xc_stale *out)
{
	const struct xc_process *p = t->crash->process;
	uint64_t table;
	if (!xc_object_class_is_polymorphic(t->type) ||
	    !xc_space_peek_uint(p->space, t->deref->led, p->arch->word, &table))
		return false;
	const struct xc_mapping *m = xc_process_mapping(p, table);
	if (m && (xc_process_module(p, table) || !m->writable))
		return false;
	out->kind = XC_STALE_TABLE;
	out->why = xc_arena_printf(&t->crash->report->arena,
				   "the vptr of the %s at 0x%" PRIx64 " is 0x%" PRIx64 ", which is no vtable",
				   xc_type_name(t->type), t->deref->led, table);
	return true;
}

/* ---- */

static bool find_freed(const struct xc_pointed *t, struct xc_stale *out)
{
	struct xc_text text = {0};
	enum xc_block_state state = xc_block_state(&t->crash->heap->blocks, t->block);
	if (!xc_block_is_freed(state))
		return false;
	struct xc_what what = xc_what(t->crash->process, t->crash->heap, t->deref->led);
	xc_what_text(t->crash->process, t->crash->heap, &what, &text);
	out->kind = XC_STALE_FREED;
	/* Whatever was called since the value was read, the handler among it, may have freed the block. */
	out->sure = t->deref->at_known && t->deref->at - t->begin < t->size && t->deref->straight &&
		    !xc_fault_was_handled(&t->crash->fault);
	out->why = xc_arena_printf(&t->crash->report->arena, "0x%" PRIx64 " is in freed memory: %s", t->deref->led,
				   xc_text_string(&text));
	xc_text_fini(&text);
	return true;
}

/* The frame and freed blocks are asked first; heap->types are made when needed. */
static bool find_stale(const struct xc_crash_context *crash, const struct xc_deref *deref, bool near,
		       struct xc_stale *out)
{
	struct xc_pointed t;
	*out = (struct xc_stale){.kind = XC_STALE_NOT, .deref = deref};
	if (!deref->led_known || deref->led < LEAST)
		return false;
	if (!deref->stack_moves && xc_dead_frame_at(crash, deref, &out->sure, &out->why)) {
		out->kind = XC_STALE_FRAME;
		return true;
	}
	bool block = xc_stale_target(crash, deref, &t);
	out->begin = t.begin;
	out->size = t.size;
	if (block && find_freed(&t, out)) {
		xc_stale_moved(&t, out);
		return true;
	}
	bool reused = block && (find_reused(&t, near, out) || (near && find_overwritten(&t, out)));
	return (reused && out->kind == XC_STALE_REUSED) ||
	       (near && xc_stale_class_at(crash, deref->led, t.type, out)) || reused || find_table(&t, out);
}

/* ---- reports ---- */

static void classify(struct xc_crash_context *crash, const struct xc_stale *stale, const char *class_name,
		     const char *words)
{
	const char *cause =
		xc_arena_printf(&crash->report->arena, "%s%s%s%s %s",
				crash->verdict->cause ? crash->verdict->cause : "", crash->verdict->cause ? "; " : "",
				stale->sure ? "" : "likely ", pointer_words(crash, stale->deref), words);
	xc_crash_context_classify(crash, class_name, xc_fault_use(&crash->fault), "high",
				  stale->sure ? "certain" : "likely", cause);
}

/* What the pointer leads to is no such object, for one of several reasons: the class remains. */
static void report_weak(struct xc_crash_context *crash, const struct xc_stale *stale)
{
	static const char *const words[] = {
		[XC_STALE_OTHER] = "points to a block that is used as another type: it was cast wrongly, or its block "
				   "had been freed and has another owner now",
		[XC_STALE_TABLE] = "points to no living object: it was destroyed, overwritten, or never constructed",
		[XC_STALE_BROKEN] =
			"leads to no living object: it was destroyed, moved, or overwritten, or its block has "
			"another owner now",
		[XC_STALE_TEXT] = "points to text: the object was overwritten, its block has another owner now, or it "
				  "never was one",
	};
	struct xc_verdict *v = crash->verdict;
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s %s", v->cause ? v->cause : "", v->cause ? "; " : "",
				   pointer_words(crash, stale->deref), words[stale->kind]);
	v->confidence = "likely"; /* the class is what a use after free looks like, too */
	if (v->severity && !strcmp(v->severity, "low"))
		v->severity = "medium";
}

/* Whether it was cast wrongly, or freed and its block given to the other, is not known: the class remains. */
static void report_class(struct xc_crash_context *crash, const struct xc_stale *stale)
{
	struct xc_verdict *v = crash->verdict;
	const char *want = xc_type_name(stale->type), *is = xc_type_name(stale->found);
	v->cause = xc_arena_printf(
		&crash->report->arena,
		"%s%s%s is no %s: at it is a %s, by its vtable: likely a wrong cast, or the %s is gone "
		"and its memory is the %s's now",
		v->cause ? v->cause : "", v->cause ? "; " : "", pointer_words(crash, stale->deref), want, is, want, is);
	v->confidence = "likely";
	if (v->severity && !strcmp(v->severity, "low"))
		v->severity = "medium";
}

/* Who else still leads there: what was not told that the object is gone. */
static void report_holders(const struct xc_crash_context *crash, const struct xc_stale *stale)
{
	uint32_t block = xc_blocks_find(&crash->heap->blocks, stale->begin);
	if (block != XC_NO_BLOCK)
		xc_referrers_report(crash, block, false, "that block is");
}

static void report(struct xc_crash_context *crash, const struct xc_stale *stale)
{
	switch (stale->kind) {
	case XC_STALE_FRAME:
		classify(crash, stale, "use-after-return",
			 "points to a local variable of a function that has returned");
		break;
	case XC_STALE_FREED:
		classify(crash, stale, "use-after-free", "points into a block that had been freed");
		break;
	case XC_STALE_REUSED:
		classify(crash, stale, "use-after-free",
			 "is stale: the memory that it points to has another owner now");
		break;
	case XC_STALE_CLASS:
		report_class(crash, stale);
		break;
	default:
		report_weak(crash, stale);
		break;
	}
	xc_verdict_evidence(crash->report, "%s = 0x%" PRIx64 ": %s", pointer_words(crash, stale->deref),
			    stale->deref->led, stale->why);
	if (stale->redact && stale->redact != stale->why)
		xc_verdict_redact(crash->report, stale->redact);
	if (stale->moved)
		xc_verdict_evidence(crash->report,
				    "%s, and not in that block: likely the pointer was kept while that grew or was "
				    "replaced",
				    stale->moved);
	if (stale->kind == XC_STALE_REUSED)
		report_holders(crash, stale);
	if (stale->kind != XC_STALE_FREED)
		return;
	xc_freed_by_report(crash, stale->begin, stale->size);
	xc_freed_content_report(crash, xc_blocks_find(&crash->heap->blocks, stale->begin), stale->deref, NULL);
}

/* These kinds prove less than what a wild value itself shows. */
static bool is_weak(const struct xc_stale *stale)
{
	return stale->kind == XC_STALE_OTHER || stale->kind == XC_STALE_TABLE || stale->kind == XC_STALE_TEXT ||
	       stale->kind == XC_STALE_BROKEN;
}

/* Does the member that was read through the pointer have the value that was read? */
static bool has_value(const struct xc_crash_context *crash, const struct xc_deref *deref)
{
	const struct xc_type *type = xc_same_type_pointed(deref->pointer_type);
	const char *arrow = deref->text ? strrchr(deref->text, '>') : NULL;
	unsigned word = crash->process->arch->word;
	uint64_t stored;
	size_t count = 0;
	const struct xc_member *members = arrow && type && deref->value_known && xc_same_type_is_record(type)
						  ? xc_type_members(type, &count)
						  : NULL;
	for (size_t i = 0; i < count; i++)
		if (members[i].name && strcmp(members[i].name, arrow + 1) == 0)
			return xc_space_peek_uint(crash->process->space, deref->led + members[i].offset, word,
						  &stored) &&
			       stored == deref->value;
	return false;
}

/* Where it was read. */
static bool is_read_again(const struct xc_crash_context *crash, size_t number, struct xc_deref *deref)
{
	const struct xc_derefs *derefs = crash->derefs;
	const struct xc_deref *from = number + 1 < derefs->count ? &derefs->items[number + 1] : NULL;
	return from && from->at_known && from->size == crash->process->arch->word &&
	       xc_space_peek_uint(crash->process->space, from->at, from->size, &deref->led) && has_value(crash, deref);
}

/* May a variable of this type be a copy of the pointer? NULL is read wherever something else is 0, so it takes a
 * `void *` or a pointer of the same type. */
static bool may_be_copy(const struct xc_deref *deref, const struct xc_type *type)
{
	const struct xc_type *target = xc_same_type_pointed(type);
	return xc_type_is_pointer(type) && (deref->value || !target || target->kind == XC_TYPE_VOID ||
					    xc_same_type(target, xc_same_type_pointed(deref->pointer_type)));
}

/* In another variable of the function: `void *user`, of which the pointer is a copy. */
static bool is_in_variable(const struct xc_crash_context *crash, struct xc_deref *deref)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, deref->frame);
	for (size_t level = 0; !in.place->line_only && level < in.place->level_count && level < LEVELS; level++)
		for (int locals = 0; locals <= 1; locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&in, level, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				if (may_be_copy(deref, values[i].value.type) &&
				    xc_value_load(&values[i].value, &deref->led) && has_value(crash, deref))
					return true;
		}
	return false;
}

/* A pointer whose register was used for something else: its value is likely still elsewhere, if what that leads to has
 * the value that was read through it. NULL: it is not known. */
static const struct xc_deref *read_again(const struct xc_crash_context *crash, size_t number)
{
	struct xc_deref *deref = xc_arena_alloc(&crash->report->arena, sizeof *deref);
	*deref = crash->derefs->items[number];
	if (!is_read_again(crash, number, deref) && !is_in_variable(crash, deref))
		return NULL;
	deref->led_known = true;
	deref->straight = false;
	return deref;
}

struct xc_stale xc_stale_pointer_find(const struct xc_crash_context *crash)
{
	const struct xc_derefs *derefs = crash->derefs;
	struct xc_stale stale, first = {.kind = XC_STALE_NOT};
	for (size_t i = derefs ? derefs->count : 0; i-- > 0;) {
		bool known = derefs->items[i].led_known;
		const struct xc_deref *deref = known ? &derefs->items[i] : read_again(crash, i);
		if (!deref || !find_stale(crash, deref, i < STEPS, &stale))
			continue;
		stale.sure &= known;
		stale.deref = xc_value_place_named(crash, stale.deref);
		if (!is_weak(&stale))
			return stale;
		if (first.kind == XC_STALE_NOT)
			first = stale;
	}
	return first;
}

struct xc_stale xc_stale_pointer_at(const struct xc_crash_context *crash, const struct xc_deref *deref)
{
	struct xc_stale stale;
	return find_stale(crash, deref, true, &stale) ? stale : (struct xc_stale){.kind = XC_STALE_NOT};
}

bool xc_stale_pointer_report(struct xc_crash_context *crash, const struct xc_stale *stale, bool weak)
{
	if (stale->kind == XC_STALE_NOT || (is_weak(stale) && !weak))
		return false;
	report(crash, stale);
	return true;
}
