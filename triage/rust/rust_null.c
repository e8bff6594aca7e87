#include "triage/rust/rust_null.h"

#include <dwarf.h>
#include <string.h>

#include "triage/util/names.h"

enum { WORD = 8 };

/* The type of the variable at the beginning of the bad expression, `at` of `at.pointer->value`, when that is NULL. */
static const struct xc_type *null_variable(const struct xc_crash_context *crash, const char **name_out)
{
	const char *text = crash->verdict->expression;
	size_t from = text ? strspn(text, "*(") : 0, len = text ? strcspn(text + from, ".-[()* ") : 0;
	uint64_t word;
	struct xc_value value;
	if (!len || crash->blamed >= crash->frame_count)
		return NULL;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	*name_out = xc_arena_strndup(&crash->report->arena, text + from, len);
	if (!xc_variable_find(&in, crash->blame.level, *name_out, &crash->report->arena, &value) || !value.type)
		return NULL;
	bool known =
		xc_type_is_pointer(value.type) ? xc_value_load(&value, &word) : xc_value_peek(&value, 0, &word, WORD);
	return known && !word ? value.type : NULL;
}

/* Raw pointers, "*const T" and "*mut T", may be NULL. */
static bool is_never_null(const struct xc_type *type)
{
	static const char *const names[] = {
		"&", "alloc::boxed::Box<", "core::ptr::non_null::NonNull<", "alloc::rc::Rc<", "alloc::sync::Arc<",
		NULL};
	return type && type->name && xc_names_begin(names, type->name);
}

void xc_rust_null_report(struct xc_crash_context *crash)
{
	static const char *const classes[] = {"null-read", "null-write", "null-access", NULL};
	struct xc_verdict *v = crash->verdict;
	const char *name;
	if (!xc_names_find(classes, v->class_name) || !v->cause || !crash->blame.place ||
	    xc_place_language(crash->blame.place, crash->blame.level) != DW_LANG_Rust)
		return;
	const struct xc_type *type = null_variable(crash, &name);
	if (is_never_null(type))
		v->cause = xc_arena_printf(&crash->report->arena,
					   "%s; `%s` is a %s, which safe Rust never makes NULL: unsafe code did",
					   v->cause, name, xc_type_name(type));
}
