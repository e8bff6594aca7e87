/* endless_list: see endless_list.h. A va_list shows how far it was read: by the offset in the saved registers, then by
 * the pointer into the caller's stack, where the arguments after the sixth are (System V ABI, x86-64, 3.5.7). */
#include "triage/libc/endless_list.h"

#include <string.h>

#include "triage/dataflow/deref.h"
#include "triage/libc/passed_argument.h"
#include "triage/util/names.h"

enum { REGISTERS = 6, WORD = 8, MOST = 4096, BUDGET = 10000 };

/* The argument that was taken last, counted from 1, and its word. */
struct taken {
	uint64_t number;
	xc_addr at;
};

/* struct __va_list_tag: gp_offset, fp_offset, overflow_arg_area, reg_save_area */
static bool read_list(const struct xc_crash_context *crash, xc_addr list, struct taken *out)
{
	struct xc_frame frame = crash->frames[crash->blamed];
	uint64_t offset, area, saved;
	const struct xc_space *space = crash->process->space;
	if (!xc_unwind_cfa(crash->unwinder, &frame) || !xc_space_peek_uint(space, list, 4, &offset) ||
	    !xc_space_peek_uint(space, list + 8, WORD, &area) || !xc_space_peek_uint(space, list + 16, WORD, &saved) ||
	    area < frame.cfa || area - frame.cfa > MOST || (area - frame.cfa) % WORD)
		return false;
	if (area > frame.cfa)
		*out = (struct taken){.number = REGISTERS + (area - frame.cfa) / WORD, .at = area - WORD};
	else if (offset >= WORD && offset <= REGISTERS * WORD && offset % WORD == 0)
		*out = (struct taken){.number = offset / WORD, .at = saved + offset - WORD};
	else
		return false;
	return true;
}

static bool is_list(const struct xc_type *type)
{
	type = type ? xc_type_complete(xc_type_strip(type)) : NULL;
	if (type && type->kind == XC_TYPE_ARRAY && type->target)
		type = xc_type_complete(xc_type_strip(type->target));
	return type && type->name && strcmp(type->name, "__va_list_tag") == 0;
}

/* A list of the blamed function that took a word with this value last. */
static bool find_taken(const struct xc_crash_context *crash, uint64_t value, struct taken *out)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	for (size_t level = 0; level < in.place->level_count; level++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values(&in, level, true, &crash->report->arena, &values);
		for (size_t i = 0; i < count; i++) {
			uint64_t word;
			if (is_list(values[i].value.type) && values[i].value.kind == XC_VALUE_MEMORY &&
			    read_list(crash, values[i].value.addr, out) &&
			    xc_space_peek_uint(crash->process->space, out->at, WORD, &word) && word == value)
				return true;
		}
	}
	return false;
}

/* How many arguments the call passed: those before the first register that nothing has set. REGISTERS: there may be
 * more. */
static size_t passed_by(const struct xc_frame_code *code)
{
	for (size_t i = 0; i < REGISTERS; i++)
		if (xc_passed_argument_unset(code, i, false))
			return i;
	return REGISTERS;
}

static bool is_wild(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"wild-read",  "wild-write",  "wild-access", "null-read",
					    "null-write", "null-access", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

static void report(struct xc_crash_context *crash, const struct taken *taken, size_t passed)
{
	const char *caller = xc_place_function(xc_crash_context_place(crash, crash->blamed + 1), 0);
	struct xc_verdict *v = crash->verdict;
	v->cause =
		xc_arena_printf(&crash->report->arena,
				"%s%slikely more arguments were taken than passed: %s() took argument %llu of a call "
				"by %s that passes %zu: no NULL ends them, or a count is wrong",
				v->cause ? v->cause : "", v->cause ? "; " : "", xc_crash_context_culprit(crash),
				(unsigned long long)taken->number, caller ? caller : "a function", passed);
}

void xc_endless_list_report(struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	unsigned budget = BUDGET;
	struct xc_frame_code code;
	struct taken taken;
	uint64_t value = bad && bad->value_known ? bad->value : crash->pointer ? crash->pointer : crash->fault.addr;
	if (!is_wild(crash) || !value || !xc_arch_is_x86_64(crash->process->arch) || !crash->blame.place ||
	    !crash->blame.place->level_count || crash->blame.place->line_only ||
	    crash->blamed + 1 >= crash->frame_count || !xc_passed_argument_variadic(crash, crash->blamed) ||
	    !find_taken(crash, value, &taken) || !xc_passed_argument_called(crash, crash->blamed) ||
	    !xc_frame_code_init(crash, crash->blamed + 1, &budget, &code))
		return;
	size_t passed = passed_by(&code);
	if (passed && passed < REGISTERS && taken.number > passed)
		report(crash, &taken, passed);
}
