/* baseline_ask: finds the entry that knows a cluster, and decides whether it still counts. */
#include <stdlib.h>
#include <string.h>

#include "batch/problems/baseline_impl.h"
#include "batch/util/glob.h"
#include "batch/problems/problem.h"

enum { ALWAYS = 3 }; /* present this often and never absent means always present */

static unsigned count_bits(unsigned bits)
{
	unsigned count = 0;
	for (; bits; bits &= bits - 1)
		count++;
	return count;
}

unsigned xc_baseline_seen(const struct xc_baseline_entry *entry)
{
	return count_bits(entry->updates.there);
}

bool xc_baseline_flaky(const struct xc_baseline_entry *entry)
{
	return entry->updates.count >= xc_baseline_seen(entry) + 2;
}

/* The number of most recent updates in which it was absent. */
static unsigned away(const struct xc_baseline_updates *updates)
{
	unsigned count = 0;
	while (count < updates->count && !(updates->there >> count & 1))
		count++;
	return count;
}

/* The probability of an absence, judged by the updates before the current absence. One that was present only once or
 * twice, and never absent, may as well come every other time. */
static double chance_of_absence(unsigned seen, unsigned before)
{
	return seen == before && seen < ALWAYS ? 0.5 : (double)(before - seen) / before;
}

/* Absent at least twice, and with a probability of at most one in twenty if it were still as frequent as before. An
 * entry that was never present (somebody wrote the line) must be absent for the whole window. */
static bool is_repaired(const struct xc_baseline_entry *e)
{
	const unsigned gone = away(&e->updates), before = e->updates.count - gone;
	double chance = 1;
	if (gone < 2 || !before)
		return gone == XC_BASELINE_WINDOW;
	for (unsigned i = 0; i < gone; i++)
		chance *= chance_of_absence(xc_baseline_seen(e), before);
	return chance < 0.05;
}

enum xc_baseline_standing xc_baseline_standing(const struct xc_baseline_entry *entry, const char *today)
{
	if (is_repaired(entry))
		return XC_BASELINE_REPAIRED;
	return entry->expires && today && strcmp(today, entry->expires) > 0 ? XC_BASELINE_EXPIRED : XC_BASELINE_LIVE;
}

struct asking {
	const struct xc_baseline *baseline;
	const struct xc_problem *problem;
	const char *today;
	void (*each)(void *user, size_t entry);
	void *user;
	struct xc_baseline_answer answer;
};

bool xc_baseline_is_worse(const struct xc_baseline_entry *entry, const struct xc_problem *problem)
{
	return entry->severity && xc_severity_rank(problem->severity) > xc_severity_rank(entry->severity);
}

bool xc_baseline_accepts(const struct xc_baseline_entry *entry, const struct xc_problem_class *class)
{
	return !class->certain || !entry->class_count ||
	       bsearch(&class->name, entry->classes, entry->class_count, sizeof *entry->classes, xc_text_order);
}

static bool accepts_all(const struct xc_baseline_entry *entry, const struct xc_problem *problem)
{
	for (size_t i = 0; i < problem->class_count && problem->classes[i].certain; i++)
		if (!xc_baseline_accepts(entry, &problem->classes[i]))
			return false;
	return !xc_baseline_is_worse(entry, problem);
}

static enum xc_baseline_standing standing_to(const struct asking *a, const struct xc_baseline_entry *e)
{
	enum xc_baseline_standing standing = xc_baseline_standing(e, a->today);
	return standing == XC_BASELINE_LIVE && !accepts_all(e, a->problem) ? XC_BASELINE_MORE : standing;
}

/* Does this entry answer rather than the current one? The cluster's own lines precede patterns; then the worst
 * standing; then the entry made from a member's sig; then the first. */
static bool is_better(const struct asking *a, const struct xc_baseline_entry *e, enum xc_baseline_standing standing,
		      bool contains)
{
	const struct xc_baseline_answer *best = &a->answer;
	if (!best->entry || !e->id != !best->entry->id)
		return !best->entry || e->id;
	if (standing != best->standing)
		return standing > best->standing;
	return contains != best->contains ? contains : e < best->entry;
}

