/* rawtext: encodes arbitrary bytes, such as file names, as JSON text without loss.
 *
 * A backslash becomes \x5c. If the text is not valid UTF-8, every byte that is not ASCII becomes \xNN. Other texts stay
 * unchanged. */
#ifndef XC_RAWTEXT_H
#define XC_RAWTEXT_H

#include <jansson.h>

#include "core/base/arena.h"

json_t *xc_rawtext_json(const char *text); /* new */

/* The decoded text, in the arena; NULL if the value is not a text in this encoding. */
char *xc_rawtext_parse(const json_t *value, struct xc_arena *arena);

#endif
