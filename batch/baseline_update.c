/* baseline_update: the old entries with one more update, and new ones, in the order of their names. */
#include <stdlib.h>
#include <string.h>

#include "../core/text.h"
#include "baseline_impl.h"
#include "problems.h"

/* An entry to be written. */
struct line {
	struct xc_baseline_entry entry; /* first: lines are sorted as entries are */
	bool there;                     /* a cluster of this run is it */
	const char **sigs;              /* those of the entry and new ones; owned */
	size_t capacity;
};

struct update {
	const struct xc_baseline *old; /* or NULL */
	struct line *lines;            /* first those of the old entries, in their order */
	size_t count, capacity;
	bool partial;                     /* not all was looked at: no update */
	const struct xc_problem *problem; /* the present one */
};

/* ---- what is to be written ---- */

static void add_sig(struct line *line, const char *sig)
{
	line->sigs = xc_grow(line->sigs, line->entry.sig_count, &line->capacity, sizeof *line->sigs);
	line->sigs[line->entry.sig_count++] = sig;
}

static struct line *add_line(struct update *u, const struct xc_baseline_entry *entry)
{
	u->lines = xc_grow(u->lines, u->count, &u->capacity, sizeof *u->lines);
	struct line *line = &u->lines[u->count++];
	*line = (struct line){.entry = *entry};
	line->entry.sig_count = 0;
	for (size_t i = 0; i < entry->sig_count; i++)
		add_sig(line, entry->sigs[i]);
	return line;
}

/* And what is worse now is accepted. */
static void mark_there(void *user, size_t entry)
{
	struct update *u = user;
	struct xc_baseline_entry *e = &u->lines[entry].entry;
	u->lines[entry].there = true;
	if (e->id && e->severity && xc_severity_rank(u->problem->severity) > xc_severity_rank(e->severity))
		e->severity = u->problem->severity;
}

static void add_sigs(struct line *line, const struct xc_problem *problem)
{
	for (size_t i = 0; i < problem->member_count; i++)
		if (xc_baseline_counts(problem, &problem->members[i]))
			add_sig(line, problem->members[i].signature->sig);
}

static void take_problem(struct update *u, const struct xc_problem *problem)
{
	struct xc_baseline_answer known = {0};
	u->problem = problem;
	if (u->old)
		known = xc_baseline_ask(u->old, problem, NULL, mark_there, u);
	if (known.entry && known.entry->id) {
		add_sigs(&u->lines[known.entry - u->old->entries], problem);
		return;
	}
	if (known.entry && problem->state != XC_PROBLEM_NEW && !problem->expired) /* a pattern's: it stays as it is */
		return;
	const unsigned rank = xc_severity_rank(problem->severity);
	const struct xc_baseline_entry entry = {.id = problem->id,
						.severity = xc_severity_name(rank),
						.text = xc_problem_shown(problem)->signature->text,
						.above = ""};
	struct line *line = add_line(u, &entry);
	line->there = true;
	add_sigs(line, problem);
}

static void count_run(const struct update *u, struct xc_baseline_entry *e, bool there)
{
	struct xc_baseline_updates *updates = &e->updates;
	if (e->match)
		return;
	if (there && xc_baseline_standing(e, NULL) == XC_BASELINE_REPAIRED)
		*updates = (struct xc_baseline_updates){0};
	if (u->partial)
		return;
	updates->there = (uint16_t)(updates->there << 1 | there);
	updates->count += updates->count < XC_BASELINE_WINDOW;
}

/* ---- writing ---- */

/* Cut, sorted, and none that another one is the beginning of. */
static void write_sigs(struct xc_text *text, struct line *line)
{
	const char *last = NULL;
	if (line->entry.sig_count)
		qsort(line->sigs, line->entry.sig_count, sizeof *line->sigs, xc_text_order);
	for (size_t i = 0; i < line->entry.sig_count; i++) {
		const char *sig = line->sigs[i];
		if (last && !strncmp(last, sig, strlen(last) < XC_BASELINE_SIG ? strlen(last) : XC_BASELINE_SIG))
			continue;
		xc_text_printf(text, "%s%.*s", last ? "," : " sig=", XC_BASELINE_SIG, sig);
		last = sig;
	}
}

static void write_updates(struct xc_text *text, const struct xc_baseline_updates *updates)
{
	if (updates->count)
		xc_text_add(text, " seen=");
	for (unsigned i = updates->count; i-- > 0;)
		xc_text_char(text, updates->there >> i & 1 ? '+' : '-');
}

static void write_line(struct xc_text *text, struct line *line)
{
	const struct xc_baseline_entry *e = &line->entry;
	const char *words = e->match ? e->match : e->text;
	xc_text_add(text, e->above);
	xc_text_add(text, e->match ? "match" : e->id);
	if (e->expires)
		xc_text_printf(text, " expires=%s", e->expires);
	if (e->severity)
		xc_text_printf(text, " severity=%s", e->severity);
	write_updates(text, &e->updates);
	write_sigs(text, line);
	if (words && *words) {
		xc_text_add(text, " | ");
		xc_baseline_write_text(text, words);
	}
	if (e->note)
		xc_text_printf(text, " # %s", e->note);
	xc_text_char(text, '\n');
}

static char *write_all(struct update *u)
{
	struct xc_text text = {0};
	const char *head = u->old && u->old->head ? u->old->head : "";
	xc_text_printf(&text, "%s\n%s\n", XC_BASELINE_MAGIC, head);
	for (size_t i = 0; i < u->count; i++) {
		write_line(&text, &u->lines[i]);
		free(u->lines[i].sigs);
	}
	if (u->old)
		xc_text_add(&text, u->old->tail);
	return xc_text_take(&text);
}

char *xc_baseline_update(const struct xc_baseline *old, const struct xc_problems *problems)
{
	struct update u = {.old = old, .partial = problems->partial != NULL};
	for (size_t i = 0; old && i < old->count; i++)
		add_line(&u, &old->entries[i]);
	for (size_t i = 0; i < problems->count; i++)
		if (problems->problems[i].member_count)
			take_problem(&u, &problems->problems[i]);
	for (size_t i = 0; i < u.count; i++)
		count_run(&u, &u.lines[i].entry, u.lines[i].there);
	if (u.count)
		qsort(u.lines, u.count, sizeof *u.lines, xc_baseline_by_name);
	char *text = write_all(&u);
	free(u.lines);
	return text;
}
