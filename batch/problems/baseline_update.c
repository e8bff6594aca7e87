/* baseline_update: the old entries with one more update, plus new entries, sorted by name. */
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "batch/problems/baseline_impl.h"
#include "batch/problems/problem.h"

/* A list of words with commas: the entry's and new ones, in any order, possibly twice; owned. */
struct list {
	const char **words;
	size_t count, capacity;
};

/* An entry to be written. */
struct line {
	struct xc_baseline_entry entry;   /* first, so that lines sort as entries do; its own lists are ignored */
	const struct xc_problem *problem; /* the last problem of this run that it knows; NULL: none */
	struct list sigs, classes;
};

struct update {
	const struct xc_baseline *old; /* or NULL */
	struct line *lines;            /* the old entries come first, in their order */
	size_t count, capacity;
	bool partial;                     /* not everything was examined, so this is no update */
	const struct xc_problem *problem; /* the current one */
};

/* ---- contents ---- */

static void add_word(struct list *list, const char *word)
{
	list->words = xc_grow(list->words, list->count, &list->capacity, sizeof *list->words);
	list->words[list->count++] = word;
}

static struct line *add_line(struct update *u, const struct xc_baseline_entry *entry)
{
	u->lines = xc_grow(u->lines, u->count, &u->capacity, sizeof *u->lines);
	struct line *line = &u->lines[u->count++];
	*line = (struct line){.entry = *entry};
	for (size_t i = 0; i < entry->sig_count; i++)
		add_word(&line->sigs, entry->sigs[i]);
	for (size_t i = 0; i < entry->class_count; i++)
		add_word(&line->classes, entry->classes[i]);
	return line;
}

static void add_classes(struct line *line, const struct xc_problem *problem)
{
	for (size_t i = 0; i < problem->class_count && problem->classes[i].certain; i++)
		add_word(&line->classes, problem->classes[i].name);
}

/* Accepts what exceeds the old acceptance; a line that accepts any stays so. */
static void mark_there(void *user, size_t entry)
{
	struct update *u = user;
	struct line *line = &u->lines[entry];
	if (line->problem == u->problem)
		return; /* it knows the problem by several sigs */
	line->problem = u->problem;
	if (!line->entry.id)
		return;
	if (xc_baseline_is_worse(&line->entry, u->problem))
		line->entry.severity = u->problem->severity;
	if (line->entry.class_count)
		add_classes(line, u->problem);
}

static void add_sigs(struct line *line, const struct xc_problem *problem)
{
	for (size_t i = 0; i < problem->member_count; i++)
		if (xc_baseline_counts(problem, &problem->members[i]))
			add_word(&line->sigs, problem->members[i].signature->sig);
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
	/* known by a pattern, which stays unchanged */
	if (known.entry && problem->state != XC_PROBLEM_NEW && !problem->expired)
		return;
	const unsigned rank = xc_severity_rank(problem->severity);
	const struct xc_baseline_entry entry = {.id = problem->id,
						.severity = xc_severity_name(rank),
						.text = xc_problem_shown(problem)->signature->text,
						.above = ""};
	struct line *line = add_line(u, &entry);
	line->problem = problem;
	add_sigs(line, problem);
	add_classes(line, problem);
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

static void sort(struct list *list)
{
	if (list->count)
		qsort(list->words, list->count, sizeof *list->words, xc_text_order);
}

/* Shortens and sorts the sigs, and drops those that begin with another one. */
static void write_sigs(struct xc_text *text, struct list *sigs)
{
	const char *last = NULL;
	sort(sigs);
	for (size_t i = 0; i < sigs->count; i++) {
		const char *sig = sigs->words[i];
		if (last && !strncmp(last, sig, strlen(last) < XC_BASELINE_SIG ? strlen(last) : XC_BASELINE_SIG))
			continue;
		xc_text_printf(text, "%s%.*s", last ? "," : " sig=", XC_BASELINE_SIG, sig);
		last = sig;
	}
}

static void write_classes(struct xc_text *text, struct list *classes)
{
	sort(classes);
	for (size_t i = 0; i < classes->count; i++) {
		if (i && !strcmp(classes->words[i - 1], classes->words[i]))
			continue;
		xc_text_add(text, i ? "," : " class=");
		xc_baseline_write_word(text, classes->words[i]);
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
	write_classes(text, &line->classes);
	write_updates(text, &e->updates);
	write_sigs(text, &line->sigs);
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
		free(u->lines[i].sigs.words);
		free(u->lines[i].classes.words);
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
		count_run(&u, &u.lines[i].entry, u.lines[i].problem);
	if (u.count)
		qsort(u.lines, u.count, sizeof *u.lines, xc_baseline_by_name);
	char *text = write_all(&u);
	free(u.lines);
	return text;
}
