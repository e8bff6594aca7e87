/* export_text: a table, the worst cluster in full, and what to do next. Written for a person who was woken up. */
#include <stdio.h>
#include <string.h>

#include "core/render/paint.h"
#include "batch/export/export_cluster.h"
#include "batch/export/export_worst.h"

/* A long kind is dropped from the class, and in a narrow terminal any kind, before function names are cut:
 * "heap-corruption (overrun)" fits. */
enum { STATE = 1, CLASS_MAX = 25, CLASS_NARROW = 20, NARROW = 100, GAP = 2, PLACE_MAX = 40, PROGRAM_LEAST = 16 };

/* The start columns, by content. */
struct layout {
	size_t severity, count, count_width, id, class_name, class_width, where;
};

struct page {
	struct xc_paint paint;
	const struct xc_problems *problems;
	const struct xc_export_options *options;
	struct layout at;
	bool states;   /* there is a baseline, so states are shown */
	bool programs; /* there are several */
};

static void put_name(struct xc_paint *p, enum xc_style style, const char *string, size_t columns)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	xc_export_name(&p->scratch, string);
	xc_paint_cut(p, style, p->scratch.bytes, columns);
}

/* Columns left in the line. */
static size_t room_in(struct xc_paint *p)
{
	size_t column = xc_paint_column(p);
	return p->width > column ? p->width - column : 1;
}

/* ---- head ---- */

static void put_head(struct page *page)
{
	struct xc_paint *p = &page->paint;
	struct xc_text text = {0};
	xc_export_totals(&text, page->problems);
	xc_paint_put(p, XC_BOLD, xc_text_string(&text));
	text.len = 0;
	if (page->problems->failed_count) {
		xc_export_failures(&text, page->problems);
		xc_paint_put(p, XC_PLAIN, "      ");
		xc_paint_put(p, XC_YELLOW, xc_text_string(&text));
	}
	xc_text_fini(&text);
	xc_paint_line(p);
	if (page->problems->counts[XC_PROBLEM_UNSEEN] && page->problems->partial) {
		xc_paint_put(p, XC_YELLOW, "not everything was examined, so nothing is gone: ");
		put_name(p, XC_YELLOW, page->problems->partial, room_in(p));
		xc_paint_line(p);
	}
	if (page->problems->unread) {
		text = (struct xc_text){0};
		xc_render_count(&text, page->problems->unread);
		xc_text_add(&text, page->problems->unread == 1 ? " file or directory" : " files and directories");
		xc_text_add(&text, " could not be opened: there may be more cores");
		xc_paint_put(p, XC_YELLOW, xc_text_string(&text));
		xc_text_fini(&text);
		xc_paint_line(p);
	}
	for (size_t i = 0; i < page->problems->missing_part_count; i++) {
		xc_paint_put(p, XC_YELLOW, "missing: ");
		put_name(p, XC_YELLOW, page->problems->missing_parts[i], room_in(p));
		xc_paint_line(p);
	}
}

/* ---- table ---- */

static size_t digits(size_t number)
{
	struct xc_text text = {0};
	xc_render_count(&text, number);
	size_t len = text.len;
	xc_text_fini(&text);
	return len;
}

/* Do the clusters shown belong to several programs? */
static bool are_mixed(const struct xc_problems *problems, size_t shown)
{
	const char *first = NULL;
	for (size_t i = 0; i < shown; i++) {
		const struct xc_problem_member *member = xc_problem_shown(&problems->problems[i]);
		const char *program = member ? member->record->program : NULL;
		if (program && first && strcmp(program, first) != 0)
			return true;
		first = first ? first : program;
	}
	return false;
}

static size_t class_room(const struct xc_paint *p)
{
	return p->width < NARROW ? CLASS_NARROW : CLASS_MAX;
}

