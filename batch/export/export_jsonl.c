/* export_jsonl: a line for the whole, then a line for each cluster and each core without a verdict, told apart by
 * "type". For tools that read line by line. */
#include <stdlib.h>

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "batch/export/export_object.h"

static struct xc_error *line(FILE *out, const char *type, json_t *object)
{
	struct xc_jsonstream stream = xc_jsonstream_start(out);
	xc_jsonvalue_set(object, "type", xc_jsonvalue_text(type));
	xc_jsonstream_element(&stream, object);
	return xc_jsonstream_finish(&stream);
}

static struct xc_error *write_lines(const struct xc_problems *problems, const struct xc_export_options *options,
				    FILE *out)
{
	struct xc_error *err = line(out, "triage", xc_export_object_head(problems));
	for (size_t i = 0; i < problems->count && !err; i++)
		err = line(out, "cluster", xc_export_object_cluster(&problems->problems[i], options));
	for (size_t i = 0; i < problems->failed_count && !err; i++)
		err = line(out, "failed", xc_export_object_failure(problems->failed[i]));
	return err;
}

const struct xc_export xc_export_jsonl = {
	"jsonl", ".jsonl", "the same as json, a line for each cluster and each core that failed", write_lines};
