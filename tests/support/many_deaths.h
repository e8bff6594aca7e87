/* many_deaths: one program with many ways to die, because compilation takes most of the time. Its argument, a number,
 * selects the code that its function work() runs.
 *
 *	struct xc_text source = {0};
 *	many_deaths_begin(&source, HEAD);   with <stdlib.h> and `volatile int zero`
 *	many_deaths_add(&source, 0, "p = 0; *p = 1;");
 *	many_deaths_end(&source);
 *	died_of(compiler, xc_text_string(&source), many_deaths_number(0)) */
#ifndef XC_TEST_MANY_DEATHS_H
#define XC_TEST_MANY_DEATHS_H

#include <stdio.h>

#include "core/base/text.h"

static inline void many_deaths_begin(struct xc_text *source, const char *head)
{
	xc_text_add(source, head);
	xc_text_add(source, "__attribute__((noinline)) int work(int a, int what) {\nswitch (what) {\n");
}

/* The body may use `a`, which is 1. */
static inline void many_deaths_add(struct xc_text *source, size_t number, const char *body)
{
	xc_text_printf(source, "case %zu: { %s } break;\n", number, body);
}

static inline void many_deaths_end(struct xc_text *source)
{
	xc_text_add(source, "} return a + zero; }\n"
			    "int main(int argc, char **argv) { return work(1, atoi(argv[1])) + 1; }\n");
}

/* Valid until the next call. */
static inline const char *many_deaths_number(size_t number)
{
	static char text[24];
	snprintf(text, sizeof text, "%zu", number);
	return text;
}

#endif
