/* access_path: a pointer or variable, an offset and indexes, written as C: `p->items[i].name`, `*p`, `p[3]`. */
#ifndef XC_ACCESS_PATH_H
#define XC_ACCESS_PATH_H

#include "dwarf/types/field.h"

enum { XC_ACCESS_PATH_INDEXES = 4 };

struct xc_access_path {
	struct xc_text text;
	const struct xc_type *type; /* of what is written so far; NULL: not known */
	int64_t offset;             /* in it */
	uint32_t size;              /* of the access: parts smaller than it are not entered; 0: not known */
	bool whole;                 /* an object of C++'s library is not entered: it is meant itself */
	int64_t shift; /* elements that the offset has too many, and the only index is to have less: `v[i - 1]` */
	struct xc_access_path_index {
		int64_t times; /* bytes that an index of 1 means */
		const char *text;
		bool used;
	} indexes[XC_ACCESS_PATH_INDEXES];
	size_t index_count;
};

/* One more index; text NULL: it has no name, nor has a sum of which a part has none. Those of one array are written as a sum: `v[i + 2 * k]`. */
void xc_access_path_index(struct xc_access_path *path, int64_t times, const char *text);

/* Write what lies at offset behind a pointer of a type (NULL: not known), or in a variable. False when the indexes do not fit the
 * types. The text is the caller's to free. */
bool xc_access_path_pointer(struct xc_access_path *path, const char *pointer, const struct xc_type *type,
			    int64_t offset);
bool xc_access_path_variable(struct xc_access_path *path, const char *name, const struct xc_type *type,
			     uint64_t offset);

#endif
