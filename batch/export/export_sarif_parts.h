/* export_sarif_parts: the objects of SARIF that stand everywhere in it. All are new. */
#ifndef XC_EXPORT_SARIF_PARTS_H
#define XC_EXPORT_SARIF_PARTS_H

#include <jansson.h>

#include "core/base/text.h"

/* A message of text that is escaped as a name and may have lines; text is empty afterwards. */
json_t *xc_sarif_message(struct xc_text *text);

/* A string of the target as a value that viewers may show. */
json_t *xc_sarif_name(const char *string);

/* A message of a string of the target. */
json_t *xc_sarif_words(const char *string);

/* A message of our own words, which have no brackets, braces and backslashes. */
json_t *xc_sarif_plain(const char *string);

/* An array of one value, which is taken. */
json_t *xc_sarif_list(json_t *only);

/* A line (0: none) of an exported path, which is the repository's or else begins at the root; NULL for other paths, and NULL. */
json_t *xc_sarif_physical(const char *path, unsigned line, bool inside);

/* Takes `where`, which may be NULL, as may the function. */
json_t *xc_sarif_location(json_t *where, const char *function);

#endif
