/* jsonvalue: handles what JSON or its readers lack: bytes that are not text, and numbers that do not fit a double.
 * The nocheck functions of jansson are safe here because cleaned strings are well-formed UTF-8. */
#include "core/text/jsonvalue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

static const int64_t LARGEST_EXACT = INT64_C(1) << 53;

/* The string itself if it is clean, as nearly all are, else a clean copy in *scratch. */
static const char *clean(const char *string, struct xc_text *scratch)
{
	size_t len = strlen(string), n = xc_text_ascii_run(string, len);
	if (n == len)
		return string;
	xc_text_addn(scratch, string, n);
	for (size_t i = n; i < len; i += n ? n : 1) {
		n = xc_text_plain_length(string + i, len - i);
		unsigned char c = (unsigned char)string[i];
		if (n || c < 0x20)
			xc_text_addn(scratch, string + i, n ? n : 1);
		else
			xc_text_printf(scratch, "\\x%02x", c);
	}
	return scratch->bytes;
}

json_t *xc_jsonvalue_bytes(const char *bytes, size_t len)
{
	struct xc_text scratch = {0};
	for (size_t i = 0; i < len;) {
		size_t n = bytes[i] ? strnlen(bytes + i, len - i) : 1;
		if (bytes[i]) {
			struct xc_text part = {0}, cleaned = {0};
			xc_text_addn(&part, bytes + i, n);
			xc_text_add(&scratch, clean(part.bytes, &cleaned));
			xc_text_fini(&part);
			xc_text_fini(&cleaned);
		} else {
			xc_text_addn(&scratch, "", 1);
		}
		i += n;
	}
	json_t *value = json_stringn_nocheck(xc_text_string(&scratch), scratch.len);
	xc_text_fini(&scratch);
	return value;
}

json_t *xc_jsonvalue_text(const char *string)
{
	if (!string)
		return json_null();
	struct xc_text scratch = {0};
	json_t *value = json_string_nocheck(clean(string, &scratch));
	xc_text_fini(&scratch);
	return value;
}

const char *xc_jsonvalue_clean(const char *string, struct xc_arena *arena)
{
	struct xc_text scratch = {0};
	const char *copy = xc_arena_strdup(arena, clean(string, &scratch));
	xc_text_fini(&scratch);
	return copy;
}

json_t *xc_jsonvalue_address(xc_addr addr)
{
	char text[24];
	snprintf(text, sizeof text, "0x%" PRIx64, addr);
	return json_string_nocheck(text);
}

json_t *xc_jsonvalue_double(double value)
{
	if (isnan(value))
		return json_string_nocheck("nan");
	if (isinf(value))
		return json_string_nocheck(value < 0 ? "-inf" : "inf");
	return json_real(value);
}

json_t *xc_jsonvalue_seconds(double value)
{
	char digits[32];
	snprintf(digits, sizeof digits, "%.9g", value); /* rint() would leave noise in the last digits */
	return xc_jsonvalue_double(strtod(digits, NULL));
}

json_t *xc_jsonvalue_count(uint64_t value)
{
	char digits[24];
	if (value <= (uint64_t)LARGEST_EXACT)
		return json_integer((json_int_t)value);
	snprintf(digits, sizeof digits, "%" PRIu64, value);
	return json_string_nocheck(digits);
}

json_t *xc_jsonvalue_integer(int64_t value)
{
	char digits[24];
	if (value >= -LARGEST_EXACT && value <= LARGEST_EXACT)
		return json_integer(value);
	snprintf(digits, sizeof digits, "%" PRId64, value);
	return json_string_nocheck(digits);
}

void xc_jsonvalue_set(json_t *object, const char *key, json_t *value)
{
	struct xc_text scratch = {0};
	json_object_set_new_nocheck(object, clean(key, &scratch), value);
	xc_text_fini(&scratch);
}