/* sig: the one by which the entry knows the cluster; NULL: by its pattern. */
static void consider(struct asking *a, size_t at, const char *sig)
{
	const struct xc_baseline_entry *e = &a->baseline->entries[at];
	const enum xc_baseline_standing standing = standing_to(a, e);
	const bool contains = sig && e->id && !strncmp(sig, e->id, XC_BASELINE_ID);
	if (a->each && sig)
		a->each(a->user, at);
	if (is_better(a, e, standing, contains))
		a->answer = (struct xc_baseline_answer){.standing = standing, .entry = e, .contains = contains};
}

/* The first prefix that does not sort before the sig's. */
static size_t first_like(const struct xc_baseline *b, const char *sig)
{
	return XC_LOWER_BOUND(b->prefix_count, i, strncmp(b->prefixes[i].hex, sig, XC_BASELINE_ID) < 0);
}

static void ask_sig(struct asking *a, const char *sig)
{
	const struct xc_baseline *b = a->baseline;
	for (size_t i = first_like(b, sig); i < b->prefix_count && !strncmp(b->prefixes[i].hex, sig, XC_BASELINE_ID);
	     i++)
		if (!strncmp(b->prefixes[i].hex, sig, strlen(b->prefixes[i].hex)))
			consider(a, b->prefixes[i].entry, sig);
}

static bool fits(const char *pattern, const struct xc_signature *s)
{
	const size_t len = strlen(pattern);
	return xc_glob_matches(pattern, len, s->text) || (s->told != s->text && xc_glob_matches(pattern, len, s->told));
}

bool xc_baseline_counts(const struct xc_problem *problem, const struct xc_problem_member *member)
{
	const struct xc_problem_member *shown = xc_problem_shown(problem);
	return xc_problem_stands(member) &&
	       (!xc_signature_is_weak(member->signature) || !shown || xc_signature_is_weak(shown->signature));
}

/* Marks the patterns that match; true if there is one. */
static bool note_fitting(const struct xc_baseline *b, const struct xc_signature *s, bool *fitting)
{
	bool any = false;
	for (size_t i = 0; i < b->count && b->entries[i].match; i++)
		if (fits(b->entries[i].match, s))
			any = fitting[i] = true;
	return any;
}

/* A similar member may be another problem, which nobody has accepted. So each one must match. */
static void ask_patterns(struct asking *a)
{
	bool *fitting = xc_alloc(a->baseline->count + 1), any = false;
	const struct xc_signature *unfit = NULL;
	const char *last = NULL; /* the last text looked up; neighbours share it */
	for (size_t i = 0; i < a->problem->member_count; i++) {
		const struct xc_signature *s = a->problem->members[i].signature;
		if (!xc_baseline_counts(a->problem, &a->problem->members[i]) || (last && !strcmp(last, s->told)))
			continue;
		last = s->told;
		if (note_fitting(a->baseline, s, fitting))
			any = true;
		else if (!unfit)
			unfit = s;
	}
	for (size_t i = 0; !unfit && i < a->baseline->count; i++)
		if (fitting[i])
			consider(a, i, NULL);
	a->answer.unfit = any && !a->answer.entry ? unfit : NULL;
	free(fitting);
}

struct xc_baseline_answer xc_baseline_ask(const struct xc_baseline *baseline, const struct xc_problem *problem,
					  const char *today, void (*each)(void *user, size_t entry), void *user)
{
	struct asking a = {.baseline = baseline, .problem = problem, .today = today, .each = each, .user = user};
	const struct xc_problem_member *shown = xc_problem_shown(problem);
	a.answer.standing = XC_BASELINE_NONE;
	for (size_t i = 0; i < problem->member_count; i++)
		if (xc_baseline_counts(problem, &problem->members[i]))
			ask_sig(&a, problem->members[i].signature->sig);
	if (!a.answer.entry || !a.answer.entry->id)
		ask_patterns(&a);
	a.answer.weak = shown && a.answer.entry && !a.answer.entry->match && xc_signature_is_weak(shown->signature);
	return a.answer;
}
