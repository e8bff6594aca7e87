/* value_place: see value_place.h. Optimized code often has no longer the pointer that a value was read through, but the
 * value itself shows its place: nothing else is a pointer with these bytes. */
#include "triage/blocks/value_place.h"

#include <string.h>

#include "dwarf/types/field.h"
#include "heap/query/stackword.h"
#include "heap/query/whatis.h"
#include "triage/dataflow/pointers.h"
#include "triage/util/same_type.h"
#include "triage/util/statics.h"

enum { OUTWARD = 2 /* frames beyond the blamed one */, LARGEST = 4096 /* bytes of a structure */ };

struct search {
	const struct xc_crash_context *crash;
	uint64_t value;
	const xc_addr *found;
	size_t count;
	xc_addr only; /* no other place; 0: any */
};

static bool has_value(const struct search *s, xc_addr at)
{
	uint64_t now;
	unsigned word = s->crash->process->arch->word;
	return at % word == 0 && xc_space_peek_uint(s->crash->process->space, at, word, &now) && now == s->value;
}

/* ---- by a variable that points to the object ---- */

/* Of a class that is no more than a pointer, as iterators are: that pointer. */
static const struct xc_type *pointer_in(const struct xc_type *type)
{
	return xc_same_type_is_record(type) ? xc_field_path(NULL, xc_type_complete(xc_type_strip(type)), 0, NULL)
					    : type;
}

/* Is it a pointer of the structure at `begin`? *size_out: of the structure. */
static bool find_member(const struct search *s, const struct xc_type *pointer, xc_addr begin, xc_addr *at_out,
			uint64_t *size_out)
{
	const struct xc_type *record = xc_same_type_pointed(pointer);
	unsigned word = s->crash->process->arch->word;
	if (!xc_same_type_is_record(record) || !xc_type_size(record, size_out))
		return false;
	for (uint64_t offset = 0; offset + word <= *size_out && offset < LARGEST; offset += word) {
		uint64_t rest = 0;
		if ((s->only && begin + offset != s->only) || !has_value(s, begin + offset))
			continue;
		const struct xc_type *member = xc_field_path(NULL, record, offset, &rest);
		*at_out = begin + offset;
		if (!rest && xc_type_is_pointer(member))
			return true;
	}
	return false;
}

/* Of several the one to the largest object: a part of it is what its class's own functions have. */
static bool find_by_variable(const struct search *s, struct xc_deref *out)
{
	const struct xc_crash_context *crash = s->crash;
	struct xc_pointers pointers;
	uint64_t size, largest = 0;
	xc_addr at;
	xc_pointers_variables(crash, crash->blame.place ? crash->blamed + 1 + OUTWARD : 1, &pointers);
	for (size_t i = 0; i < pointers.count; i++) {
		const struct xc_pointer *one = &pointers.items[i];
		const struct xc_type *type = one->type ? pointer_in(one->type) : NULL;
		if (!find_member(s, type, one->value, &at, &size) || size <= largest || (largest && at != out->at))
			continue;
		largest = size;
		*out = (struct xc_deref){.value_known = true,
					 .value = s->value,
					 .at_known = true,
					 .at = at,
					 .pointer = one->name,
					 .pointer_type = type,
					 .led_known = true,
					 .led = one->value,
					 .holder = one->frame};
	}
	return largest > 0;
}

bool xc_value_place_of_variable(const struct xc_crash_context *crash, uint64_t value, struct xc_deref *out)
{
	const struct search s = {.crash = crash, .value = value};
	return find_by_variable(&s, out);
}

const struct xc_deref *xc_value_place_named(const struct xc_crash_context *crash, const struct xc_deref *deref)
{
	const struct search s = {.crash = crash, .value = deref->value, .only = deref->at};
	struct xc_deref *other = xc_arena_alloc(&crash->report->arena, sizeof *other);
	bool part = deref->pointer && strcmp(deref->pointer, "this") == 0 && deref->value_known && deref->at_known;
	return part && find_by_variable(&s, other) ? other : deref;
}

/* ---- */

static bool is_of_program(const struct search *s, xc_addr at)
{
	struct xc_what what = xc_what(s->crash->process, s->crash->heap, at);
	return what.kind == XC_WHAT_DATA ||
	       (what.kind == XC_WHAT_BLOCK && xc_block_state(&s->crash->heap->blocks, what.block) == XC_BLOCK_LIVE);
}

static bool find_only(const struct search *s, struct xc_deref *out)
{
	size_t words = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (!has_value(s, s->found[i]) || !is_of_program(s, s->found[i]))
			continue;
		words++;
		*out = (struct xc_deref){.value_known = true, .value = s->value, .at_known = true, .at = s->found[i]};
	}
	return words == 1;
}

bool xc_value_place_returned(const struct xc_crash_context *crash, xc_addr *at_out)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_arch *arch = crash->process->arch;
	const char *kind = crash->verdict->kind;
	uint64_t sp;
	if (!kind || strcmp(kind, "ret") != 0 || !f->frame_known || !xc_regs_get(&f->frame.regs, arch->sp, &sp))
		return false;
	*at_out = f->computed ? sp : sp - arch->reg_size; /* before or after it was popped */
	return true;
}

bool xc_value_place_find(const struct xc_crash_context *crash, uint64_t value, const xc_addr *found, size_t count,
			 struct xc_deref *out)
{
	const struct search s = {.crash = crash, .value = value, .found = found, .count = count};
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	xc_addr at;
	if (xc_value_place_returned(crash, &at)) {
		*out = (struct xc_deref){.value_known = true,
					 .value = value,
					 .at_known = true,
					 .at = at,
					 .place = "the return address",
					 .exact = true,
					 .own = true};
		return has_value(&s, at);
	}
	bool known = bad && bad->at_known && has_value(&s, bad->at);
	if (known && !bad->own) {
		*out = *bad;
		return true;
	}
	if (find_by_variable(&s, out))
		return true;
	if (known)
		*out = *bad;
	return known || find_only(&s, out);
}

const struct xc_type *xc_value_place_variable(const struct xc_crash_context *crash, xc_addr at, uint64_t *offset_out)
{
	const struct xc_process *p = crash->process;
	struct xc_what what = xc_what(p, crash->heap, at);
	struct xc_held held = {.type = NULL};
	if (what.kind == XC_WHAT_STACK && what.thread) {
		struct xc_stackword word = xc_stackword_find(p, what.thread, at);
		held.type = word.in_frame ? word.type : NULL;
		held.offset = word.offset;
		xc_stackword_fini(&word);
	} else if (what.kind != XC_WHAT_DATA || !crash->blame.place ||
		   !xc_statics_at(p, crash->blame.place, crash->thread, at, &held))
		return NULL;
	if (held.type)
		*offset_out = held.offset;
	return held.type;
}
