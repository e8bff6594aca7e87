/* problems: the result of a small hand-made batch: clusters of every state, one without a source location, one with
 * attacker-controlled strings, cores without a verdict, and a missing part. */
#ifndef XC_TEST_PROBLEMS_H
#define XC_TEST_PROBLEMS_H

#include "batch/problems/problems.h"

/* Content of hostile cores and file names: terminal escapes of both kinds, HTML and Markdown markup, the end of a CDATA
 * section and of a script, commands for CI systems, one on a separate line, quotes, malformed UTF-8, and bidi
 * controls. */
#define PROBLEMS_HOSTILE                                                                                               \
	"a\033[31m\xc2\x9b"                                                                                            \
	"1m</script><b onload=\"x\">'&amp;\xff\xfe\xe2\x80\xae]]>\n::error "                                           \
	"file=x::owned\r\n|`[l](http://x)*#%0A##[error]x ##vso[x]y\x07"

/* Compared with a baseline. New clusters come first, as in problems.h. */
struct xc_problems *problems_made(void);

/* Clusters of one core each, all of the same class, without a baseline. */
struct xc_problems *problems_many(size_t count);

/* Recompute each cluster's classes after its members change. */
void problems_class(struct xc_problems *problems);

void problems_unmake(struct xc_problems *problems);

#endif
