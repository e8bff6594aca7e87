/* states: looks each problem up in the baseline. An entry gives its id to one problem only. If two problems descend
 * from one entry, the one with the entry's original sig gets it, else the one with the smaller id. */
#include "batch/problems/states.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

struct setter {
	struct xc_problems *problems;
	const struct xc_baseline *baseline;
	const char *today;
	bool *there;               /* by entry: some problem matches it */
	struct xc_problem **heirs; /* by entry: the problem that gets its id */
	bool *contains;            /* by entry: that problem has the entry's sig */
};

static const char weakly[] = "only by a short or broken stack: another crash may look the same";

static void mark_there(void *user, size_t entry)
{
	struct setter *s = user;
	s->there[entry] = true;
}

static const char *how_often(struct xc_problems *problems, const struct xc_baseline_entry *e)
{
	return xc_arena_printf(&problems->arena, "it comes and goes: present in %u of the last %u updates",
			       xc_baseline_seen(e), e->updates.count);
}

/* Takes ownership of the text. */
static const char *kept(struct xc_problems *problems, struct xc_text *text)
{
	const char *words = xc_arena_strdup(&problems->arena, xc_text_string(text));
	xc_text_fini(text);
	return words;
}

/* What the entry did not accept. Class names may be arbitrary text. */
static const char *what_is_more(struct xc_problems *problems, const struct xc_problem *problem,
				const struct xc_baseline_entry *e)
{
	struct xc_text text = {0};
	bool first = true;
	if (xc_baseline_is_worse(e, problem))
		xc_text_printf(&text, "worse than accepted: %s", e->severity);
	for (size_t i = 0; i < problem->class_count; i++) {
		if (xc_baseline_accepts(e, &problem->classes[i]))
			continue;
		xc_text_add(&text, !first ? ", " : text.len ? "; " : "");
		xc_text_add(&text, first ? "a class that was not accepted: " : "");
		xc_text_name(&text, problem->classes[i].name);
		first = false;
	}
	return kept(problems, &text);
}

static const char *who_is_unfit(struct xc_problems *problems, const struct xc_signature *unfit)
{
	struct xc_text text = {0};
	xc_text_add(&text, "match lines match its other cores, but not: ");
	xc_text_name(&text, unfit->told);
	return kept(problems, &text);
}

static void set_state(struct xc_problems *problems, struct xc_problem *problem, const struct xc_baseline_answer *answer)
{
	const struct xc_baseline_entry *e = answer->entry;
	problem->state = XC_PROBLEM_NEW;
	if (!e) {
		problem->why = answer->unfit ? who_is_unfit(problems, answer->unfit) : NULL;
		return;
	}
	problem->note = e->note;
	problem->expires = e->expires;
	if (answer->standing == XC_BASELINE_MORE)
		problem->why = what_is_more(problems, problem, e);
	if (answer->standing == XC_BASELINE_MORE || answer->standing == XC_BASELINE_REPAIRED)
		return;
	problem->state = xc_baseline_flaky(e) ? XC_PROBLEM_FLAKY : XC_PROBLEM_KNOWN;
	if (answer->weak)
		problem->why = weakly;
	else if (problem->state == XC_PROBLEM_FLAKY)
		problem->why = how_often(problems, e);
	problem->expired = answer->standing == XC_BASELINE_EXPIRED;
}

static void claim(struct setter *s, struct xc_problem *problem, const struct xc_baseline_answer *answer)
{
	size_t at = (size_t)(answer->entry - s->baseline->entries);
	struct xc_problem *heir = s->heirs[at];
	bool better = !heir || answer->contains > s->contains[at] ||
		      (answer->contains == s->contains[at] && strcmp(problem->id, heir->id) < 0);
	if (!better)
		return;
	s->heirs[at] = problem;
	s->contains[at] = answer->contains;
}

static void ask(struct setter *s)
{
	for (size_t i = 0; i < s->problems->count; i++) {
		struct xc_problem *problem = &s->problems->problems[i];
		struct xc_baseline_answer answer = xc_baseline_ask(s->baseline, problem, s->today, mark_there, s);
		set_state(s->problems, problem, &answer);
		if (answer.entry && answer.entry->id)
			claim(s, problem, &answer);
	}
}

static void assign_ids(struct setter *s)
{
	for (size_t i = 0; i < s->baseline->count; i++)
		if (s->heirs[i])
			memcpy(s->heirs[i]->id, s->baseline->entries[i].id, sizeof s->heirs[i]->id);
}

/* Why an entry without a problem is not certainly gone; NULL: it is gone. */
static const char *why_unseen(const struct setter *s, const struct xc_baseline_entry *e)
{
	if (s->problems->partial)
		return xc_arena_printf(&s->problems->arena, "not everything was examined: %s", s->problems->partial);
	return xc_baseline_flaky(e) ? xc_arena_printf(&s->problems->arena,
						      "it was present in %u of the last %u updates, and may come back",
						      xc_baseline_seen(e), e->updates.count)
				    : NULL;
}

static void add_absent(struct setter *s)
{
	struct xc_problems *all = s->problems;
	struct xc_problem *grown = xc_arena_alloc(&all->arena, (all->count + s->baseline->count + 1) * sizeof *grown);
	if (all->count)
		memcpy(grown, all->problems, all->count * sizeof *grown);
	all->problems = grown;
	for (size_t i = 0; i < s->baseline->count; i++) {
		const struct xc_baseline_entry *e = &s->baseline->entries[i];
		if (!e->id || s->there[i] || xc_baseline_standing(e, NULL) == XC_BASELINE_REPAIRED)
			continue;
		struct xc_problem *problem = &all->problems[all->count++];
		*problem = (struct xc_problem){
			.state = XC_PROBLEM_GONE, .note = e->note, .expires = e->expires, .text = e->text};
		if ((problem->why = why_unseen(s, e)))
			problem->state = XC_PROBLEM_UNSEEN;
		memcpy(problem->id, e->id, sizeof problem->id);
	}
}

/* Derives the reason from the records themselves. */
static void set_partial(struct xc_problems *problems)
{
	if (problems->partial)
		return;
	if (problems->failed_count)
		problems->partial = xc_arena_printf(&problems->arena, "%zu core%s gave no verdict",
						    problems->failed_count, problems->failed_count == 1 ? "" : "s");
	else if (!problems->cores)
		problems->partial = "no core was found";
}

void xc_states_set(struct xc_problems *problems, const struct xc_baseline *baseline, const char *today)
{
	set_partial(problems);
	if (!baseline)
		return;
	struct setter s = {
		.problems = problems,
		.baseline = baseline,
		.today = today,
		.there = xc_alloc(baseline->count + 1),
		.heirs = xc_alloc((baseline->count + 1) * sizeof(struct xc_problem *)),
		.contains = xc_alloc(baseline->count + 1),
	};
	ask(&s);
	assign_ids(&s);
	add_absent(&s);
	free(s.there);
	free(s.heirs);
	free(s.contains);
}
