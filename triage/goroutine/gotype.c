/* gotype: maps are pointers to hash<K,V>, or map<K,V> since Go 1.24, channels pointers to hchan<T>, and interfaces
 * structs runtime.iface and runtime.eface. */
#include "triage/goroutine/gotype.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "triage/goroutine/gopackage.h"

enum { LEVELS = 2, PATH_MOST = 200 };

const struct xc_type *xc_gotype_plain(const struct xc_type *type)
{
	return xc_type_complete(xc_type_strip(type));
}

/* The name of what a pointer of this type leads to; "" when it is no pointer. */
static const char *target_name(const struct xc_type *type)
{
	const struct xc_type *pointer = xc_gotype_plain(type);
	const struct xc_type *target =
		pointer->kind == XC_TYPE_POINTER && pointer->target ? xc_gotype_plain(pointer->target) : NULL;
	return target && target->name ? target->name : "";
}

bool xc_gotype_is_map(const struct xc_type *type)
{
	return xc_gopackage_begins(target_name(type), "hash<") || xc_gopackage_begins(target_name(type), "map<");
}

bool xc_gotype_is_channel(const struct xc_type *type)
{
	return xc_gopackage_begins(target_name(type), "hchan<");
}

bool xc_gotype_is_interface(const struct xc_type *type)
{
	const char *name = xc_gotype_plain(type)->name;
	return name && (strcmp(name, "runtime.iface") == 0 || strcmp(name, "runtime.eface") == 0);
}

bool xc_gotype_object(const struct xc_value *value, struct xc_value *out)
{
	uint64_t bits;
	*out = *value;
	if (xc_gotype_plain(value->type)->kind == XC_TYPE_POINTER) {
		if (xc_gotype_is_map(value->type) || xc_gotype_is_channel(value->type) ||
		    !xc_value_load(value, &bits) || !bits)
			return false;
		struct xc_error *error = xc_value_deref(value, out);
		bool failed = error != NULL;
		xc_error_free(error);
		if (failed)
			return false;
	}
	return xc_type_is_record(xc_gotype_plain(out->type)) && !xc_gotype_is_interface(out->type);
}

/* ---- walks ---- */

static void walk_value(struct xc_gowalk *w, const char *path, const struct xc_value *value, unsigned level)
{
	struct xc_value object, member;
	size_t count;
	w->ended = w->ended || !w->each(w->user, path, value);
	if (w->ended || level == LEVELS || !xc_gotype_object(value, &object))
		return;
	const struct xc_member *members = xc_type_members(xc_gotype_plain(object.type), &count);
	for (size_t i = 0; i < count && w->members < XC_GOWALK_MEMBERS && !w->ended; i++) {
		char inner[PATH_MOST];
		int len = members[i].name ? snprintf(inner, sizeof inner, "%s.%s", path, members[i].name) : -1;
		w->members++;
		if (len < 0 || (size_t)len >= sizeof inner)
			continue;
		xc_value_field(&object, &members[i], &member);
		walk_value(w, inner, &member, level + 1);
	}
}

/* One that escaped to the heap has the name "&v". */
void xc_gowalk_variable(struct xc_gowalk *w, const struct xc_named_value *variable)
{
	struct xc_value target;
	if (w->ended || !variable->name || *variable->name == '~' || *variable->name == '.')
		return;
	if (*variable->name != '&') {
		walk_value(w, variable->name, &variable->value, 0);
		return;
	}
	struct xc_error *error = xc_value_deref(&variable->value, &target);
	if (!error)
		walk_value(w, variable->name + 1, &target, 0);
	xc_error_free(error);
}

bool xc_gowalk_is_in_line(const char *path, const char *line)
{
	size_t len = strlen(path);
	for (const char *at = line; (at = strstr(at, path)); at++) {
		char before = at > line ? at[-1] : ' ', after = at[len];
		if (!isalnum((unsigned char)before) && before != '_' && before != '.' &&
		    !isalnum((unsigned char)after) && after != '_')
			return true;
	}
	return false;
}
