/* export_text: a table, the worst cluster in full, and what to do next. Read by a person who was woken up. */
#include <stdio.h>
#include <string.h>

#include "../core/paint.h"
#include "export_cluster.h"
#include "export_worst.h"

enum { STATE = 1, CLASS_MAX = 20, GAP = 2, PLACE_MAX = 40, PROGRAM_MAX = 16 };

/* Columns at which things stand, by what is in them. */
struct layout {
	size_t severity, count, count_width, id, class_name, where;
};

struct page {
	struct xc_paint paint;
	const struct xc_problems *problems;
	const struct xc_export_options *options;
	struct layout at;
	bool states;   /* there is a baseline: how clusters stand to it is shown */
	bool programs; /* there are several */
};

static void put_name(struct xc_paint *p, enum xc_style style, const char *string, size_t columns)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	xc_export_name(&p->scratch, string);
	xc_paint_cut(p, style, p->scratch.bytes, columns);
}

/* Columns that are left in the line. */
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
		xc_paint_put(p, XC_YELLOW, "not all was looked at, so nothing is gone: ");
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

static void lay_out(struct page *page)
{
	size_t classes = strlen("CLASS"), counts = 1, shown = xc_export_shown(page->problems, page->options);
	for (size_t i = 0; i < shown; i++) {
		struct xc_export_cluster c = xc_export_cluster(&page->problems->problems[i], page->options);
		size_t columns = xc_render_columns(c.class_name, strlen(c.class_name));
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
	at->where = at->class_name + (classes < CLASS_MAX ? classes : CLASS_MAX) + GAP;
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

/* Of a path from the root the last component: the rest stands with the cluster in full. */
static const char *last_of(const char *place)
{
	const char *slash = xc_export_whole(place) ? strrchr(place, '/') : NULL;
	return slash ? slash + 1 : place;
}

static void put_where(struct page *page, const struct xc_export_cluster *c)
{
	struct xc_paint *p = &page->paint;
	struct xc_text place = {0};
	xc_export_place(&place, c);
	const char *shown = last_of(xc_text_string(&place));
	size_t wanted = xc_render_columns(shown, strlen(shown));
	if (page->programs && c->record->program) {
		put_name(p, XC_PLAIN, c->record->program, PROGRAM_MAX);
		xc_paint_put(p, XC_PLAIN, ": ");
	}
	size_t room = room_in(p);
	wanted = wanted > PLACE_MAX ? PLACE_MAX : wanted;
	if (wanted + GAP >= room)
		wanted = 0; /* a narrow terminal: the functions tell more */
	put_name(p, XC_FUNCTION, c->signature->lost ? xc_signature_doubt(c->signature) : xc_export_names(c),
		 room - (wanted ? wanted + GAP : 0));
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
	put_name(p, XC_PLAIN, c->record ? c->class_name : "", CLASS_MAX);
	xc_paint_pad(p, at->where);
	if (c->record)
		put_where(page, c);
	else
		put_name(p, XC_DIM, c->problem->text ? c->problem->text : "", room_in(p));
	xc_paint_line(p);
	xc_text_fini(&count);
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
	if (shown < page->problems->count) {
		xc_text_printf(&page->paint.page, " … and %zu more", page->problems->count - shown);
		xc_paint_line(&page->paint);
	}
}

struct xc_error *xc_export_text(const struct xc_problems *problems, const struct xc_export_options *options, FILE *out)
{
	const struct xc_render_options render = {.color = options->color, .width = options->width};
	struct page page = {.paint = xc_paint_start(out, &render), .problems = problems, .options = options};
	put_head(&page);
	put_table(&page);
	xc_export_worst(&page.paint, problems, options);
	return xc_paint_finish(&page.paint);
}
