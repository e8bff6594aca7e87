/* stale_pointer: freed memory is handed out again, and a pointer that was kept reads what its next owner stored.
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
#include "triage/blocks/object_class.h"
#include "triage/blocks/other_owner.h"
#include "triage/util/same_type.h"

enum {
	TEXT_LOOK = 256,
	TEXT_LEAST = 8,
	DEPTH = 8,
	LEAST = 64 << 10,
	BLOCKS = 100000, /* whose types are inferred for this: some tenths of a second */
	STEPS = 3,       /* whose other owners are searched for: each search reads the process's memory */
};

static bool find_target(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_pointed *t)
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

/* How many of the first `len` bytes of the object are in members that are no characters. */
static uint64_t other_bytes(const struct xc_pointed *t, uint64_t len)
{
	uint64_t size, others = 0;
	if (!xc_type_size(t->type, &size))
		return 0;
	for (uint64_t at = 0; at + 4 <= len && at + 4 <= size; at += 4) {
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
	    other_bytes(t, len - before) < TEXT_LEAST)
		return false;
	xc_text_escaped(shown, bytes, len);
	return true;
}

/* ---- other owners ---- */

/* `near`: search for other owners. */
static bool find_reused(const struct xc_pointed *t, bool near, struct xc_stale *out)
{
	struct xc_arena *arena = &t->crash->report->arena;
	struct xc_text shown = {0}, owner = {0};
	if (!t->type || !xc_same_type_is_record(t->type))
		return false;
	if (t->crash->heap->blocks.count <= BLOCKS)
		xc_block_types_infer(t->crash);
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

/* ---- objects and their vtables ---- */

/* Does the type begin with a vptr? */
static bool is_polymorphic(const struct xc_type *type, unsigned depth)
{
	size_t count;
	if (!type || !xc_same_type_is_record(type) || !depth)
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (members[i].offset)
			continue;
		if (members[i].artificial && members[i].name && strncmp(members[i].name, "_vptr", 5) == 0)
			return true;
		if (members[i].base && !members[i].dynamic &&
		    is_polymorphic(xc_type_complete(xc_type_strip(members[i].type)), depth - 1))
			return true;
	}
	return false;
}

/* Does an object of class `whole` begin with one of class `part`? Also true when it is not known. */
static bool begins_with(const struct xc_type *whole, const struct xc_type *part, unsigned depth)
{
	size_t count;
	whole = xc_type_complete(xc_type_strip(whole));
	if (!depth || whole->is_declaration || part->is_declaration || whole == part ||
	    (whole->name && part->name && strcmp(whole->name, part->name) == 0))
		return true;
	if (!xc_same_type_is_record(whole))
		return false;
	const struct xc_member *members = xc_type_members(whole, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].dynamic ||
		    (!members[i].offset && members[i].type && begins_with(members[i].type, part, depth - 1)))
			return true;
	return false;
}

static bool find_class(const struct xc_pointed *t, struct xc_stale *out)
{
	bool wanted = t->begin == t->deref->led && is_polymorphic(t->type, DEPTH);
	const struct xc_type *found = wanted ? xc_object_class(t->crash, t->begin) : NULL;
	if (!found || begins_with(found, t->type, DEPTH) || begins_with(t->type, found, DEPTH))
		return false;
	out->kind = XC_STALE_CLASS;
	out->redact = NULL;
	out->type = t->type;
	out->found = found;
	out->why = xc_arena_printf(&t->crash->report->arena, "the object there is a %s, by its vtable",
				   xc_type_name(found));
	return true;
}

static bool find_table(const struct xc_pointed *t, struct xc_stale *out)
{
	const struct xc_process *p = t->crash->process;
	uint64_t table;
	if (!is_polymorphic(t->type, DEPTH) || !xc_space_peek_uint(p->space, t->deref->led, p->arch->word, &table))
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
	if (!xc_block_is_free(state) || state == XC_BLOCK_TOP)
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
	if (!deref->stack_moves && xc_dead_frame_at(crash, deref->led, xc_same_type_pointed(deref->pointer_type),
						    deref->holder, &out->sure, &out->why)) {
		out->kind = XC_STALE_FRAME;
		return true;
	}
	bool block = find_target(crash, deref, &t);
	out->begin = t.begin;
	out->size = t.size;
	if (block && find_freed(&t, out))
		return true;
	bool reused = block && find_reused(&t, near, out);
	return (reused && out->kind == XC_STALE_REUSED) || (block && near && find_class(&t, out)) || reused ||
	       find_table(&t, out);
}

/* ---- reports ---- */

static const char *kind_of(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	bool calls = f->decoded && (strstr(f->instruction.text, "call") || strstr(f->instruction.text, "jmp"));
	if (f->access == XC_ACCESS_EXECUTE || calls)
		return "call";
	return f->access == XC_ACCESS_WRITE ? "write" : f->access == XC_ACCESS_READ ? "read" : NULL;
}

