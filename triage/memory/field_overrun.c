/* field_overrun: see pointer_diagnosis.h. Text that is continuous from an array into the next member was written
 * there as one piece, or the array was filled to its end: strcpy() and the like. */
#include "triage/memory/pointer_diagnosis.h"

#include <ctype.h>
#include <inttypes.h>

#include "dwarf/types/field.h"
#include "heap/query/whatis.h"
#include "heap/types/typing.h"
#include "triage/blocks/block_types.h"
#include "triage/dataflow/local.h"
#include "triage/util/statics.h"

enum {
	FRAMES = 16,
	POINTERS = 4,
	NEAR = 4096,
	SHOWN = 100,
	NAMES = 5,
	STEPS = 64,
	MEMBERS = 1000,
	GAP = 64,
	PADDING = 32, /* between static variables: x86-64 aligns large arrays so */
	FULL = 4,
	ARRAYS = 8
};

/* An object of known type. */
struct object {
	const struct xc_type *type;
	xc_addr begin;
	const char *name; /* of a variable; NULL: its type's */
};

/* ---- the object ---- */

static bool in_block(const struct xc_crash_context *crash, xc_addr at, struct object *out)
{
	uint64_t size;
	uint32_t block;
	if (!crash->heap || xc_blocks_find(&crash->heap->blocks, at) == XC_NO_BLOCK)
		return false;
	const struct xc_typed *typed = xc_block_types_at(crash, at, &block);
	if (!typed || typed->shape == XC_TYPED_TEXT || !xc_type_size(typed->type, &size) || !size)
		return false;
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block) + typed->offset;
	if (at < begin || (typed->shape != XC_TYPED_ARRAY && at - begin >= size))
		return false;
	*out = (struct object){.type = typed->type, .begin = begin + (at - begin) / size * size};
	return true;
}

/* The record that a pointer or reference points to, when it holds the word. */
static bool is_target(const struct xc_named_value *named, xc_addr at, struct object *out)
{
	const struct xc_type *type = xc_type_strip(named->value.type);
	uint64_t value, size;
	if ((type->kind != XC_TYPE_POINTER && type->kind != XC_TYPE_REFERENCE) || !type->target ||
	    !xc_value_load(&named->value, &value) || value > at)
		return false;
	*out = (struct object){.type = xc_type_complete(xc_type_strip(type->target)), .begin = value};
	return (out->type->kind == XC_TYPE_STRUCT || out->type->kind == XC_TYPE_CLASS) &&
	       xc_type_size(out->type, &size) && at - value < size;
}

/* ---- the array ---- */

/* Among the members of a record, the array that ends nearest before `offset`. */
static const struct xc_member *array_member(const struct xc_type *record, uint64_t offset, uint64_t *size_out)
{
	size_t count = 0;
	const struct xc_member *members = xc_type_members(record, &count), *best = NULL;
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		uint64_t size;
		const struct xc_type *type = xc_type_strip(members[i].type);
		if (!members[i].name || members[i].bit_size || members[i].dynamic || type->kind != XC_TYPE_ARRAY ||
		    !type->target || !xc_type_size(members[i].type, &size) || members[i].offset + size > offset ||
		    (best && members[i].offset < best->offset))
			continue;
		best = &members[i];
		*size_out = size;
	}
	return best;
}

/* The nearest array so far. */
struct nearest {
	const struct xc_crash_context *crash;
	xc_addr at;
	struct xc_field_array array;
	bool found;
};

/* The array of a record that ends before the place: of several objects the nearest one counts. */
static void offer_record(struct nearest *n, const struct object *object, const char *path, const struct xc_type *record,
			 xc_addr begin, xc_addr end)
{
	uint64_t size;
	const struct xc_type *plain = xc_type_complete(xc_type_strip(record));
	bool is_record = plain->kind == XC_TYPE_STRUCT || plain->kind == XC_TYPE_CLASS;
	const struct xc_member *member = is_record ? array_member(plain, end - begin, &size) : NULL;
	if (!member || (n->found && begin + member->offset + size <= n->array.end))
		return;
	n->found = true;
	n->array = (struct xc_field_array){
		.name = xc_arena_printf(&n->crash->report->arena, "`%s%s%s`%s%s", path, *path ? "." : "", member->name,
					object->name ? "" : " of ", object->name ? "" : xc_type_name(object->type)),
		.record = plain,
		.record_at = begin,
		.element = xc_type_strip(member->type)->target,
		.begin = begin + member->offset,
		.end = begin + member->offset + size};
}

