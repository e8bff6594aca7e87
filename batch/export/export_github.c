/* export_github: workflow commands for GitHub's runner. It shows ten errors, ten warnings and ten notices per step and
 * drops the rest. So the worst come first, and the last of a kind reports the number of the others. In a value, '%' and
 * line ends are written as %XX; in a property also ':' and ',', which would end it (actions/toolkit, command.ts). */
#include <stdio.h>

#include "core/render/render.h"
#include "batch/export/export_cluster.h"

enum { SHOWN = 10, STACK_ROWS = 10 };

struct annotation {
	const char *kind; /* "error", … */
	char *file;       /* or NULL */
	unsigned line;
	struct xc_text title, message;
};

static void put(FILE *out, const char *text, bool property)
{
	for (; *text; text++)
		if (*text == '%' || *text == '\n' || (property && (*text == ':' || *text == ',')))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			putc(*text, out);
}

/* Writes the annotation and empties it. */
static void put_annotation(FILE *out, struct annotation *a)
{
	fprintf(out, "::%s ", a->kind);
	if (a->file) {
		struct xc_text name = {0};
		xc_export_name(&name, a->file);
		fputs("file=", out);
		put(out, xc_text_string(&name), true);
		fprintf(out, ",line=%u,", a->line);
		xc_text_fini(&name);
	}
	fputs("title=", out);
	put(out, xc_text_string(&a->title), true);
	fputs("::", out);
	xc_export_trim(&a->message);
	put(out, xc_text_string(&a->message), false);
	putc('\n', out);
	xc_freep(&a->file);
	xc_text_fini(&a->title);
	xc_text_fini(&a->message);
}

static void put_cluster(FILE *out, const char *kind, const struct xc_problem *problem,
			const struct xc_export_options *options)
{
	struct xc_export_cluster c = xc_export_cluster(problem, options);
	struct annotation a = {.kind = kind};
	a.file = xc_export_source(&c, options, &a.line);
	xc_export_title(&a.title, &c);
	xc_text_printf(&a.title, " (%s, %s)", c.state, c.severity);
	xc_export_words(&a.message, &c);
	xc_export_stack(&a.message, &c, options, STACK_ROWS);
	xc_text_printf(&a.message, "cluster %s, core ", problem->id);
	xc_export_name(&a.message, xc_record_shown(c.record));
	put_annotation(out, &a);
	xc_export_cluster_fini(&c);
}

static void put_words(FILE *out, const char *kind, const char *title, const char *message)
{
	struct annotation a = {.kind = kind};
	xc_text_add(&a.title, title);
	xc_text_add(&a.message, message);
	put_annotation(out, &a);
}

/* ---- kinds ---- */

static bool is_flaky(const struct xc_problem *p)
{
	return p->state == XC_PROBLEM_FLAKY && !p->expired;
}

/* Writes the clusters that `is` selects; `taken` is the number of places of this kind that are used otherwise. */
static void put_clusters(FILE *out, const char *kind, const struct xc_problems *problems,
			 const struct xc_export_options *options, bool (*is)(const struct xc_problem *p), size_t taken)
{
	size_t all = 0, shown = 0, room = SHOWN - taken;
	for (size_t i = 0; i < problems->count; i++)
		all += is(&problems->problems[i]);
	if (options->limit && options->limit < room)
		room = options->limit;
	if (all > room)
		room--; /* one place is for the summary of the others */
	for (size_t i = 0; i < problems->count && shown < room; i++)
		if (is(&problems->problems[i])) {
			put_cluster(out, kind, &problems->problems[i], options);
			shown++;
		}
	if (shown < all) {
		xc_auto(xc_freep) char *more =
			xc_asprintf("and %zu more cluster%s", all - shown, all - shown == 1 ? "" : "s");
		put_words(out, kind, more, "The other exports have them all.");
	}
}

static void put_failures(FILE *out, const struct xc_problems *problems)
{
	struct xc_text words = {0};
	xc_export_failures(&words, problems);
	if (problems->failed_count)
		put_words(out, "warning", "cores without a verdict", xc_text_string(&words));
	xc_text_fini(&words);
}

static void put_missing(FILE *out, const struct xc_problems *problems)
{
	struct xc_text words = {0};
	for (size_t i = 0; i < problems->missing_part_count && i < SHOWN; i++) {
		xc_export_name(&words, problems->missing_parts[i]);
		xc_text_char(&words, '\n');
	}
	if (problems->missing_part_count > SHOWN)
		xc_text_printf(&words, "and %zu more", problems->missing_part_count - SHOWN);
	if (problems->missing_part_count)
		put_words(out, "error", "parts are missing", xc_text_string(&words));
	xc_text_fini(&words);
}

static struct xc_error *write_annotations(const struct xc_problems *problems, const struct xc_export_options *options,
					  FILE *out)
{
	struct xc_text totals = {0};
	put_missing(out, problems);
	put_clusters(out, "error", problems, options, xc_export_is_open, problems->missing_part_count != 0);
	put_failures(out, problems);
	put_clusters(out, "warning", problems, options, is_flaky, problems->failed_count != 0);
	xc_export_totals(&totals, problems);
	put_words(out, "notice", "xcore triage", xc_text_string(&totals));
	xc_text_fini(&totals);
	return xc_export_end(out, "annotations");
}

const struct xc_export xc_export_github = {"github", ".txt", "annotations, for the log of a GitHub action",
					   write_annotations};