static void classify(struct xc_crash_context *crash, const struct xc_stale *stale, const char *class_name,
		     const char *words)
{
	const char *cause =
		xc_arena_printf(&crash->report->arena, "%s%s%s%s %s",
				crash->verdict->cause ? crash->verdict->cause : "", crash->verdict->cause ? "; " : "",
				stale->sure ? "" : "likely ", pointer_words(crash, stale->deref), words);
	xc_crash_context_classify(crash, class_name, kind_of(crash), "high", stale->sure ? "certain" : "likely", cause);
}

/* What the pointer leads to is no such object, for one of several reasons: the class remains. */
static void report_weak(struct xc_crash_context *crash, const struct xc_stale *stale)
{
	static const char *const words[] = {
		[XC_STALE_OTHER] = "points to a block that is used as another type: it was cast wrongly, or its block "
				   "had been freed and has another owner now",
		[XC_STALE_TABLE] = "points to no living object: it was destroyed, overwritten, or never constructed",
		[XC_STALE_TEXT] = "points to text: the object was overwritten, its block has another owner now, or it "
				  "never was one",
	};
	struct xc_verdict *v = crash->verdict;
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s %s", v->cause ? v->cause : "", v->cause ? "; " : "",
				   pointer_words(crash, stale->deref), words[stale->kind]);
	if (v->severity && !strcmp(v->severity, "low"))
		v->severity = "medium";
}

/* Whether it was cast wrongly, or freed and its block given to the other, is not known: the class remains. */
static void report_class(struct xc_crash_context *crash, const struct xc_stale *stale)
{
	struct xc_verdict *v = crash->verdict;
	const char *want = xc_type_name(stale->type), *is = xc_type_name(stale->found);
	v->cause = xc_arena_printf(&crash->report->arena,
				   "%s%s%s is no %s: at it is a %s, by its vtable: likely a wrong cast, or the %s was "
				   "freed and its block is the %s's now",
				   v->cause ? v->cause : "", v->cause ? "; " : "", pointer_words(crash, stale->deref),
				   want, is, want, is);
	if (v->severity && !strcmp(v->severity, "low"))
		v->severity = "medium";
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
		classify(crash, stale, "use-after-free", "is stale: what it points to has another owner now");
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
	if (stale->kind == XC_STALE_FREED)
		xc_freed_by_report(crash, stale->begin, stale->size);
}

/* These kinds prove less than what a wild value itself shows. */
static bool is_weak(const struct xc_stale *stale)
{
	return stale->kind == XC_STALE_OTHER || stale->kind == XC_STALE_TABLE || stale->kind == XC_STALE_TEXT;
}

struct xc_stale xc_stale_pointer_find(const struct xc_crash_context *crash)
{
	const struct xc_derefs *derefs = crash->derefs;
	struct xc_stale stale, first = {.kind = XC_STALE_NOT};
	for (size_t i = derefs ? derefs->count : 0; i-- > 0;) {
		if (!find_stale(crash, &derefs->items[i], i < STEPS, &stale))
			continue;
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

/* ---- arguments ---- */

/* Where the way of a bad pointer is not known, an argument of the function to look at that points into the frame of a
 * function that has returned likely led there. */
static bool is_into_dead_frame(const struct xc_crash_context *crash, const struct xc_named_value *argument,
			       struct xc_stale *out)
{
	uint64_t value;
	bool sure; /* of the place only: not that it led to the bad value */
	const struct xc_type *target = xc_same_type_pointed(argument->value.type);
	if (!argument->name || !target || !xc_value_load(&argument->value, &value) ||
	    !xc_dead_frame_at(crash, value, target, 0, &sure, &out->why))
		return false;
	struct xc_deref *deref = xc_arena_alloc(&crash->report->arena, sizeof *deref);
	*deref = (struct xc_deref){
		.pointer = argument->name, .pointer_type = argument->value.type, .led_known = true, .led = value};
	out->kind = XC_STALE_FRAME;
	out->deref = deref;
	return true;
}

struct xc_stale xc_stale_argument_find(const struct xc_crash_context *crash)
{
	struct xc_stale stale = {.kind = XC_STALE_NOT};
	const struct xc_place *place = crash->blame.place;
	if (xc_derefs_bad(crash->derefs) || !place || !place->level_count || place->line_only ||
	    crash->blamed >= crash->frame_count)
		return stale;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	struct xc_named_value *values;
	size_t count = xc_variable_values(&in, crash->blame.level, false, &crash->report->arena, &values);
	for (size_t i = 0; i < count; i++)
		if (is_into_dead_frame(crash, &values[i], &stale))
			break;
	return stale;
}

bool xc_stale_pointer_report(struct xc_crash_context *crash, const struct xc_stale *stale, bool weak)
{
	if (stale->kind == XC_STALE_NOT || (is_weak(stale) && !weak))
		return false;
	report(crash, stale);
	return true;
}
