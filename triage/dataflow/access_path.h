/* access_path: a pointer or variable, an offset and indexes, written in C: `p->items[i].name`, `*p`, `p[3]`. */
#ifndef XC_ACCESS_PATH_H
#define XC_ACCESS_PATH_H

#include "dwarf/types/field.h"

enum { XC_ACCESS_PATH_INDEXES = 4, XC_ACCESS_PATH_CHOICES = 5 };

struct xc_access_path {
	struct xc_text text;
	const struct xc_type *type; /* of the text so far; NULL: not known */
	int64_t offset;             /* within the type */
	uint32_t size;              /* of the access: smaller parts are not entered; 0: not known */
	bool whole;                 /* do not enter objects of the C++ library */
	int64_t shift;              /* elements to subtract from the only index: `v[i - 1]` */
	const char *source;         /* lines of the source (xc_access_path_plain): they name members of unions */
	unsigned choose;    /* in the first union whose member they do not name: 0 the likely member, 1 … others */
	unsigned undecided; /* set: how many members that union has there; 0: there is none */
	struct xc_access_path_index {
		int64_t times; /* bytes per step of the index */
		const char *text;
		bool used;
	} indexes[XC_ACCESS_PATH_INDEXES];
	size_t index_count;
};

/* Add an index. text NULL: it has no name, or is a sum with an unnamed part. Indexes of one array are written as a
 * sum: `v[i + 2 * k]`. */
void xc_access_path_index(struct xc_access_path *path, int64_t times, const char *text);

/* Write the place at offset from a pointer of a type (NULL: not known), or in a variable. False when the indexes do
 * not fit the types. The caller frees the text. */
bool xc_access_path_pointer(struct xc_access_path *path, const char *pointer, const struct xc_type *type,
			    int64_t offset);
bool xc_access_path_variable(struct xc_access_path *path, const char *name, const struct xc_type *type,
			     uint64_t offset);

/* Append a text without parentheses, indexes (`v[]`), and blanks, except between words. */
void xc_access_path_plain(struct xc_text *out, const char *text);

#endif