/* Descend to the innermost record that holds the word; the arrays of the inner ones are nearer. Of an array's element
 * the one before it may have run over. */
static void offer_object(struct nearest *n, const struct object *object)
{
	struct xc_text path = {0};
	if (object->name)
		xc_text_add(&path, object->name);
	const struct xc_type *type = object->type;
	xc_addr begin = object->begin;
	for (unsigned steps = 0; steps < STEPS; steps++) {
		struct xc_field_step step;
		uint64_t size;
		const struct xc_type *plain = xc_type_complete(xc_type_strip(type));
		offer_record(n, object, xc_text_string(&path), plain, begin, n->at);
		if (!xc_field_step(plain, n->at - begin, &step))
			break;
		begin = n->at - step.offset;
		size_t len = path.len;
		if (step.is_element && step.index && xc_type_size(step.type, &size)) {
			xc_text_printf(&path, "[%" PRIu64 "]", step.index - 1);
			offer_record(n, object, xc_text_string(&path), step.type, begin - size, begin);
			path.len = len;
		}
		if (step.is_element)
			xc_text_printf(&path, "[%" PRIu64 "]", step.index);
		else if (step.name)
			xc_text_printf(&path, "%s%s", path.len ? "." : "", step.name);
		type = step.type;
	}
	xc_text_fini(&path);
}

/* What the variables of the innermost frames point to. */
static void offer_targets(struct nearest *n)
{
	const struct xc_crash_context *crash = n->crash;
	struct object object;
	for (size_t i = 0; i < crash->frame_count && i < POINTERS; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		for (size_t l = 0; !context.place->line_only && l < context.place->level_count; l++)
			for (int locals = 0; locals < 2; locals++) {
				struct xc_named_value *values;
				size_t count = xc_variable_values(&context, l, locals, &crash->report->arena, &values);
				for (size_t v = 0; v < count; v++)
					if (is_target(&values[v], n->at, &object))
						offer_object(n, &object);
			}
	}
}

/* The static variable that ends before another one, with nothing but padding between them: linkers put the variables of
 * a file side by side. */
static bool find_neighbour(const struct xc_crash_context *crash, xc_addr begin, struct object *out)
{
	struct xc_held held;
	for (xc_addr at = begin - 1; begin - at <= PADDING; at--)
		if (xc_statics_at(crash->process, crash->blame.place, crash->thread, at, &held)) {
			*out = (struct object){held.type, at - held.offset, held.name};
			return held.type && out->begin < begin;
		}
	return false;
}

static void offer_neighbour(struct nearest *n, const struct xc_held *held)
{
	struct object object;
	uint64_t size;
	if (!find_neighbour(n->crash, n->at - held->offset, &object) || !xc_type_size(object.type, &size))
		return;
	const struct xc_type *type = xc_type_complete(xc_type_strip(object.type));
	if (type->kind == XC_TYPE_ARRAY && type->target) {
		n->found = true;
		n->array =
			(struct xc_field_array){.name = xc_arena_printf(&n->crash->report->arena, "`%s`", object.name),
						.element = type->target,
						.begin = object.begin,
						.end = object.begin + size};
	} else {
		offer_record(n, &object, object.name, type, object.begin, object.begin + size);
	}
	n->array.record = NULL;
	n->array.next = held->name;
	n->array.next_at = n->at - held->offset;
	if (!xc_type_size(held->type, &n->array.next_size))
		n->array.next_size = 0;
}

