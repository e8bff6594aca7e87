/* reference: descriptions of the API's functions, from the editor stubs (lua/xcore.d.lua, which is embedded in the
 * program).
 *
 * So help in the shell, completion of names and the stubs cannot disagree. */
#ifndef XC_REFERENCE_H
#define XC_REFERENCE_H

#include "core/base/text.h"

enum xc_reference_kind {
	XC_REFERENCE_FUNCTION, /* xcore.addr */
	XC_REFERENCE_METHOD,   /* Target:var */
	XC_REFERENCE_FIELD,    /* Target.live */
};

/* One function, method or field. Strings point into the stubs and are not terminated: `len` bytes. */
struct xc_reference {
	enum xc_reference_kind kind;
	char class_name[24]; /* "xcore", "Target", "Section" */
	char name[32];       /* "addr" */
	char parameters[64]; /* "v, field"; "" for fields */
	const char *doc;     /* the comment lines above it, with their dashes */
	size_t doc_len;      /* of a field: its line */
};

/* All entries, in the order of the file. Created once; they live as long as the program. */
const struct xc_reference *xc_reference_all(size_t *count_out);

/* The entry, or NULL. class_name NULL: the first entry with that name. */
const struct xc_reference *xc_reference_find(const char *class_name, const char *name);

/* Append the entry as text: signature, description, parameters and results. */
void xc_reference_write(struct xc_text *text, const struct xc_reference *entry);

#endif
