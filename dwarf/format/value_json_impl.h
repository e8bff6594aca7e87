/* value_json_impl: shared by dwarf/format/value_json*.c. */
#ifndef XC_VALUE_JSON_IMPL_H
#define XC_VALUE_JSON_IMPL_H

#include "core/base/text.h"
#include "dwarf/format/value_json.h"

enum { XC_JSON_DEPTH = 64 };

struct xc_json_walker {
	const struct xc_json_options *options;
	struct xc_json_result *out;
	struct xc_text path;
	unsigned depth, records;
	size_t left; /* values that may still be added */
	const struct xc_format_around *around;
};

/* Any value; a struct, union, class or container. */
json_t *xc_json_any(struct xc_json_walker *w, const struct xc_value *value);
json_t *xc_json_record(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type);

/* null; the reason is recorded under the current path. */
json_t *xc_json_unknown(struct xc_json_walker *w, const char *why);
json_t *xc_json_unreadable(struct xc_json_walker *w, const struct xc_value *value);

/* null; the result is marked as truncated. */
json_t *xc_json_truncated(struct xc_json_walker *w);

/* True when neither end of a value of `size` bytes can be read. */
bool xc_json_is_gone(const struct xc_value *value, uint64_t size);

/* Extend the path by a name or an index; pass the result to xc_json_ascend. */
size_t xc_json_descend(struct xc_json_walker *w, const char *name);
size_t xc_json_descend_index(struct xc_json_walker *w, uint64_t index);
void xc_json_ascend(struct xc_json_walker *w, size_t len);

/* `count` characters from the value's start; with `whole`, NULs are characters too. */
json_t *xc_json_characters(struct xc_json_walker *w, const struct xc_value *value, uint64_t count, unsigned width,
			   bool whole);
json_t *xc_json_redacted(void);

#endif