bool xc_field_array_before(const struct xc_crash_context *crash, xc_addr at, struct xc_field_array *out)
{
	struct xc_held held;
	struct object object;
	struct nearest n = {.crash = crash, .at = at};
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	if (what.kind == XC_WHAT_BLOCK) {
		offer_targets(&n);
		if (in_block(crash, at, &object))
			offer_object(&n, &object);
	} else if (what.kind == XC_WHAT_STACK && xc_local_held(crash, FRAMES, at, &held)) {
		object = (struct object){held.type, at - held.offset, held.name};
		offer_object(&n, &object);
	} else if (what.kind == XC_WHAT_DATA && crash->blame.place &&
		   xc_statics_at(crash->process, crash->blame.place, crash->thread, at, &held) && held.type) {
		object = (struct object){held.type, at - held.offset, held.name};
		offer_object(&n, &object);
		if (!n.found)
			offer_neighbour(&n, &held);
	}
	*out = n.array;
	return n.found;
}

/* ---- the text ---- */

static bool is_text(unsigned char c)
{
	return c >= 0x80 || isprint(c) || c == '\n' || c == '\t' || c == '\r';
}

/* Bytes that may be characters need not be: the well-formed text around a place within [begin, end). */
static void trim_text(const struct xc_crash_context *crash, xc_addr at, xc_addr *begin, xc_addr *end)
{
	char bytes[2 * NEAR];
	size_t first, len = xc_space_peek(crash->process->space, *begin, bytes, *end - *begin);
	if (len < *end - *begin)
		return;
	len = xc_text_readable_around(bytes, len, at - *begin, &first);
	*begin += first;
	*end = *begin + len;
}

/* The characters around a place, not before `from`: their first, and the one after the last. */
static void find_text(const struct xc_crash_context *crash, xc_addr from, xc_addr at, xc_addr *begin_out,
		      xc_addr *end_out)
{
	unsigned char bytes[NEAR];
	xc_addr lo = at - from > NEAR ? at - NEAR : from;
	size_t back = xc_space_peek(crash->process->space, lo, bytes, at - lo);
	*begin_out = at;
	while (back == at - lo && *begin_out > lo && is_text(bytes[*begin_out - lo - 1]))
		--*begin_out;
	size_t got = xc_space_peek(crash->process->space, at, bytes, sizeof bytes), len = 0;
	while (len < got && is_text(bytes[len]))
		len++;
	*end_out = at + len;
	trim_text(crash, at, begin_out, end_out);
}

/* The members of the record from one address to another: "`prev`, `next`". */
static void add_members(const struct xc_field_array *array, xc_addr end, struct xc_text *text)
{
	size_t count = 0, told = 0;
	uint64_t size;
	if (!array->record) {
		xc_text_printf(text, "`%s`%s", array->next,
			       end > array->next_at + array->next_size ? " and the memory after it" : "");
		return;
	}
	const struct xc_member *members = xc_type_members(array->record, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		xc_addr at = array->record_at + members[i].offset;
		if (!members[i].name || at < array->end || at >= end)
			continue;
		if (told++ < NAMES)
			xc_text_printf(text, "%s`%s`", told > 1 ? ", " : "", members[i].name);
	}
	if (told > NAMES)
		xc_text_printf(text, " and %zu more", told - NAMES);
	if (xc_type_size(array->record, &size) && end > array->record_at + size)
		xc_text_printf(text, "%sthe memory after it", told ? " and " : "");
}

static bool is_character(const struct xc_type *type)
{
	uint64_t size;
	type = xc_type_strip(type);
	return (type->kind == XC_TYPE_CHAR || type->kind == XC_TYPE_INT) && xc_type_size(type, &size) && size == 1;
}

/* Text from the array to the word. Members in between may have been set again since. */
struct run {
	xc_addr begin, gap, resume, end; /* text in [begin, gap) and [resume, end); gap == resume: in one piece */
	bool ends;                       /* a NUL follows */
};

static bool find_run(const struct xc_crash_context *crash, const struct xc_field_array *array, xc_addr at,
		     struct run *out)
{
	uint64_t nul;
	xc_addr unused;
	find_text(crash, array->begin, at, &out->begin, &out->end);
	out->gap = out->resume = out->begin;
	out->ends = xc_space_peek_uint(crash->process->space, out->end, 1, &nul) && !nul;
	if (out->begin < array->end)
		return true;
	/* an array that is full to its last byte, without a NUL, is the other half of it */
	if (out->begin - array->end > GAP)
		return false;
	find_text(crash, array->begin, array->end, &out->begin, &unused);
	out->gap = array->end;
	return array->end - out->begin >= FULL && out->begin == array->begin;
}

