/* problems: the result of a small batch, made by hand: clusters of every state, one without a place in the source, one whose strings are
 * an attacker's, cores that gave no verdict, and a part that is missing. */
#ifndef XC_TEST_PROBLEMS_H
#define XC_TEST_PROBLEMS_H

#include "batch/problems/problems.h"

/* What hostile cores and file names are made of: terminal escapes of both kinds, markup of HTML and of Markdown, the end of a CDATA section and of
 * a script, commands for CI systems, one on a line of its own, quotes, malformed UTF-8, and what reorders text. */
#define PROBLEMS_HOSTILE                                                                                               \
	"a\033[31m\xc2\x9b"                                                                                            \
	"1m</script><b onload=\"x\">'&amp;\xff\xfe\xe2\x80\xae]]>\n::error "                                           \
	"file=x::owned\r\n|`[l](http://x)*#%0A##[error]x ##vso[x]y\x07"

/* Compared with a baseline; new ones first, as in problems.h. */
struct xc_problems *problems_made(void);

/* So many clusters of a core each, of the same class, without a baseline. */
struct xc_problems *problems_many(size_t count);

/* Find the classes of each again, when members have become others. */
void problems_class(struct xc_problems *problems);

void problems_unmake(struct xc_problems *problems);

#endif
