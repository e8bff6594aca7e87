/* export_junit: XML for the JUnit readers of CI systems. There is no standard: the elements and attributes are those
 * that Jenkins and GitLab support.
 *
 * A cluster is a test case. It fails when it is new or there is no baseline, is skipped when the baseline has it, and
 * passes when it is gone. A core without a verdict is an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/xmltext.h"
#include "batch/export/export_cluster.h"

enum { CASES_MAX = 100000, STACK_ROWS = 32 };

struct junit {
	FILE *out;
	struct xc_text text;    /* not written yet */
	struct xc_text scratch; /* text to be escaped */
	const struct xc_problems *problems;
	const struct xc_export_options *options;
};

/* Adds an attribute whose value is a string of the target. */
static void attribute(struct junit *j, const char *name, const char *value)
{
	struct xc_text clean = {0};
	xc_export_name(&clean, value);
	xc_text_printf(&j->text, " %s=\"", name);
	xc_xmltext(&j->text, xc_text_string(&clean));
	xc_text_char(&j->text, '"');
	xc_text_fini(&clean);
}

static void number(struct junit *j, const char *name, size_t value)
{
	xc_text_printf(&j->text, " %s=\"%zu\"", name, value);
}

/* Adds the scratch text as an attribute. */
static void scratch_attribute(struct junit *j, const char *name)
{
	attribute(j, name, xc_text_string(&j->scratch));
	j->scratch.len = 0;
	xc_text_addn(&j->scratch, "", 0);
}

/* Adds the scratch text as the content of an element, line by line. */
static void scratch_lines(struct junit *j)
{
	char *rest = xc_text_take(&j->scratch), *at = rest;
	for (char *line; (line = strsep(&at, "\n"));) {
		xc_xmltext(&j->text, line);
		xc_text_add(&j->text, at && *at ? "\n" : "");
	}
	free(rest);
}

static void flush(struct junit *j)
{
	fwrite(xc_text_string(&j->text), 1, j->text.len, j->out); /* the stream remembers a failure */
	j->text.len = 0;
}

/* ---- cases ---- */

static void put_failure(struct junit *j, const struct xc_export_cluster *c)
{
	xc_text_add(&j->text, "<failure");
	attribute(j, "type", c->class_name);
	xc_export_title(&j->scratch, c);
	xc_text_printf(&j->scratch, " (%s, %s)", c->state, c->severity);
	scratch_attribute(j, "message");
	xc_text_char(&j->text, '>');
	xc_export_words(&j->scratch, c);
	xc_export_stack(&j->scratch, c, j->options, STACK_ROWS);
	xc_text_add(&j->scratch, "core: ");
	xc_export_name(&j->scratch, xc_record_shown(c->record));
	scratch_lines(j);
	xc_text_add(&j->text, "</failure>");
}

static void put_skipped(struct junit *j, const struct xc_export_cluster *c)
{
	const bool unseen = c->problem->state == XC_PROBLEM_UNSEEN;
	xc_text_printf(&j->scratch, unseen ? "%s" : "%s in the baseline", c->state);
	if (c->problem->why)
		xc_text_printf(&j->scratch, "%s%s", unseen ? ": " : ", ", c->problem->why);
	if (c->problem->note) {
		xc_text_add(&j->scratch, ": ");
		xc_export_name(&j->scratch, c->problem->note);
	}
	xc_text_add(&j->text, "<skipped");
	scratch_attribute(j, "message");
	xc_text_add(&j->text, "/>");
}

/* A gone problem passes. An unseen one was not looked for, so it is skipped. */
static bool is_skipped(const struct xc_problem *problem)
{
	return !xc_export_is_open(problem) && problem->state != XC_PROBLEM_GONE;
}

/* Readers identify a case by class and name, so both are the same whether there is a core or only the baseline's text,
 * which begins with the class. */
static void class_attribute(struct junit *j, const struct xc_export_cluster *c)
{
	const char *text = xc_export_signature(c), *end = strstr(text, " | ");
	xc_auto(xc_freep) char *first = xc_asprintf("%.*s", (int)(end ? end - text : 0), text);
	attribute(j, "classname", *first ? first : c->class_name);
}