/* With its kind if both fit. Uses the scratch text. */
static const char *class_of(struct xc_paint *p, const struct xc_export_cluster *c)
{
	p->scratch.len = 0;
	xc_export_class(&p->scratch, c);
	if (xc_render_columns(p->scratch.bytes, p->scratch.len) > class_room(p)) {
		p->scratch.len = 0;
		xc_export_name(&p->scratch, c->class_name);
	}
	return p->scratch.bytes;
}

static void lay_out(struct page *page)
{
	const size_t most = class_room(&page->paint);
	size_t classes = strlen("CLASS"), counts = 1, shown = xc_export_shown(page->problems, page->options);
	for (size_t i = 0; i < shown; i++) {
		struct xc_export_cluster c = xc_export_cluster(&page->problems->problems[i], page->options);
		const char *words = class_of(&page->paint, &c);
		size_t columns = xc_render_columns(words, strlen(words));
		size_t width = digits(c.problem->member_count);
		classes = columns > classes ? columns : classes;
		counts = width > counts ? width : counts;
		page->states |= c.problem->state != XC_PROBLEM_OPEN;
		xc_export_cluster_fini(&c);
	}
	page->programs = are_mixed(page->problems, shown);
	struct layout *at = &page->at;
	at->severity = page->states ? STATE + strlen("expired") + GAP : STATE;
	at->count = at->severity + strlen("critical") + GAP;
	at->count_width = counts;
	at->id = at->count + counts + GAP;
	at->class_name = at->id + sizeof((struct xc_problem *)0)->id - 1 + GAP;
	at->class_width = classes < most ? classes : most;
	at->where = at->class_name + at->class_width + GAP;
}

static void put_titles(struct page *page)
{
	struct xc_paint *p = &page->paint;
	const struct layout *at = &page->at;
	if (page->states) {
		xc_paint_pad(p, STATE);
		xc_paint_put(p, XC_DIM, "STATE");
	}
	xc_paint_pad(p, at->severity);
	xc_paint_put(p, XC_DIM, "SEV");
	xc_paint_pad(p, at->count + at->count_width - 1);
	xc_paint_put(p, XC_DIM, "N");
	xc_paint_pad(p, at->id);
	xc_paint_put(p, XC_DIM, "CLUSTER");
	xc_paint_pad(p, at->class_name);
	xc_paint_put(p, XC_DIM, "CLASS");
	xc_paint_pad(p, at->where);
	xc_paint_put(p, XC_DIM, "WHERE");
	xc_paint_line(p);
}

static enum xc_style state_style(const struct xc_problem *problem)
{
	if (problem->state == XC_PROBLEM_NEW || problem->expired)
		return XC_RED;
	return problem->state == XC_PROBLEM_FLAKY ? XC_YELLOW : XC_DIM;
}

static enum xc_style severity_style(unsigned rank)
{
	static const enum xc_style styles[] = {XC_DIM, XC_PLAIN, XC_YELLOW, XC_RED, XC_RED};
	return styles[rank];
}

/* The last component of an absolute path; the whole path is shown with the cluster in full. */
static const char *last_of(const char *place)
{
	const char *slash = xc_export_whole(place) ? strrchr(place, '/') : NULL;
	return slash ? slash + 1 : place;
}

static size_t name_columns(struct xc_paint *p, const char *name)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	xc_export_name(&p->scratch, name);
	return xc_render_columns(p->scratch.bytes, p->scratch.len);
}

/* Cut only to leave room for what follows, and never below a minimum width. */
static void put_program(struct xc_paint *p, const char *program, size_t behind)
{
	const size_t room = room_in(p), left = room > behind + GAP ? room - behind - GAP : 0;
	put_name(p, XC_PLAIN, program, left > PROGRAM_LEAST ? left : PROGRAM_LEAST);
	xc_paint_put(p, XC_PLAIN, ": ");
}

