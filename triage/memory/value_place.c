/* value_place: see value_place.h. Optimized code often has no longer the pointer that a value was read through, but the
 * value itself shows its place: nothing else is a pointer with these bytes. */
#include "triage/memory/value_place.h"

#include "dwarf/types/field.h"
#include "heap/query/whatis.h"
#include "triage/dataflow/pointers.h"
#include "triage/util/same_type.h"

enum { OUTWARD = 2 }; /* frames beyond the blamed one */

struct search {
	const struct xc_crash_context *crash;
	uint64_t value;
	const xc_addr *found;
	size_t count;
};

static bool has_value(const struct search *s, xc_addr at)
{
	uint64_t now;
	unsigned word = s->crash->process->arch->word;
	return at % word == 0 && xc_space_peek_uint(s->crash->process->space, at, word, &now) && now == s->value;
}

/* ---- by a variable that points to the object ---- */

/* Is a pointer of the structure at `begin` one of the words? */
static bool find_member(const struct search *s, const struct xc_type *pointer, xc_addr begin, xc_addr *at_out)
{
	const struct xc_type *record = xc_same_type_pointed(pointer);
	uint64_t size;
	if (!xc_same_type_is_record(record) || !xc_type_size(record, &size))
		return false;
	for (size_t i = 0; i < s->count; i++) {
		uint64_t rest = 0;
		if (s->found[i] < begin || s->found[i] - begin >= size || !has_value(s, s->found[i]))
			continue;
		const struct xc_type *member = xc_field_path(NULL, record, s->found[i] - begin, &rest);
		*at_out = s->found[i];
		if (!rest && xc_type_is_pointer(member))
			return true;
	}
	return false;
}

static bool find_by_variable(const struct search *s, struct xc_deref *out)
{
	const struct xc_crash_context *crash = s->crash;
	struct xc_pointers pointers;
	xc_addr at;
	xc_pointers_variables(crash, crash->blame.place ? crash->blamed + 1 + OUTWARD : 1, &pointers);
	for (size_t i = 0; i < pointers.count; i++) {
		const struct xc_pointer *one = &pointers.items[i];
		if (!find_member(s, one->type, one->value, &at))
			continue;
		*out = (struct xc_deref){.value_known = true,
					 .value = s->value,
					 .at_known = true,
					 .at = at,
					 .pointer = one->name,
					 .pointer_type = one->type,
					 .led_known = true,
					 .led = one->value,
					 .holder = one->frame};
		return true;
	}
	return false;
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

bool xc_value_place_find(const struct xc_crash_context *crash, uint64_t value, const xc_addr *found, size_t count,
			 struct xc_deref *out)
{
	const struct search s = {.crash = crash, .value = value, .found = found, .count = count};
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
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
