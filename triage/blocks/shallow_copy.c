#include "triage/blocks/shallow_copy.h"

#include <string.h>

#include "triage/util/same_type.h"

enum { OUTWARD = 3 /* frames beyond the blamed one */ };

/* "Snapshot" of "undo::Snapshot", "Box" of "Box<int>". */
static size_t own_name(const char *name, const char **begin)
{
	size_t end = strcspn(name, "<");
	*begin = name;
	for (size_t i = 0; i + 1 < end; i++)
		if (name[i] == ':' && name[i + 1] == ':')
			*begin = name + i + 2;
	return (size_t)(name + end - *begin);
}

/* Is it a constructor, and is all that it takes a reference to an object of the class? */
static bool copies(const struct xc_type *class, const struct xc_method *method)
{
	const char *own;
	size_t count, length = own_name(class->name, &own);
	if (strncmp(method->name, own, length) != 0 || (method->name[length] && method->name[length] != '<'))
		return false;
	const struct xc_type *const *parameters = xc_type_parameters(method->type, &count);
	const struct xc_type *reference = count == 2 ? xc_type_strip(parameters[1]) : NULL;
	return reference && reference->kind == XC_TYPE_REFERENCE && reference->target &&
	       xc_same_type(xc_type_complete(xc_type_strip(reference->target)), class);
}

/* It has a destructor, and copies of it are made by the compiler. */
static bool is_shallow(const struct xc_type *class)
{
	size_t count;
	bool destroys = false;
	const struct xc_method *methods = xc_type_methods(class, &count);
	for (size_t i = 0; i < count; i++) {
		if (!methods[i].name || methods[i].artificial)
			continue;
		destroys |= methods[i].name[0] == '~' && !methods[i].is_defaulted;
		if (methods[i].type && copies(class, &methods[i]) && !methods[i].is_defaulted)
			return false;
	}
	return destroys;
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
			if (!class || xc_begins_with(class->name, "std::"))
				continue;
			if (is_shallow(class))
				xc_verdict_evidence(crash->report,
						    "%s has a destructor, and no copy constructor of its own: copies "
						    "share what it frees: perhaps that of a copy has freed the block",
						    class->name);
			return;
		}
	}
}