static void put_where(struct page *page, const struct xc_export_cluster *c)
{
	struct xc_paint *p = &page->paint;
	struct xc_text place = {0};
	xc_export_place(&place, c);
	const char *shown = last_of(xc_text_string(&place));
	const char *names = c->signature->lost ? xc_signature_doubt(c->signature) : xc_export_names(c);
	size_t wanted = xc_render_columns(shown, strlen(shown));
	wanted = wanted > PLACE_MAX ? PLACE_MAX : wanted;
	if (page->programs && c->record->program)
		put_program(p, c->record->program, name_columns(p, names) + (wanted ? wanted + GAP : 0));
	size_t room = room_in(p);
	if (wanted + GAP >= room)
		wanted = 0; /* narrow terminal: functions are more informative */
	put_name(p, XC_FUNCTION, names, room - (wanted ? wanted + GAP : 0));
	if (wanted) {
		xc_paint_put(p, XC_PLAIN, "  ");
		xc_paint_cut(p, XC_PLACE, shown, wanted);
	}
	xc_text_fini(&place);
}

static void put_row(struct page *page, const struct xc_export_cluster *c)
{
	struct xc_paint *p = &page->paint;
	const struct layout *at = &page->at;
	struct xc_text count = {0};
	if (page->states) {
		xc_paint_pad(p, STATE);
		xc_paint_put(p, state_style(c->problem), c->state);
	}
	xc_paint_pad(p, at->severity);
	xc_paint_cut(p, severity_style(c->rank), c->record ? c->severity : "", strlen("critical"));
	xc_render_count(&count, c->problem->member_count);
	xc_paint_pad(p, at->count + at->count_width - count.len);
	xc_paint_put(p, XC_BOLD, xc_text_string(&count));
	xc_paint_pad(p, at->id);
	xc_paint_put(p, XC_PLAIN, c->problem->id);
	xc_paint_pad(p, at->class_name);
	if (c->record)
		xc_paint_cut(p, XC_PLAIN, class_of(p, c), at->class_width);
	xc_paint_pad(p, at->where);
	if (c->record)
		put_where(page, c);
	else
		put_name(p, XC_DIM, c->problem->text ? c->problem->text : "", room_in(p));
	xc_paint_line(p);
	xc_text_fini(&count);
}

/* Explains the part of N that is copies. */
static void put_copies(struct page *page, size_t shown)
{
	struct xc_text text = {0};
	size_t copies = 0;
	for (size_t i = 0; i < shown; i++)
		for (size_t k = 0; k < page->problems->problems[i].member_count; k++)
			copies += page->problems->problems[i].members[k].copy_of != NULL;
	if (!copies)
		return;
	xc_text_add(&text, " N counts files: ");
	xc_render_count(&text, copies);
	xc_text_add(&text, copies == 1 ? " is a copy of another core" : " are copies of other cores");
	xc_paint_put(&page->paint, XC_DIM, xc_text_string(&text));
	xc_paint_line(&page->paint);
	xc_text_fini(&text);
}

static void put_table(struct page *page)
{
	size_t shown = xc_export_shown(page->problems, page->options);
	if (!shown)
		return;
	lay_out(page);
	put_titles(page);
	for (size_t i = 0; i < shown; i++) {
		struct xc_export_cluster c = xc_export_cluster(&page->problems->problems[i], page->options);
		put_row(page, &c);
		xc_export_cluster_fini(&c);
	}
	put_copies(page, shown);
	if (shown < page->problems->count) {
		xc_text_printf(&page->paint.page, " … and %zu more", page->problems->count - shown);
		xc_paint_line(&page->paint);
	}
}

static struct xc_error *write_table(const struct xc_problems *problems, const struct xc_export_options *options,
				    FILE *out)
{
	const struct xc_render_options render = {.color = options->color, .width = options->width};
	struct page page = {.paint = xc_paint_start(out, &render), .problems = problems, .options = options};
	put_head(&page);
	put_table(&page);
	xc_export_worst(&page.paint, problems, options);
	return xc_paint_finish(&page.paint);
}

const struct xc_export xc_export_text = {"text", ".txt", "a table for people", write_table};
