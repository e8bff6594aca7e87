/* export_json: one document, written cluster by cluster. */
#include "core/text/jsonstream.h"
#include "batch/export/export_object.h"

static struct xc_error *write_document(const struct xc_problems *problems, const struct xc_export_options *options,
				       FILE *out)
{
	struct xc_jsonstream stream = xc_jsonstream_start(out);
	xc_jsonstream_open(&stream, NULL, '{');
	xc_jsonstream_members(&stream, xc_export_object_head(problems));
	xc_jsonstream_open(&stream, "clusters", '[');
	for (size_t i = 0; i < problems->count; i++) {
		xc_jsonstream_line(&stream);
		xc_jsonstream_element(&stream, xc_export_object_cluster(&problems->problems[i], options));
	}
	xc_jsonstream_close(&stream, ']');
	xc_jsonstream_open(&stream, "failed", '[');
	for (size_t i = 0; i < problems->failed_count; i++) {
		xc_jsonstream_line(&stream);
		xc_jsonstream_element(&stream, xc_export_object_failure(problems->failed[i]));
	}
	xc_jsonstream_close(&stream, ']');
	xc_jsonstream_close(&stream, '}');
	return xc_jsonstream_finish(&stream);
}

const struct xc_export xc_export_json = {"json", ".json", "all that is known, as one document", write_document};
