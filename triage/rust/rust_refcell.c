/* rust_refcell: see rust_refcell.h. Of rustc 1.63 to 1.95 (library/core/src/cell.rs):
 *
 *	RefCell<T> { borrow: Cell<isize>, value: T }                 borrow: the number of readers; negative: of writers
 *	Ref, RefMut { value: pointer to T, borrow: { borrow: &Cell } }                both lead into the RefCell
 *
 * A pointer to a RefCell<dyn T> is { pointer, vtable }, the table { drop_in_place, size, alignment, ... } of the value,
 * which begins behind the flag where its alignment allows. */
#include "triage/rust/rust_refcell.h"

#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { FRAMES = 64, TOLD = 3, WORD = 8, GUARD_MOST = 64, FRAME_MOST = 64 << 10 };

struct search {
	struct xc_crash_context *crash;
	xc_addr cell; /* 0: not known */
	const struct xc_type *type;
	uint64_t size, value, borrow; /* of the cell; where its value and its flag are in it */
	bool is_dyn;                  /* of a trait object: pointers to it and its value have a table beside them */
	const char *inner;            /* "main::Table>" of RefCell<main::Table>; NULL: not known, or any will do */
	bool writers;                 /* only these borrow it */
	size_t told;
};

static bool is_guard(const struct xc_type *type, bool *writes_out)
{
	const char *name = type->name ? type->name : "";
	*writes_out = strncmp(name, "core::cell::RefMut<", 19) == 0;
	return *writes_out || strncmp(name, "core::cell::Ref<", 16) == 0;
}

static bool wants_guard(void *user, const struct xc_type *type)
{
	const struct search *s = user;
	const struct xc_type *guard = xc_type_strip(type);
	bool writes;
	if (!is_guard(guard, &writes) || (s->writers && !writes))
		return false;
	return !s->inner || strcmp(strchr(guard->name, '<') + 1, s->inner) == 0;
}

static bool offset_of(const struct xc_type *type, const char *name, uint64_t *offset)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++)
		if (members[i].name && !members[i].dynamic && strcmp(members[i].name, name) == 0) {
			*offset = members[i].offset;
			return true;
		}
	return false;
}

/* The RefCell that the type points to, with a table beside the pointer or without; NULL: it is none. */
static const struct xc_type *pointed_cell(const struct xc_type *type, bool *is_dyn_out)
{
	size_t count;
	uint64_t table;
	const struct xc_type *pointer = xc_type_strip(type);
	*is_dyn_out = pointer->kind == XC_TYPE_STRUCT && offset_of(xc_type_complete(pointer), "vtable", &table);
	if (*is_dyn_out) {
		const struct xc_member *members = xc_type_members(xc_type_complete(pointer), &count);
		if (members[0].name && strcmp(members[0].name, "pointer") == 0)
			pointer = xc_type_strip(members[0].type);
	}
	if (!xc_type_is_pointer(pointer) || !pointer->target)
		return NULL;
	const struct xc_type *cell = xc_type_strip(pointer->target);
	return cell->name && strncmp(cell->name, "core::cell::RefCell<", 20) == 0 ? cell : NULL;
}

static bool wants_cell(void *user, const struct xc_type *type)
{
	bool is_dyn;
	(void)user;
	return pointed_cell(type, &is_dyn) != NULL;
}

/* The cell to which a variable points: its address, its size, and where its parts are. */
static bool take_cell(struct search *s, const struct xc_value *pointer)
{
	struct xc_space *space = s->crash->process->space;
	uint64_t table, size, align;
	s->type = xc_type_complete(pointed_cell(pointer->type, &s->is_dyn));
	if (!xc_value_peek(pointer, 0, &s->cell, WORD) || !s->cell || !offset_of(s->type, "value", &s->value) ||
	    !offset_of(s->type, "borrow", &s->borrow))
		return false;
	if (!s->is_dyn)
		return xc_type_size(s->type, &s->size);
	if (!xc_value_peek(pointer, WORD, &table, WORD) || !xc_space_peek_uint(space, table + WORD, WORD, &size) ||
	    !xc_space_peek_uint(space, table + 2 * WORD, WORD, &align) || !align || align & (align - 1))
		return false;
	s->value = (s->value + align - 1) & ~(align - 1);
	return !__builtin_add_overflow(s->value, size ? size : 1, &s->size);
}

/* The argument of RefCell::borrow() and the like, on the way to the panic. */
static void find_cell(struct search *s)
{
	struct xc_crash_context *crash = s->crash;
	for (size_t i = 0; i <= crash->blamed && i < crash->frame_count && i < FRAMES; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		for (size_t l = 0; l < context.place->level_count; l++) {
			struct xc_named_value *values;
			const char *name = xc_place_function(context.place, l);
			size_t count = name && strstr(name, "RefCell<")
					       ? xc_variable_values_of(&context, l, false, wants_cell, s,
								       &crash->report->arena, &values)
					       : 0;
			bool is_dyn;
			if (count)
				s->inner = strchr(pointed_cell(values[0].value.type, &is_dyn)->name, '<') + 1;
			for (size_t v = 0; v < count; v++)
				if (take_cell(s, &values[v].value))
					return;
		}
	}
	s->cell = 0;
}

