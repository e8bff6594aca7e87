/* inlined_copy: rep movs and rep stos keep in rcx how many elements are left. The length at the start is that and what
 * has been done, which is less than one mapping's size; so the number among the function's variables that is as
 * negative as what is left, or a little less, is the length. */
#include "triage/libc/inlined_copy.h"

#include <inttypes.h>
#include <string.h>

#include "triage/util/names.h"

static const uint64_t MOST = UINT64_C(1) << 47; /* bytes that can have been done: user space of x86-64 */

/* What the instruction does, in the words of the source. */
static const char *words_of(const struct xc_fault *f)
{
	return strstr(f->instruction.text, "movs") ? "a copy" : strstr(f->instruction.text, "stos") ? "a fill" : NULL;
}

/* The bytes that are left, modulo 2^64; false when they are fewer than half of all memory. */
static bool find_left(const struct xc_fault *f, int64_t *left_out)
{
	const struct xc_memory_operand *o = &f->operand;
	if (!f->operand_known || !f->decoded || !o->count || !o->size || !words_of(f))
		return false;
	*left_out = (int64_t)(o->count * o->size);
	return *left_out < 0;
}

static bool is_number(void *user, const struct xc_type *type)
{
	(void)user;
	return xc_type_strip(type)->kind == XC_TYPE_INT;
}

/* The number of a level whose value, taken for a length, began this; the one that is nearest. */
static void search_level(const struct xc_crash_context *crash, size_t level, int64_t left, struct xc_named_value *best,
			 int64_t *length)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	for (int locals = 0; locals < 2; locals++) {
		struct xc_named_value *values;
		size_t count =
			xc_variable_values_of(&in, level, locals, is_number, NULL, &crash->report->arena, &values);
		for (size_t i = 0; i < count; i++) {
			uint64_t bits, size;
			if (!values[i].name || !xc_type_size(values[i].value.type, &size) || !size || size > 8 ||
			    !xc_value_load(&values[i].value, &bits))
				continue;
			int64_t number = (int64_t)xc_extend(bits, 8 * (unsigned)size, true);
			if (number < 0 && number >= left && (uint64_t)number - (uint64_t)left < MOST &&
			    (!best->name || number < *length)) {
				*best = values[i];
				*length = number;
			}
		}
	}
}

void xc_inlined_copy_report(struct xc_crash_context *crash)
{
	static const char *const names[] = {"wild-read",        "wild-write",   "wild-access",   "heap-overrun",
					    "protected-access", "write-rodata", "memory-access", NULL};
	struct xc_named_value found = {.name = NULL};
	struct xc_verdict *v = crash->verdict;
	int64_t left, length = 0;
	if (!xc_names_find(names, v->class_name) || crash->blame.through || !crash->blame.place ||
	    !find_left(&crash->fault, &left))
		return;
	for (size_t level = 0; level < crash->blame.place->level_count && !found.name; level++)
		search_level(crash, level, left, &found, &length);
	if (found.name)
		v->cause = xc_arena_printf(&crash->report->arena,
					   "%s was given a negative length, likely `%s`, %" PRId64
					   ", which it takes for nearly all of the memory",
					   words_of(&crash->fault), found.name, length);
	else
		v->cause =
			xc_arena_printf(&crash->report->arena,
					"%s was given a length of nearly all of the memory, likely a negative number",
					words_of(&crash->fault));
	crash->outside = true;
}
