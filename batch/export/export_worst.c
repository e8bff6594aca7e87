/* export_worst: the first cluster in the table that has cores is the worst. The suggested commands can be pasted into a
 * shell, so file names, which may be an attacker's, are quoted. */
#include "batch/export/export_worst.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/shellword.h"
#include "batch/export/export_cluster.h"

enum { STACK_ROWS = 8, FAILED_ROWS = 10, ABSENT_ROWS = 3, INDENT = 2, DEEP = 4 };

static void put_words(struct xc_paint *p, enum xc_style style, const char *words, size_t indent)
{
	p->scratch.len = 0;
	xc_export_name(&p->scratch, words);
	xc_paint_pad(p, indent);
	xc_paint_wrapped(p, style, xc_text_string(&p->scratch), indent, 0);
}

static void put_title(struct xc_paint *p, const char *title)
{
	xc_paint_blank(p);
	xc_paint_put(p, XC_BOLD, title);
	xc_paint_line(p);
}

/* ---- the cluster ---- */

static void put_title_of(struct xc_paint *p, const struct xc_export_cluster *c)
{
	struct xc_text text = {0};
	xc_paint_blank(p);
	xc_text_printf(&text, "%s  ", c->problem->id);
	xc_export_class(&text, c);
	xc_paint_put(p, XC_BOLD, xc_text_string(&text));
	text.len = 0;
	xc_text_add(&text, "  ");
	if (c->problem->state != XC_PROBLEM_OPEN)
		xc_text_printf(&text, "%s, ", c->state);
	xc_text_printf(&text, "%s, ", c->severity);
	xc_render_count(&text, c->problem->member_count);
	xc_text_printf(&text, " core%s of ", c->problem->member_count == 1 ? "" : "s");
	xc_export_name(&text, c->record->program ? c->record->program : "an unknown program");
	if (c->problem->guessed) {
		xc_text_add(&text, ", ");
		xc_render_count(&text, c->problem->guessed);
		xc_text_add(&text, " by a guess");
	}
	xc_paint_wrapped(p, XC_PLAIN, xc_text_string(&text), INDENT, 0);
	xc_paint_line(p);
	xc_text_fini(&text);
}

static void put_frame(struct xc_paint *p, const struct xc_export_cluster *c, size_t index,
		      const struct xc_export_options *options)
{
	const struct xc_record_frame *frame = &c->record->frames[index];
	struct xc_text place = {0};
	xc_export_frame_place(&place, frame, options);
	xc_text_printf(&p->page, "%*s#%-3zu ", DEEP, "", index);
	put_words(p, XC_FUNCTION, c->signature->frames[index].shown, 0);
	xc_paint_put(p, XC_PLAIN, "  ");
	xc_paint_put(p, XC_PLACE, xc_text_string(&place));
	xc_paint_line(p);
	xc_text_fini(&place);
}

static void put_thread(struct xc_paint *p, const char *thread)
{
	if (!thread)
		return;
	xc_text_printf(&p->page, "%*s", DEEP, "");
	put_words(p, XC_PLAIN, thread, 0);
	xc_paint_line(p);
}

static void put_stack(struct xc_paint *p, const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	const struct xc_signature *s = c->signature;
	size_t rows[STACK_ROWS], count = xc_export_rows(c, STACK_ROWS, rows);
	for (size_t i = 0; i < count; i++) {
		put_thread(p, xc_export_thread(c, rows[i]));
		put_frame(p, c, s->shown[rows[i]], options);
	}
	if (count < s->shown_count) {
		xc_text_printf(&p->page, "%*s… and %zu more that count", DEEP, "", s->shown_count - count);
		xc_paint_line(p);
	}
}

static void put_standing(struct xc_paint *p, const struct xc_export_cluster *c)
{
	struct xc_text text = {0};
	xc_export_standing(&text, c);
	char *saved = NULL;
	for (char *line = text.len ? strtok_r(text.bytes, "\n", &saved) : NULL; line;
	     line = strtok_r(NULL, "\n", &saved)) {
		xc_paint_pad(p, INDENT);
		xc_paint_wrapped(p, XC_YELLOW, line, INDENT, 0);
		xc_paint_line(p);
	}
	xc_text_fini(&text);
}

static void put_cluster(struct xc_paint *p, const struct xc_export_cluster *c, const struct xc_export_options *options)
{
	const struct xc_record *r = c->record;
	const char *const sentences[] = {r->headline, r->cause, xc_export_origin(r), xc_signature_doubt(c->signature)};
	const char *const before[] = {"", "", "value: ", ""};
	put_title_of(p, c);
	for (size_t i = 0; i < XC_COUNT(sentences); i++) {
		if (!sentences[i])
			continue;
		xc_paint_pad(p, INDENT);
		xc_paint_put(p, XC_PLAIN, before[i]);
		put_words(p, XC_PLAIN, sentences[i], INDENT);
		xc_paint_line(p);
	}
	put_standing(p, c);
	put_stack(p, c, options);
}

/* ---- unreadable cores ---- */

