/* export_sarif: SARIF 2.1.0 (OASIS, errata 01), as GitHub's code scanning reads it.
 *
 * There is one run, because files with many are refused. A rule is a class, a result a cluster. GitHub stores at most
 * 5,000 results, worst first, and a few hundred of their frames; a notification reports what is left out. GitHub drops
 * results without a location in the repository, so the manifest may serve as one. */
#include <stdio.h>

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"
#include "batch/export/export_cluster.h"
#include "batch/export/export_sarif_parts.h"
#include "batch/export/export_sarif_rules.h"
#include "batch/export/export_sarif_stacks.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

enum { RESULTS_MAX = 5000, NOTICES_MAX = 1000 };

struct sarif {
	struct xc_jsonstream stream;
	const struct xc_problems *problems;
	const struct xc_export_options *options;
	struct xc_sarif_rules rules;
	size_t results, left_out, placeless;
};

/* ---- results ---- */

/* NULL if there is none. */
static json_t *location_of(const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	unsigned line;
	xc_auto(xc_freep) char *path = xc_export_source(c, options, &line);
	return path ? xc_sarif_location(xc_sarif_physical(path, line, true), c->function) : NULL;
}

static bool is_result(const struct sarif *s, size_t i)
{
	return s->problems->problems[i].member_count && s->results < RESULTS_MAX;
}

static void find_rules(struct sarif *s)
{
	for (size_t i = 0; i < s->problems->count; i++) {
		struct xc_export_cluster c = xc_export_cluster(&s->problems->problems[i], s->options);
		if (is_result(s, i)) {
			xc_sarif_rules_add(&s->rules, &c);
			s->results++;
		}
		xc_export_cluster_fini(&c);
	}
	xc_sarif_rules_sort(&s->rules);
	s->results = 0;
}

static json_t *tool_of(const struct sarif *s)
{
	json_t *tool = json_object(), *driver = json_object();
	xc_jsonvalue_set(driver, "name", xc_jsonvalue_text("xcore"));
	if (s->problems->version)
		xc_jsonvalue_set(driver, "version", xc_sarif_name(s->problems->version));
	xc_jsonvalue_set(driver, "rules", xc_sarif_rules_json(&s->rules));
	xc_jsonvalue_set(tool, "driver", driver);
	return tool;
}

/* Either all results of a run have suppressions, or none has (3.27.23). So with a baseline, an open result has an empty
 * list. */
static void set_state(json_t *result, const struct xc_problem *problem)
{
	json_t *suppressions = json_array();
	bool is_new = problem->state == XC_PROBLEM_NEW;
	if (!is_new && !problem->expired) {
		json_t *object = json_object();
		xc_jsonvalue_set(object, "kind", xc_jsonvalue_text("external"));
		xc_jsonvalue_set(object, "status", xc_jsonvalue_text("accepted"));
		if (problem->note)
			xc_jsonvalue_set(object, "justification", xc_sarif_name(problem->note));
		json_array_append_new(suppressions, object);
	}
	xc_jsonvalue_set(result, "baselineState", xc_jsonvalue_text(is_new ? "new" : "unchanged"));
	xc_jsonvalue_set(result, "suppressions", suppressions);
}

static void set_fingerprints(json_t *result, const struct xc_export_cluster *c)
{
	json_t *prints = json_object();
	xc_auto(xc_freep) char *line = xc_asprintf("%s:1", c->problem->id);
	xc_jsonvalue_set(prints, "primaryLocationLineHash", xc_jsonvalue_text(line));
	xc_jsonvalue_set(prints, "xcoreSignature/v" XC_SIGNATURE_VERSION, xc_jsonvalue_text(c->signature->sig));
	xc_jsonvalue_set(result, "partialFingerprints", prints);
}

static json_t *text_of(const struct xc_export_cluster *c)
{
	struct xc_text text = {0};
	xc_export_title(&text, c);
	xc_text_add(&text, ".\n");
	xc_export_words(&text, c);
	xc_text_printf(&text, "cluster %s\n", c->problem->id);
	return xc_sarif_message(&text);
}

static json_t *properties_of(const struct xc_export_cluster *c)
{
	json_t *properties = json_object();
	xc_jsonvalue_set(properties, "tags", xc_sarif_tags(c->class_name));
	xc_jsonvalue_set(properties, "cluster", xc_jsonvalue_text(c->problem->id));
	xc_jsonvalue_set(properties, "severity", xc_jsonvalue_text(c->severity));
	xc_jsonvalue_set(properties, "state", xc_jsonvalue_text(c->state));
	xc_jsonvalue_set(properties, "signature", xc_sarif_name(xc_export_signature(c)));
	return properties;
}