/* The text may begin in an array before this one, and have run over both. */
static void widen(const struct xc_crash_context *crash, xc_addr at, struct xc_field_array *array, struct run *run)
{
	struct xc_field_array before;
	struct run longer;
	for (unsigned i = 0; i < ARRAYS && run->begin == array->begin && run->gap == run->resume; i++) {
		if (!xc_field_array_before(crash, array->begin, &before) || !is_character(before.element) ||
		    !find_run(crash, &before, at, &longer) || longer.gap < longer.resume)
			return;
		*array = before;
		*run = longer;
	}
}

/* Text that is longer to its front than the array was not written into the array: the object is another's memory. */
static bool begins_before(const struct xc_crash_context *crash, const struct xc_field_array *array,
			  const struct run *run)
{
	unsigned char bytes[FULL];
	if (run->begin != array->begin || xc_space_peek(crash->process->space, array->begin - FULL, bytes, FULL) < FULL)
		return false;
	for (size_t i = 0; i < FULL; i++)
		if (!isascii(bytes[i]) || !is_text(bytes[i]))
			return false;
	return array->begin - array->record_at >= FULL;
}

static void add_text(const struct xc_crash_context *crash, xc_addr from, xc_addr to, struct xc_text *text)
{
	char bytes[SHOWN];
	size_t some = xc_space_peek(crash->process->space, from, bytes, to - from < SHOWN ? to - from : SHOWN);
	xc_text_escaped(text, bytes, some);
	if (to - from > SHOWN)
		xc_text_add(text, "...");
}

static void add_run(const struct xc_crash_context *crash, const struct run *run, struct xc_text *text)
{
	xc_text_add(text, "the text \"");
	if (run->gap < run->resume) {
		add_text(crash, run->begin, run->gap, text);
		xc_text_add(text, "…");
	}
	add_text(crash, run->resume, run->end, text);
	xc_text_add(text, "\"");
	if (run->gap < run->resume)
		xc_text_printf(text, " (… are %" PRIu64 " bytes, some of them set again since)",
			       run->resume - run->gap);
}

bool xc_field_overrun_report(struct xc_crash_context *crash, xc_addr at, struct xc_text *cause)
{
	struct xc_field_array array;
	struct run run;
	if (!xc_field_array_before(crash, at, &array) || !is_character(array.element) ||
	    !find_run(crash, &array, at, &run))
		return false;
	widen(crash, at, &array, &run);
	if (begins_before(crash, &array, &run))
		return false;
	struct xc_text what = {0}, text = {0}, over = {0}, redacted = {0};
	uint64_t len = run.end - run.begin, size = array.end - array.begin;
	xc_text_printf(&what, "%s, %" PRIu64 " bytes at 0x%" PRIx64 ", was likely written past its end", array.name,
		       size, array.begin);
	xc_text_printf(&over, "%" PRIu64 " bytes over, into ", run.end + run.ends - array.end);
	add_members(&array, run.end + run.ends, &over);
	add_run(crash, &run, &text);
	xc_verdict_evidence(crash->report, "%s: %s, %" PRIu64 " bytes%s, runs %s", xc_text_string(&what),
			    xc_text_string(&text), len, run.ends ? " and a NUL" : "", xc_text_string(&over));
	xc_text_printf(&redacted, "%s: a text of %" PRIu64 " bytes%s runs %s", xc_text_string(&what), len,
		       run.ends ? " and a NUL" : "", xc_text_string(&over));
	xc_verdict_redact(crash->report, xc_text_string(&redacted));
	xc_text_printf(cause, "%s runs %s", array.name, xc_text_string(&over));
	xc_text_fini(&redacted);
	xc_text_fini(&over);
	xc_text_fini(&text);
	xc_text_fini(&what);
	return true;
}
