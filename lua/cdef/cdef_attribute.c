/* cdef_attribute: attributes that change the layout: packed, aligned, _Alignas. Unknown attributes that change the
 * layout are errors; all others are skipped. */
#include "lua/cdef/cdef_impl.h"

enum { MOST_ALIGNED = 1 << 28 }; /* gcc's limit for objects in ELF files */

bool xc_cdef_at_attribute(const struct xc_cdef_parser *p)
{
	static const char *const words[] = {"__attribute__", "__attribute", "__asm__", "__asm", "asm", NULL};
	return xc_cdef_is_among(p, words);
}

static bool parse_alignment(struct xc_cdef_parser *p, uint64_t *out)
{
	struct xc_cdef_token spot = p->token;
	if (!xc_cdef_parse_count(p, MOST_ALIGNED, "the alignment", out))
		return false;
	return (*out & (*out - 1)) == 0 || xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "an alignment must be a power of two");
}

static bool parse_aligned(struct xc_cdef_parser *p, struct xc_cdef_attributes *out)
{
	struct xc_cdef_token spot = p->token;
	uint64_t bytes = xc_cdef_largest_alignment(p->process);
	xc_cdef_next(p);
	if (xc_cdef_skip(p, '(') && (!parse_alignment(p, &bytes) || !xc_cdef_expect(p, ')', ")")))
		return false;
	if (bytes == 0)
		return xc_cdef_fail(p, &spot, XC_ERR_FORMAT, "an alignment of 0 bytes");
	out->last = bytes;
	if (bytes > out->aligned)
		out->aligned = bytes;
	return true;
}

static bool parse_attribute(struct xc_cdef_parser *p, struct xc_cdef_attributes *out)
{
	static const char *const unknown[] = {"mode",
					      "__mode__",
					      "vector_size",
					      "__vector_size__",
					      "scalar_storage_order",
					      "__scalar_storage_order__",
					      "ms_struct",
					      "__ms_struct__",
					      NULL};
	if (xc_cdef_is_word(p, "aligned") || xc_cdef_is_word(p, "__aligned__"))
		return parse_aligned(p, out);
	if (xc_cdef_is_among(p, unknown))
		return xc_cdef_fail(p, &p->token, XC_ERR_UNSUPPORTED, "the attribute `%.*s` is not supported",
				    (int)p->token.len, p->token.text);
	if (p->token.kind != XC_TOKEN_WORD)
		return xc_cdef_unexpected(p, "an attribute");
	out->packed |= xc_cdef_is_word(p, "packed") || xc_cdef_is_word(p, "__packed__");
	xc_cdef_next(p);
	return !xc_cdef_is(p, '(') || xc_cdef_skip_balanced(p);
}

/* (( a, b(…), )) */
static bool parse_list(struct xc_cdef_parser *p, struct xc_cdef_attributes *out)
{
	if (!xc_cdef_expect(p, '(', "(") || !xc_cdef_expect(p, '(', "("))
		return false;
	while (!xc_cdef_is(p, ')')) {
		if (xc_cdef_skip(p, ','))
			continue;
		if (!parse_attribute(p, out))
			return false;
	}
	return xc_cdef_expect(p, ')', ")") && xc_cdef_expect(p, ')', ")");
}

bool xc_cdef_parse_attributes(struct xc_cdef_parser *p, struct xc_cdef_attributes *out)
{
	while (xc_cdef_at_attribute(p)) {
		bool list = xc_cdef_is_word(p, "__attribute__") || xc_cdef_is_word(p, "__attribute");
		xc_cdef_next(p);
		if (!list && !xc_cdef_is(p, '('))
			return xc_cdef_unexpected(p, "(");
		if (list ? !parse_list(p, out) : !xc_cdef_skip_balanced(p))
			return false;
	}
	return !p->err;
}

bool xc_cdef_parse_alignas(struct xc_cdef_parser *p, uint64_t *out)
{
	uint64_t bytes = 0;
	xc_cdef_next(p);
	if (!xc_cdef_expect(p, '(', "("))
		return false;
	if (xc_cdef_at_type(p)) {
		const struct xc_type *type = xc_cdef_parse_type_name(p);
		bytes = type ? xc_cdef_alignment(p->process, type) : 0;
	} else if (!parse_alignment(p, &bytes)) {
		return false;
	}
	if (bytes > *out)
		*out = bytes;
	return xc_cdef_expect(p, ')', ")");
}
