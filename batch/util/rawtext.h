/* rawtext: any bytes, names of files above all, as a text of JSON and back without loss.
 *
 * A backslash becomes \x5c, and so do all bytes that are not ASCII where the text is no UTF-8: \xNN each. Other texts stay as they are. */
#ifndef XC_RAWTEXT_H
#define XC_RAWTEXT_H

#include <jansson.h>

#include "core/base/arena.h"

json_t *xc_rawtext_json(const char *text); /* new */

/* What was written, in the arena; NULL when it is no text, or one that is not written so. */
char *xc_rawtext_parse(const json_t *value, struct xc_arena *arena);

#endif
