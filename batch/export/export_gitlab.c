/* export_gitlab: a Code Quality report, the part of Code Climate's format that GitLab reads. A merge request shows the
 * difference of two branches by fingerprint, so known clusters are included. */
#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "batch/export/export_cluster.h"

static json_t *location_of(const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	json_t *location = json_object(), *lines = json_object();
	unsigned line;
	xc_auto(xc_freep) char *path = xc_export_source(c, options, &line);
	struct xc_text name = {0};
	xc_export_name(&name,
		       path ? path : xc_record_shown(c->record)); /* a location is required: the core's name serves */
	xc_jsonvalue_set(lines, "begin", xc_jsonvalue_count(line));
	xc_jsonvalue_set(location, "path", xc_jsonvalue_text(xc_text_string(&name)));
	xc_jsonvalue_set(location, "lines", lines);
	xc_text_fini(&name);
	return location;
}

static json_t *issue_of(const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	static const char *const severities[] = {"info", "minor", "major", "critical", "blocker"};
	json_t *issue = json_object();
	struct xc_text text = {0};
	xc_export_title(&text, c);
	xc_text_add(&text, "\n");
	xc_export_words(&text, c);
	xc_export_trim(&text);
	xc_jsonvalue_set(issue, "description", xc_jsonvalue_text(xc_text_string(&text)));
	text.len = 0;
	xc_export_name(&text, c->class_name);
	xc_jsonvalue_set(issue, "check_name", xc_jsonvalue_text(xc_text_string(&text)));
	xc_jsonvalue_set(issue, "fingerprint", xc_jsonvalue_text(c->problem->id));
	xc_jsonvalue_set(issue, "severity", xc_jsonvalue_text(severities[c->rank]));
	xc_jsonvalue_set(issue, "location", location_of(c, options));
	xc_text_fini(&text);
	return issue;
}

static struct xc_error *write_issues(const struct xc_problems *problems, const struct xc_export_options *options,
				     FILE *out)
{
	struct xc_jsonstream stream = xc_jsonstream_start(out);
	xc_jsonstream_open(&stream, NULL, '[');
	for (size_t i = 0; i < problems->count; i++) {
		struct xc_export_cluster c = xc_export_cluster(&problems->problems[i], options);
		if (c.record) {
			xc_jsonstream_line(&stream);
			xc_jsonstream_element(&stream, issue_of(&c, options));
		}
		xc_export_cluster_fini(&c);
	}
	xc_jsonstream_close(&stream, ']');
	return xc_jsonstream_finish(&stream);
}

const struct xc_export xc_export_gitlab = {"gitlab", ".json", "a Code Quality report of GitLab", write_issues};
