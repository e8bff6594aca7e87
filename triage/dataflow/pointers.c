/* pointers: see pointers.h. A compiler keeps the pointer through which a value was loaded in a register, in the
 * variable's slot, or not at all. */
#include "triage/dataflow/pointers.h"

#include <string.h>

#include "dwarf/types/field.h"
#include "dwarf/view/view.h"

enum { LEAST = 64 << 10, FRAMES = 4, VARIABLES = 16, LEVELS = 8, WORDS = 256 };

static struct xc_pointer *add(struct xc_pointers *out, uint64_t value)
{
	if (value < LEAST || out->count >= XC_POINTERS)
		return NULL;
	out->items[out->count] = (struct xc_pointer){.value = value, .reg = -1};
	return &out->items[out->count++];
}

/* The only word of a class: an iterator's node, the object of a smart pointer. */
static bool load_only(const struct xc_value *value, const struct xc_type *type, uint64_t *word_out)
{
	uint64_t size, rest;
	unsigned __int128 word;
	type = xc_type_complete(type);
	if ((type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS) || !xc_type_size(type, &size) ||
	    size != value->process->arch->word || !xc_type_is_pointer(xc_field_path(NULL, type, 0, &rest)) || rest ||
	    !xc_value_load_bytes(value, 0, (unsigned)size, &word))
		return false;
	*word_out = (uint64_t)word;
	return true;
}

static void add_variable(const struct xc_named_value *named, size_t frame, struct xc_pointers *out)
{
	const struct xc_type *type = named->value.type ? xc_type_strip(named->value.type) : NULL;
	struct xc_pointer *pointer;
	uint64_t value;
	if (!type)
		return;
	bool direct = type->kind == XC_TYPE_POINTER || type->kind == XC_TYPE_REFERENCE;
	if (!(direct ? xc_value_load(&named->value, &value) : load_only(&named->value, type, &value)) ||
	    !(pointer = add(out, value)))
		return;
	pointer->name = named->name;
	pointer->type = named->value.type;
	pointer->frame = frame;
}

static void add_variables(const struct xc_crash_context *crash, size_t frame, struct xc_pointers *out)
{
	const struct xc_frame_context context = xc_crash_context_frame(crash, frame);
	for (size_t level = 0; level < context.place->level_count && level < LEVELS; level++)
		for (int locals = 1; locals >= 0; locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, level, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count; i++)
				add_variable(&values[i], frame, out);
		}
}

static void add_registers(const struct xc_crash_context *crash, struct xc_pointers *out)
{
	const struct xc_arch *arch = crash->process->arch;
	for (int number = 0; number < arch->frame_regs; number++) {
		uint64_t value;
		struct xc_pointer *pointer;
		if (number != arch->pc && number != arch->sp && xc_arch_reg_name(arch, number) &&
		    xc_regs_get(&crash->fault.frame.regs, number, &value) && (pointer = add(out, value)))
			pointer->reg = number;
	}
}

/* The words of a frame, from its stack pointer to its caller's. */
static void add_words(const struct xc_crash_context *crash, size_t frame, struct xc_pointers *out)
{
	const struct xc_arch *arch = crash->process->arch;
	uint64_t lo, hi, value;
	if (frame + 1 >= crash->frame_count || !xc_regs_get(&crash->frames[frame].regs, arch->sp, &lo) ||
	    !xc_regs_get(&crash->frames[frame + 1].regs, arch->sp, &hi) || hi <= lo)
		return;
	for (size_t i = 0; i < WORDS && hi - lo >= arch->word; i++, lo += arch->word) {
		struct xc_pointer *pointer;
		if (xc_space_peek_uint(crash->process->space, lo, arch->word, &value) && (pointer = add(out, value)))
			pointer->at = lo;
	}
}

void xc_pointers_variables(const struct xc_crash_context *crash, size_t frames, struct xc_pointers *out)
{
	out->items = xc_arena_alloc(&crash->report->arena, XC_POINTERS * sizeof *out->items);
	out->count = 0;
	for (size_t i = 0; i < frames && i < crash->frame_count; i++)
		add_variables(crash, i, out);
}

void xc_pointers_collect(const struct xc_crash_context *crash, struct xc_pointers *out)
{
	size_t frames = crash->blame.place ? crash->blamed + 1 : 1;
	if (frames > crash->frame_count)
		frames = crash->frame_count;
	xc_pointers_variables(crash, frames < VARIABLES ? frames : VARIABLES, out);
	if (crash->fault.frame_known)
		add_registers(crash, out);
	for (size_t i = 0; i < frames && i < FRAMES; i++)
		add_words(crash, i, out);
}

static void add_named(const struct xc_pointer *pointer, struct xc_text *text)
{
	struct xc_text brief = {0};
	bool shorter = xc_view_brief_name(&brief, pointer->type);
	xc_text_printf(text, "%s (%s)", pointer->name, shorter ? xc_text_string(&brief) : xc_type_name(pointer->type));
	xc_text_fini(&brief);
}

void xc_pointers_text(const struct xc_crash_context *crash, const struct xc_pointer *pointer, struct xc_text *text)
{
	if (pointer->name)
		add_named(pointer, text);
	else if (pointer->reg >= 0)
		xc_text_add(text, xc_arch_reg_name(crash->process->arch, pointer->reg));
	else
		xc_text_add(text, "a word of the stack");
}
