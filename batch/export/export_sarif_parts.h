/* export_sarif_parts: objects that occur throughout SARIF. All are new. */
#ifndef XC_EXPORT_SARIF_PARTS_H
#define XC_EXPORT_SARIF_PARTS_H

#include <jansson.h>

#include "core/base/text.h"

/* A message from text that is escaped as a name and may have several lines; the text is then empty. */
json_t *xc_sarif_message(struct xc_text *text);

/* A string of the target as a displayable value. */
json_t *xc_sarif_name(const char *string);

/* A string of the target as a message. */
json_t *xc_sarif_words(const char *string);

/* Our own text, without brackets, braces and backslashes, as a message. */
json_t *xc_sarif_plain(const char *string);

/* An array of one value; takes the value. */
json_t *xc_sarif_list(json_t *only);

/* A line (0: none) of an exported path that belongs to the repository or else begins at the root; NULL for other paths
 * and for NULL. */
json_t *xc_sarif_physical(const char *path, unsigned line, bool inside);

/* Takes `where`. Both arguments may be NULL. */
json_t *xc_sarif_location(json_t *where, const char *function);

#endif