static bool leads_there(const struct search *s, const struct xc_value *guard)
{
	uint64_t size = xc_value_size(guard), word;
	for (uint64_t at = 0; at + WORD <= size && at < GUARD_MOST; at += WORD)
		if (xc_value_peek(guard, at, &word, WORD) && (s->cell ? word - s->cell < s->size : word != 0))
			return true;
	return false;
}

static void tell(struct search *s, const struct xc_frame_context *context, size_t level, const struct xc_named_value *v)
{
	struct xc_text text = {0};
	bool writes;
	is_guard(xc_type_strip(v->value.type), &writes);
	const char *function = xc_place_function(context->place, level);
	xc_text_printf(&text, "%s `%s` of %s", s->cell ? "likely" : "perhaps", v->name,
		       function ? function : "a function without a name");
	xc_sourceline(context->place, level, ", ", &text);
	xc_text_printf(&text, ", a %s, borrows it%s", writes ? "RefMut" : "Ref", writes ? " mutably" : "");
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	s->told++;
}

static void search_frame(struct search *s, size_t index)
{
	const struct xc_frame_context context = xc_crash_context_frame(s->crash, index);
	for (size_t l = 0; !context.place->line_only && l < context.place->level_count; l++)
		for (int locals = 0; locals < 2 && xc_user_code_is(context.place, l); locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values_of(&context, l, locals, wants_guard, s,
							     &s->crash->report->arena, &values);
			for (size_t v = 0; v < count && s->told < TOLD; v++)
				if (leads_there(s, &values[v].value))
					tell(s, &context, l, &values[v]);
		}
}

/* Do the readers or the writers have it? */
static void read_flag(struct search *s)
{
	uint64_t flag;
	if (s->cell && xc_space_peek_uint(s->crash->process->space, s->cell + s->borrow, WORD, &flag))
		s->writers |= (int64_t)flag < 0 && (int64_t)flag > -FRAMES;
}

static void search_frames(struct search *s)
{
	const struct xc_crash_context *crash = s->crash;
	for (size_t i = crash->blamed; i < crash->frame_count && i - crash->blamed < FRAMES && s->told < TOLD; i++)
		search_frame(s, i);
}

/* ---- guards that no variable is ---- */

/* Are two words beside each other those of a guard, in either order? The value's may have its table behind it. */
static bool has_guard(const struct search *s, xc_addr lo, xc_addr hi)
{
	const xc_addr value = s->cell + s->value, borrow = s->cell + s->borrow;
	uint64_t last = 0, before = 0, word;
	for (xc_addr at = lo; at + WORD <= hi && at - lo < FRAME_MOST; at += WORD, last = before, before = word) {
		if (!xc_space_peek_uint(s->crash->process->space, at, WORD, &word))
			word = 0;
		if ((word == value && before == borrow) || (word == borrow && (s->is_dyn ? last : before) == value))
			return true;
	}
	return false;
}

/* A temporary guard, as in `for x in cell.borrow().iter()`, is in no variable, but on the stack of a caller that the
 * program's function has. What was dropped leaves its bytes. */
static void search_stacks(struct search *s)
{
	const struct xc_crash_context *crash = s->crash;
	uint64_t lo, hi;
	for (size_t i = crash->blamed + 1; i + 1 < crash->frame_count && i - crash->blamed < FRAMES && !s->told; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		const size_t level = context.place->level_count ? context.place->level_count - 1 : 0;
		const char *function = xc_place_function(context.place, level);
		struct xc_text text = {0};
		if (context.place->line_only || !function || !xc_user_code_is(context.place, level) ||
		    !xc_regs_get(&crash->frames[i].regs, crash->process->arch->sp, &lo) ||
		    !xc_regs_get(&crash->frames[i + 1].regs, crash->process->arch->sp, &hi) || !has_guard(s, lo, hi))
			continue;
		xc_text_printf(&text, "likely %s", function);
		xc_sourceline(context.place, level, ", ", &text);
		xc_text_printf(&text, ", further out, borrows it%s: a %s without a variable is on its stack",
			       s->writers ? " mutably" : "", s->writers ? "RefMut" : "Ref or RefMut");
		xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
		xc_text_fini(&text);
		s->told++;
	}
}

void xc_rust_refcell_report(struct xc_crash_context *crash)
{
	static const char any[] = "RefCell already ";
	const struct xc_verdict *v = crash->verdict;
	struct search s = {.crash = crash};
	bool said = v->message && strncmp(v->message, any, strlen(any)) == 0;
	if (crash->process->arch->word != WORD || (!said && !(v->kind && strcmp(v->kind, "borrow") == 0)))
		return;
	s.writers = said && strstr(v->message, "mutably");
	find_cell(&s);
	read_flag(&s);
	if (s.cell)
		s.inner = NULL; /* a guard may have been mapped to a part of the value */
	search_frames(&s);
	if (!s.told && s.cell)
		search_stacks(&s);
	if (s.told || !s.inner)
		return;
	s.inner = NULL;
	search_frames(&s);
}
