/* format_text: the conversions of a printf format, and which of a call's arguments each takes. */
#ifndef XC_FORMAT_TEXT_H
#define XC_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct xc_conversion {
	char letter;     /* 's', 'n', 'd', …; wide ones as 's' and 'c' */
	size_t argument; /* its number among the arguments that are no floating-point numbers */
	size_t floats;   /* arguments before it that are */
	bool known;      /* false: a `long double`, or a position ("%2$s") beside such, makes the number doubtful */
	size_t begin, length; /* of the conversion in the text, in bytes */
};

/* The conversions of the text, in order, those without arguments ("%%", "%m") left out: at most `most`. Returns how
 * many. A text that ends within a conversion, or has a letter that is none, ends before it, as in glibc. */
size_t xc_format_text_parse(const char *text, struct xc_conversion *out, size_t most);

#endif
