#include "triage/blocks/shallow_copy.h"

#include <string.h>

#include "triage/util/same_type.h"

enum { OUTWARD = 3 /* frames beyond the blamed one */ };

/* Is it a constructor, and is the first thing that it takes a reference to an object of the class? */
static bool copies(const struct xc_type *class, const char *own, const struct xc_method *method)
{
	size_t count;
	if (!method->type || strcmp(method->name, own) != 0)
		return false;
	const struct xc_type *const *parameters = xc_type_parameters(method->type, &count);
	const struct xc_type *reference = count > 1 ? xc_type_strip(parameters[1]) : NULL;
	return reference && reference->kind == XC_TYPE_REFERENCE && reference->target &&
	       xc_same_type(xc_type_complete(xc_type_strip(reference->target)), class);
}

/* The name of a class that has a destructor of its own, as its constructors have it; NULL: it has none. */
static const char *own_name(const struct xc_method *methods, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (methods[i].name && methods[i].name[0] == '~' && !methods[i].artificial && !methods[i].is_defaulted)
			return methods[i].name + 1;
	return NULL;
}

/* It has a destructor, and copies of it are made by the compiler. */
static bool is_shallow(const struct xc_type *class)
{
	size_t count;
	const struct xc_method *methods = xc_type_methods(class, &count);
	const char *own = own_name(methods, count);
	for (size_t i = 0; own && i < count; i++)
		if (methods[i].name && !methods[i].artificial && !methods[i].is_defaulted &&
		    copies(class, own, &methods[i]))
			return false;
	return own != NULL;
}

/* The class whose destructor the level runs; NULL: it is none. */
static const struct xc_type *destroyed(const struct xc_crash_context *crash, const struct xc_frame_context *in,
				       size_t level)
{
	const char *function = xc_place_function(in->place, level);
	struct xc_value this;
	if (!function || !strchr(function, '~') || !xc_variable_find(in, level, "this", &crash->report->arena, &this))
		return NULL;
	const struct xc_type *class = xc_same_type_pointed(this.type);
	class = class ? xc_type_complete(xc_type_strip(class)) : NULL;
	return xc_same_type_is_record(class) && class->name ? class : NULL;
}

void xc_shallow_copy_report(const struct xc_crash_context *crash)
{
	const char *kind = crash->verdict->kind;
	if (!kind || strcmp(kind, "double free") != 0)
		return;
	for (size_t i = crash->blamed; i < crash->frame_count && i <= crash->blamed + OUTWARD; i++) {
		const struct xc_frame_context in = xc_crash_context_frame(crash, i);
		for (size_t level = 0; !in.place->line_only && level < in.place->level_count; level++) {
			const struct xc_type *class = destroyed(crash, &in, level);
			if (!class)
				continue;
			if (!xc_begins_with(class->name, "std::") && is_shallow(class))
				xc_verdict_evidence(
					crash->report,
					"%s has a destructor, and no copy constructor of its own: if it was "
					"copied, perhaps the copy's destructor has freed the block",
					class->name);
			return; /* what a library's destructor frees is its own */
		}
	}
}