static void put_case(struct junit *j, const struct xc_export_cluster *c)
{
	unsigned line;
	xc_auto(xc_freep) char *file = xc_export_source(c, j->options, &line);
	xc_text_add(&j->text, "<testcase");
	class_attribute(j, c);
	xc_text_printf(&j->scratch, "%s %s", c->problem->id, xc_export_signature(c));
	scratch_attribute(j, "name");
	if (file) {
		attribute(j, "file", file);
		number(j, "line", line);
	}
	xc_text_add(&j->text, " time=\"0\">");
	if (xc_export_is_open(c->problem))
		put_failure(j, c);
	else if (is_skipped(c->problem))
		put_skipped(j, c);
	xc_text_add(&j->text, "</testcase>\n");
	flush(j);
}

static void put_error(struct junit *j, const char *name, const char *type, const char *why)
{
	xc_text_add(&j->text, "<testcase classname=\"without a verdict\"");
	attribute(j, "name", name);
	xc_text_add(&j->text, " time=\"0\"><error");
	attribute(j, "type", type);
	attribute(j, "message", why);
	xc_text_add(&j->text, "/></testcase>\n");
	flush(j);
}

/* ---- the suite ---- */

static size_t at_most(size_t count)
{
	return count < CASES_MAX ? count : CASES_MAX;
}

static void put_counts(struct junit *j)
{
	const struct xc_problems *p = j->problems;
	size_t failures = 0, skipped = 0, clusters = at_most(p->count);
	size_t errors = at_most(p->failed_count) + at_most(p->missing_part_count);
	for (size_t i = 0; i < clusters; i++) {
		failures += xc_export_is_open(&p->problems[i]);
		skipped += is_skipped(&p->problems[i]);
	}
	number(j, "tests", clusters + errors);
	number(j, "failures", failures);
	number(j, "errors", errors);
	number(j, "skipped", skipped);
	xc_text_add(&j->text, " time=\"0\">\n");
}

static void property(struct junit *j, const char *name, size_t value)
{
	xc_text_printf(&j->text, "<property name=\"%s\"", name);
	number(j, "value", value);
	xc_text_add(&j->text, "/>\n");
}

static void put_properties(struct junit *j)
{
	const struct xc_problems *p = j->problems;
	xc_text_add(&j->text, "<properties>\n");
	property(j, "cores", p->cores);
	property(j, "clusters", p->count);
	for (enum xc_problem_state state = XC_PROBLEM_OPEN; state < XC_PROBLEM_STATES; state++)
		property(j, xc_problem_state_name(state), p->counts[state]);
	property(j, "clusters left out", p->count - at_most(p->count));
	property(j, "failed cores left out", p->failed_count - at_most(p->failed_count));
	xc_text_add(&j->text, "</properties>\n");
}

static struct xc_error *write_suite(const struct xc_problems *problems, const struct xc_export_options *options,
				    FILE *out)
{
	struct junit j = {.out = out, .problems = problems, .options = options};
	xc_text_add(&j.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"xcore triage\"");
	put_counts(&j);
	xc_text_add(&j.text, "<testsuite name=\"cores\"");
	put_counts(&j);
	put_properties(&j);
	for (size_t i = 0; i < at_most(problems->count); i++) {
		struct xc_export_cluster c = xc_export_cluster(&problems->problems[i], options);
		put_case(&j, &c);
		xc_export_cluster_fini(&c);
	}
	for (size_t i = 0; i < at_most(problems->missing_part_count); i++)
		put_error(&j, problems->missing_parts[i], "missing", "the part is not there");
	for (size_t i = 0; i < at_most(problems->failed_count); i++) {
		const struct xc_record *r = problems->failed[i];
		put_error(&j, xc_record_shown(r), xc_record_status_name(r->status), r->why ? r->why : "");
	}
	xc_text_add(&j.text, "</testsuite>\n</testsuites>\n");
	flush(&j);
	xc_text_fini(&j.text);
	xc_text_fini(&j.scratch);
	return xc_export_end(out, "JUnit");
}

const struct xc_export xc_export_junit = {"junit", ".xml", "JUnit's XML, for test reports", write_suite};