static json_t *result_of(struct sarif *s, const struct xc_export_cluster *c)
{
	size_t rule = xc_sarif_rules_index(&s->rules, c->class_name);
	json_t *result = json_object(), *where = location_of(c, s->options), *flow = xc_sarif_flow(c, s->options);
	xc_jsonvalue_set(result, "ruleId", xc_jsonvalue_text(s->rules.rules[rule].id));
	xc_jsonvalue_set(result, "ruleIndex", xc_jsonvalue_count(rule));
	xc_jsonvalue_set(result, "level", xc_jsonvalue_text(xc_sarif_level(c->rank)));
	xc_jsonvalue_set(result, "message", text_of(c));
	s->placeless += !where;
	xc_jsonvalue_set(result, "locations", where ? xc_sarif_list(where) : json_array());
	set_fingerprints(result, c);
	xc_jsonvalue_set(result, "occurrenceCount", xc_jsonvalue_count(c->problem->member_count));
	if (flow)
		xc_jsonvalue_set(result, "codeFlows", xc_sarif_list(flow));
	xc_jsonvalue_set(result, "stacks", xc_sarif_stacks(c, s->options));
	if (c->problem->state != XC_PROBLEM_OPEN)
		set_state(result, c->problem);
	xc_jsonvalue_set(result, "properties", properties_of(c));
	return result;
}

static void put_results(struct sarif *s)
{
	xc_jsonstream_open(&s->stream, "results", '[');
	for (size_t i = 0; i < s->problems->count; i++) {
		struct xc_export_cluster c = xc_export_cluster(&s->problems->problems[i], s->options);
		s->left_out += c.record && !is_result(s, i);
		if (is_result(s, i)) {
			xc_jsonstream_line(&s->stream);
			xc_jsonstream_element(&s->stream, result_of(s, &c));
			s->results++;
		}
		xc_export_cluster_fini(&c);
	}
	xc_jsonstream_close(&s->stream, ']');
}

/* ---- invocation ---- */

/* Takes ownership of the text. */
static void notify(json_t *notices, const char *how_bad, struct xc_text *text)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "level", xc_jsonvalue_text(how_bad));
	xc_jsonvalue_set(object, "message", xc_sarif_message(text));
	json_array_append_new(notices, object);
}

static void notify_failures(json_t *notices, const struct xc_problems *problems)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < problems->failed_count && i < NOTICES_MAX; i++) {
		const struct xc_record *r = problems->failed[i];
		xc_export_name(&text, xc_record_shown(r));
		xc_text_printf(&text, ": %s: ", xc_record_status_name(r->status));
		xc_export_name(&text, r->why ? r->why : "");
		notify(notices, "warning", &text);
	}
	if (problems->failed_count > NOTICES_MAX) {
		xc_text_printf(&text, "%zu more cores gave no verdict", problems->failed_count - NOTICES_MAX);
		notify(notices, "warning", &text);
	}
}

static json_t *invocation_of(const struct sarif *s)
{
	json_t *object = json_object(), *notices = json_array();
	struct xc_text text = {0};
	for (size_t i = 0; i < s->problems->missing_part_count; i++) {
		xc_text_add(&text, "missing part: ");
		xc_export_name(&text, s->problems->missing_parts[i]);
		notify(notices, "error", &text);
	}
	if (s->left_out) {
		xc_text_printf(&text, "left out: %zu clusters; the worst %d are here", s->left_out, RESULTS_MAX);
		notify(notices, "warning", &text);
	}
	if (s->placeless) {
		xc_text_printf(&text,
			       "without a place in the repository: %zu clusters; --source-root is where its "
			       "sources were, --manifest a file for such clusters",
			       s->placeless);
		notify(notices, "note", &text);
	}
	notify_failures(notices, s->problems);
	xc_jsonvalue_set(object, "executionSuccessful", json_boolean(!s->problems->missing_part_count));
	xc_jsonvalue_set(object, "toolExecutionNotifications", notices);
	return object;
}

static json_t *identity(void)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "id", xc_jsonvalue_text("xcore/triage/"));
	return object;
}

static json_t *bases(void)
{
	json_t *object = json_object(), *root = json_object();
	xc_jsonvalue_set(root, "description", xc_sarif_plain("The root of the repository."));
	xc_jsonvalue_set(object, "%SRCROOT%", root);
	return object;
}

static struct xc_error *write_log(const struct xc_problems *problems, const struct xc_export_options *options,
				  FILE *out)
{
	struct sarif s = {.stream = xc_jsonstream_start(out), .problems = problems, .options = options};
	find_rules(&s);
	xc_jsonstream_open(&s.stream, NULL, '{');
	xc_jsonstream_member(&s.stream, "$schema", xc_jsonvalue_text(SCHEMA));
	xc_jsonstream_member(&s.stream, "version", xc_jsonvalue_text("2.1.0"));
	xc_jsonstream_open(&s.stream, "runs", '[');
	xc_jsonstream_open(&s.stream, NULL, '{');
	xc_jsonstream_member(&s.stream, "tool", tool_of(&s));
	xc_jsonstream_member(&s.stream, "automationDetails", identity());
	xc_jsonstream_member(&s.stream, "originalUriBaseIds", bases());
	put_results(&s);
	xc_jsonstream_member(&s.stream, "invocations", xc_sarif_list(invocation_of(&s)));
	xc_jsonstream_close(&s.stream, '}');
	xc_jsonstream_close(&s.stream, ']');
	xc_jsonstream_close(&s.stream, '}');
	xc_sarif_rules_fini(&s.rules);
	return xc_jsonstream_finish(&s.stream);
}

const struct xc_export xc_export_sarif = {"sarif", ".sarif", "SARIF 2.1.0, for code scanning", write_log};
