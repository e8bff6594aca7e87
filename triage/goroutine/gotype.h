/* gotype: kinds of Go's types, by their debug information, and walks through what they lead to. */
#ifndef XC_GOTYPE_H
#define XC_GOTYPE_H

#include "dwarf/stack/variable.h"
#include "dwarf/value/value.h"

/* The type without names for it; complete. */
const struct xc_type *xc_gotype_plain(const struct xc_type *type);

bool xc_gotype_is_map(const struct xc_type *type);
bool xc_gotype_is_channel(const struct xc_type *type);
bool xc_gotype_is_interface(const struct xc_type *type);

/* The struct that a value is, or leads to. False when it is none, or nil, a map, a channel or an interface. */
bool xc_gotype_object(const struct xc_value *value, struct xc_value *out);

/* Variables, and the members of what they lead to, with the names that the source has for them: "s", "s.conn",
 * "s.conn.peer". `each` gets a value, and a path that lives as long as the call; false ends the walk. */
typedef bool xc_gowalk_fn(void *user, const char *path, const struct xc_value *value);
enum { XC_GOWALK_MEMBERS = 400 };
struct xc_gowalk {
	xc_gowalk_fn *each;
	void *user;
	size_t members; /* of all variables so far; XC_GOWALK_MEMBERS: the rest was left out */
	bool ended;
};

/* Walk through a variable, two levels deep. One without a name of the source is left out. */
void xc_gowalk_variable(struct xc_gowalk *walk, const struct xc_named_value *variable);

/* Does a line of the source have the path as a whole: "s.conn" in "s.conn.buf", and not in "this.conn" or
 * "s.connected"? */
bool xc_gowalk_is_in_line(const char *path, const char *line);

#endif