static void put_failed(struct xc_paint *p, const struct xc_problems *problems)
{
	size_t rows = problems->failed_count < FAILED_ROWS ? problems->failed_count : FAILED_ROWS;
	if (!rows)
		return;
	put_title(p, "without an answer");
	for (size_t i = 0; i < rows; i++) {
		const struct xc_record *r = problems->failed[i];
		put_words(p, XC_PLAIN, xc_record_shown(r), INDENT);
		xc_text_printf(&p->page, ": %s: ", xc_record_status_name(r->status));
		put_words(p, XC_YELLOW, r->why ? r->why : "", DEEP);
		xc_paint_line(p);
	}
	if (rows < problems->failed_count) {
		xc_text_printf(&p->page, "%*s… and %zu more", INDENT, "", problems->failed_count - rows);
		xc_paint_line(p);
	}
}

/* ---- suggested commands ---- */

/* `analyze` refuses a program that does not belong to the core. */
static bool is_of_core(const char *word, const struct xc_record *record)
{
	return !record->without_exe || strncmp(word, "--exe=", 6) != 0;
}

static void put_command(struct xc_paint *p, const char *command, const struct xc_wordlist *words,
			const struct xc_export_options *options, const struct xc_record *record, const char *about)
{
	const char *file = options->file_of ? options->file_of(options->user, record->path) : NULL;
	xc_paint_pad(p, INDENT);
	xc_paint_put(p, XC_PLAIN, command);
	for (size_t i = 0; i < words->count; i++) {
		if (!is_of_core(words->items[i], record))
			continue;
		xc_shellword_add(&p->page, words->items[i]);
		xc_paint_put(p, XC_PLAIN, " ");
	}
	xc_shellword_add_file(&p->page, file && !record->shown ? file : xc_record_shown(record));
	xc_paint_put(p, XC_DIM, "    # ");
	xc_paint_put(p, XC_DIM, about);
	xc_paint_put(p, XC_DIM, file ? "" : ", run where the cores are");
	xc_paint_line(p);
}

struct absence {
	const char *module; /* "libfoo.so.1 BUILDID: why" */
	size_t len;         /* length without the reason */
	size_t clusters;
};

static int by_module(const void *a, const void *b)
{
	const struct absence *x = a, *y = b;
	int order = strncmp(x->module, y->module, x->len < y->len ? x->len : y->len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static int by_clusters(const void *a, const void *b)
{
	const struct absence *x = a, *y = b;
	return x->clusters != y->clusters ? (x->clusters < y->clusters) - (x->clusters > y->clusters) : by_module(a, b);
}

/* The modules missing from the clusters' representatives, without duplicates; malloc'ed. */
static struct absence *find_absent(const struct xc_problems *problems, size_t *count_out)
{
	struct absence *list = NULL;
	size_t count = 0, capacity = 0, unique = 0;
	for (size_t i = 0; i < problems->count; i++) {
		const struct xc_problem_member *shown = xc_problem_shown(&problems->problems[i]);
		for (size_t k = 0; shown && k < shown->record->absent_count; k++) {
			const char *module = shown->record->absent[k];
			list = xc_grow(list, count, &capacity, sizeof *list);
			list[count++] = (struct absence){module, strcspn(module, ":"), 1};
		}
	}
	if (count)
		qsort(list, count, sizeof *list, by_module);
	for (size_t i = 0; i < count; i++)
		if (unique && by_module(&list[unique - 1], &list[i]) == 0)
			list[unique - 1].clusters++;
		else
			list[unique++] = list[i];
	if (unique)
		qsort(list, unique, sizeof *list, by_clusters);
	*count_out = unique;
	return list;
}

static void put_absent(struct xc_paint *p, const struct xc_problems *problems)
{
	size_t count;
	xc_auto(xc_freep) struct absence *list = find_absent(problems, &count);
	for (size_t i = 0; i < count && i < ABSENT_ROWS; i++) {
		xc_auto(xc_freep) char *module = xc_asprintf("%.*s", (int)list[i].len, list[i].module);
		put_words(p, XC_PLAIN, "give the file of ", INDENT);
		put_words(p, XC_YELLOW, module, 0);
		xc_text_printf(&p->page, " with --debug-dir or --sysroot: %zu cluster%s", list[i].clusters,
			       list[i].clusters == 1 ? " lacks it" : "s lack it");
		xc_paint_line(p);
	}
	if (count > ABSENT_ROWS) {
		xc_text_printf(&p->page, "%*s… and of %zu more", INDENT, "", count - ABSENT_ROWS);
		xc_paint_line(p);
	}
}

static void put_next(struct xc_paint *p, const struct xc_problems *problems, const struct xc_export_cluster *c,
		     const struct xc_export_options *options)
{
	put_title(p, "next");
	put_command(p, "xcore analyze ", &options->analyze, options, c->record, "all of it");
	put_command(p, "xcore triage --explain ", &options->explain, options, c->record, "why it is in this cluster");
	put_absent(p, problems);
}

void xc_export_worst(struct xc_paint *paint, const struct xc_problems *problems,
		     const struct xc_export_options *options)
{
	size_t at = 0;
	while (at < problems->count && !xc_problem_shown(&problems->problems[at]))
		at++;
	if (at == problems->count) {
		put_failed(paint, problems);
		return;
	}
	struct xc_export_cluster c = xc_export_cluster(&problems->problems[at], options);
	put_cluster(paint, &c, options);
	put_failed(paint, problems);
	put_next(paint, problems, &c, options);
	xc_export_cluster_fini(&c);
}
