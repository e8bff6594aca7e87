/* render_json: shared by the files of the JSON renderer. */
#ifndef XC_RENDER_JSON_H
#define XC_RENDER_JSON_H

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "core/render/render.h"

struct xc_json { /* the state of a writer */
	struct xc_jsonstream *stream;
	const struct xc_render_options *options;
};

void xc_json_set_text(json_t *object, const char *key, const char *text); /* NULL gives null */
void xc_json_set_bool(json_t *object, const char *key, bool value);
void xc_json_set_count(json_t *object, const char *key, uint64_t count);
void xc_json_set_line(json_t *object, unsigned line); /* of source: counts from 1, 0 gives null */

/* render_json_stacks.c: the members of a stacks object, into the open object. */
void xc_json_stacks(const struct xc_json *v, const struct xc_stacks *stacks);

#endif
