#include "dwarf/sample/sample_values.h"

#include <string.h>

void xc_sample_values_fini(struct xc_sample_values *v)
{
	xc_intern_fini(&v->texts);
}

/* The bytes that are kept: no character of UTF-8 is cut in two. */
static size_t kept(const char *text, size_t len)
{
	size_t most = strnlen(text, len);
	if (most <= XC_SAMPLED_BYTES)
		return most;
	for (most = XC_SAMPLED_BYTES; most && ((unsigned char)text[most] & 0xc0) == 0x80;)
		most--;
	return most;
}

uint32_t xc_sample_values_add(struct xc_sample_values *v, const char *text, size_t len)
{
	char copy[XC_SAMPLED_BYTES + 1];
	const size_t used = kept(text, len);
	memcpy(copy, text, used);
	copy[used] = '\0';
	if (v->texts.count < XC_SAMPLED_MOST)
		return XC_SAMPLED_TEXTS + xc_intern(&v->texts, copy);
	for (size_t i = 0; i < v->texts.count; i++)
		if (strcmp(v->texts.texts[i], copy) == 0)
			return XC_SAMPLED_TEXTS + (uint32_t)i;
	return XC_SAMPLED_OTHERS;
}

const char *xc_sample_values_text(const struct xc_sample_values *v, uint32_t number)
{
	static const char *const without[] = {"(none)", "(not read)", "(others)"};
	if (number < XC_SAMPLED_TEXTS)
		return without[number];
	return number - XC_SAMPLED_TEXTS < v->texts.count ? v->texts.texts[number - XC_SAMPLED_TEXTS] : "(others)";
}
