/* format_text: ISO C 7.21.6.1 with the extensions of POSIX and of glibc 2.36 (stdio-common/vfprintf-internal.c). */
#include "triage/libc/format_text.h"

#include <ctype.h>
#include <string.h>

struct parser {
	const char *at;
	size_t words, floats; /* taken so far */
	bool known;
};

static size_t number(struct parser *p)
{
	size_t value = 0;
	for (; isdigit((unsigned char)*p->at); p->at++)
		value = value < 10000 ? 10 * value + (size_t)(*p->at - '0') : value;
	return value;
}

/* A width or a precision: digits, or an argument. */
static void skip_number(struct parser *p)
{
	if (*p->at != '*') {
		number(p);
		return;
	}
	p->at++;
	size_t digits = strspn(p->at, "0123456789");
	if (digits && p->at[digits] == '$')
		p->at += digits + 1;
	else
		p->words++;
}

/* "2$": the number of the argument, from 1; 0: none is given. */
static size_t position(struct parser *p)
{
	size_t digits = strspn(p->at, "0123456789");
	if (!digits || p->at[digits] != '$')
		return 0;
	size_t value = number(p);
	p->at++;
	return value;
}

/* At a '%'. False when it is no conversion. */
static bool parse_one(struct parser *p, const char *text, struct xc_conversion *out)
{
	const char *begin = p->at++;
	size_t at = position(p);
	p->at += strspn(p->at, "-+ #0'I");
	skip_number(p);
	if (*p->at == '.') {
		p->at++;
		skip_number(p);
	}
	const char *length = p->at;
	p->at += strspn(p->at, "hlLqjztZ");
	char letter = *p->at;
	if (!letter || !strchr("diouxXcCsSpnmeEfFgGaA%", letter))
		return false;
	p->at++;
	bool real = strchr("eEfFgGaA", letter), wide = real && (memchr(length, 'L', (size_t)(p->at - length)));
	*out = (struct xc_conversion){.letter = letter == 'S'   ? 's'
						: letter == 'C' ? 'c'
								: letter,
				      .argument = at ? at - 1 : p->words,
				      .floats = p->floats,
				      .known = p->known && !(at && p->floats),
				      .begin = (size_t)(begin - text),
				      .length = (size_t)(p->at - begin)};
	p->known = p->known && !wide;
	p->floats += real;
	p->words += !at && !real && letter != '%' && letter != 'm';
	return true;
}

size_t xc_format_text_parse(const char *text, struct xc_conversion *out, size_t most)
{
	struct parser p = {.at = text, .known = true};
	size_t count = 0;
	while (count < most && (p.at = strchr(p.at, '%')) != NULL) {
		if (!parse_one(&p, text, &out[count]))
			break;
		count += out[count].letter != '%' && out[count].letter != 'm';
	}
	return count;
}
