/* value_json_impl: what dwarf/value_json*.c share. */
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
	size_t left; /* values that may still be made */
};

/* Any value; a struct, union, class or container. */
json_t *xc_json_any(struct xc_json_walker *w, const struct xc_value *value);
json_t *xc_json_record(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type);

/* null, with the reason kept under the present path. */
json_t *xc_json_unknown(struct xc_json_walker *w, const char *why);
json_t *xc_json_unreadable(struct xc_json_walker *w, const struct xc_value *value);

/* null, and the result is marked as cut. */
json_t *xc_json_truncated(struct xc_json_walker *w);

/* Neither end of a value of `size` bytes can be read. */
bool xc_json_is_gone(const struct xc_value *value, uint64_t size);

/* The path goes on with a name or an index; give what they return to xc_json_ascend. */
size_t xc_json_descend(struct xc_json_walker *w, const char *name);
size_t xc_json_descend_index(struct xc_json_walker *w, uint64_t index);
void xc_json_ascend(struct xc_json_walker *w, size_t len);

/* `count` characters that stand from value on; `whole` says that NULs are characters too. */
json_t *xc_json_characters(struct xc_json_walker *w, const struct xc_value *value, uint64_t count, unsigned width,
			   bool whole);
json_t *xc_json_redacted(void);

#endif
