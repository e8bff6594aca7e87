/* problems: records become members (with signatures, copies marked), members become groups of one sig, groups become
 * clusters, and clusters become problems.
 *
 *	records ── OK ──► members ── by sig ──► groups ── cluster.h ──► problems
 *	        └─ else ─► failed
 *
 * Everything is sorted by content first, so the order of the records cannot matter. */
#include "batch/problems/problems.h"

#include <stdlib.h>
#include <string.h>

#include "batch/problems/signature_merge.h"
#include "batch/problems/classes.h"
#include "batch/problems/truncated_stack.h"
#include "batch/problems/states.h"
#include "batch/problems/crash_rank.h"

/* A record being processed: its group, and so its problem. */
struct item {
	struct xc_problem_member member;
	struct item *original; /* itself if it is not a copy */
	size_t problem;
};

struct maker {
	const struct xc_problem_options *options;
	struct xc_problems *result;
	struct item *items;   /* by path */
	struct item **sorted; /* the originals, by sig, best first */
	size_t count, originals;
};

/* ---- comparators: the last criterion is the path, which is unique ---- */

static int by_path(const struct item *a, const struct item *b)
{
	return xc_record_compare(&a->member.record, &b->member.record);
}

static int items_by_path(const void *a, const void *b)
{
	return by_path(a, b);
}

static int by_core(const void *a, const void *b)
{
	const struct item *const *left = a, *const *right = b;
	const struct xc_problem_member *l = &(*left)->member, *r = &(*right)->member;
	int d = strcmp(l->record->core_id, r->record->core_id);
	d = d ? d : strcmp(l->signature->sig, r->signature->sig);
	return d ? d : xc_crash_rank_stack(l, r);
}

static int by_sig(const void *a, const void *b)
{
	const struct item *const *left = a, *const *right = b;
	int d = strcmp((*left)->member.signature->sig, (*right)->member.signature->sig);
	return d ? d : xc_crash_rank(&(*left)->member, &(*right)->member);
}

static int by_exact(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;
	return strcmp(*left, *right);
}

static int by_problem(const void *a, const void *b)
{
	const struct item *const *left = a, *const *right = b;
	int d = XC_ORDER((*left)->problem, (*right)->problem);
	return d ? d : by_path(*left, *right);
}

/* "new" first; an expired problem ranks as new. */
static unsigned urgency(const struct xc_problem *problem)
{
	static const unsigned ranks[] = {
		[XC_PROBLEM_NEW] = 0,   [XC_PROBLEM_OPEN] = 1,   [XC_PROBLEM_FLAKY] = 2,
		[XC_PROBLEM_KNOWN] = 3, [XC_PROBLEM_UNSEEN] = 4, [XC_PROBLEM_GONE] = 5,
	};
	return problem->expired ? 0 : ranks[problem->state];
}

static int by_urgency(const void *a, const void *b)
{
	const struct xc_problem *left = a, *right = b;
	int d = XC_ORDER(urgency(left), urgency(right));
	d = d ? d : XC_ORDER(xc_severity_rank(right->severity), xc_severity_rank(left->severity));
	d = d ? d : XC_ORDER(right->member_count, left->member_count);
	return d ? d : strcmp(left->id, right->id);
}

/* ---- members ---- */

static int failed_by_path(const void *a, const void *b)
{
	return xc_record_compare(a, b);
}

static void take_records(struct maker *m, const struct xc_record *const *records, size_t count)
{
	struct xc_problems *result = m->result;
	result->cores = count;
	result->failed = xc_arena_alloc(&result->arena, (count + 1) * sizeof(struct xc_record *));
	m->items = xc_alloc((count + 1) * sizeof *m->items);
	for (size_t i = 0; i < count; i++)
		if (records[i]->status == XC_RECORD_OK)
			m->items[m->count++].member.record = records[i];
		else
			result->failed[result->failed_count++] = records[i];
	qsort(m->items, m->count, sizeof *m->items, items_by_path);
	qsort(result->failed, result->failed_count, sizeof *result->failed, failed_by_path);
}

static void sign(struct maker *m)
{
	const struct xc_problem_options *o = m->options;
	for (size_t i = 0; i < m->count; i++) {
		struct xc_problem_member *member = &m->items[i].member;
		member->signature = xc_signature(member->record, o->rules, o->policy, &m->result->arena);
		m->items[i].original = &m->items[i];
	}
}

static bool same_core(const struct item *a, const struct item *b)
{
	return !strcmp(a->member.record->core_id, b->member.record->core_id);
}

static bool same_sig(const struct item *a, const struct item *b)
{
	return !strcmp(a->member.signature->sig, b->member.signature->sig);
}

/* Can the item's stack be a truncated form of the other one's? */
static bool is_cut(const struct item *item, const struct item *whole)
{
	const struct xc_signature *s = item->member.signature, *t = whole->member.signature;
	if (s->complete || (xc_signature_doubt(t) && !xc_signature_doubt(s)))
		return false;
	return xc_signature_doubt(s) || s->kept_count <= t->kept_count;
}

/* All items have one core id and are sorted by sig. Items with the same sig are copies of the best of them. An item
 * with another sig is a copy of the best of all if its stack is truncated and at most one stack is complete: two
 * complete stacks that differ mean that one is forged, and nobody knows which. */
static void mark_copies_of(struct item **list, size_t count)
{
	struct item *best = list[0];
	size_t whole = 0;
	for (size_t i = 0; i < count; i++) {
		const bool first = i == 0 || !same_sig(list[i - 1], list[i]);
		list[i]->original = first ? list[i] : list[i - 1]->original;
		whole += first && list[i]->member.signature->complete;
		best = xc_crash_rank_stack(&list[i]->member, &best->member) < 0 ? list[i] : best;
	}
	for (size_t i = 0; i < count; i++) {
		struct item *to = list[i]->original;
		if (to != best && to->original == to && whole < 2 && is_cut(to, best))
			to->original = best;
		list[i]->original = to->original;
		if (list[i]->original != list[i])
			list[i]->member.copy_of = list[i]->original->member.record->path;
	}
}

/* A core id depends on headers and notes only. Two cores with the same id may differ elsewhere, through damage or on
 * purpose. */
static void mark_copies(struct maker *m)
{
	struct item **list = m->sorted;
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].member.record->core_id)
			list[count++] = &m->items[i];
	qsort(list, count, sizeof(struct item *), by_core);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && same_core(list[i], list[end]);)
			end++;
		mark_copies_of(list + i, end - i);
	}
}

/* ---- groups ---- */

static void sort_by_sig(struct maker *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->items[i].original == &m->items[i])
			m->sorted[m->originals++] = &m->items[i];
	qsort(m->sorted, m->originals, sizeof(struct item *), by_sig);
}

/* Makes groups of one sig, the best member first. Returns their number. */
static size_t make_groups(struct maker *m, const struct xc_problem_member **members, struct xc_signature_group *groups)
{
	size_t count = 0;
	for (size_t i = 0; i < m->originals; i++) {
		members[i] = &m->sorted[i]->member;
		if (i == 0 || !same_sig(m->sorted[i - 1], m->sorted[i]))
			groups[count++] = (struct xc_signature_group){members[i], members + i, 0};
		groups[count - 1].count++;
		m->sorted[i]->problem = count - 1;
	}
	return count;
}

/* Numbers the problems. Returns one more than the largest number. */
static size_t assign(struct maker *m)
{
	const struct xc_problem_member **members = xc_alloc((m->originals + 1) * sizeof *members);
	struct xc_signature_group *groups = xc_alloc((m->originals + 1) * sizeof *groups);
	size_t count = make_groups(m, members, groups), *firsts = xc_alloc((count + 1) * sizeof *firsts);
	bool *guessed = xc_alloc(count + 1);
	xc_signature_merge(groups, count, m->options->cut, firsts);
	xc_truncated_stack_assign(groups, count, firsts, guessed);
	for (size_t i = 0; i < m->originals; i++) {
		m->sorted[i]->member.guessed = guessed[m->sorted[i]->problem];
		m->sorted[i]->problem = firsts[m->sorted[i]->problem];
	}
	for (size_t i = 0; i < m->count; i++) {
		m->items[i].problem = m->items[i].original->problem;
		m->items[i].member.guessed = m->items[i].original->member.guessed;
	}
	free(members);
	free(groups);
	free(firsts);
	free(guessed);
	return count;
}

/* ---- problems ---- */

static size_t count_unique(const struct xc_problem *p)
{
	const char **keys = xc_alloc(p->member_count * sizeof *keys);
	size_t unique = 0;
	for (size_t i = 0; i < p->member_count; i++)
		keys[i] = p->members[i].signature->exact;
	qsort(keys, p->member_count, sizeof *keys, by_exact);
	for (size_t i = 0; i < p->member_count; i++)
		unique += i == 0 || strcmp(keys[i - 1], keys[i]) != 0;
	free(keys);
	return unique;
}

/* There always is one. */
static const struct item *first_standing(struct item *const *items, size_t count)
{
	size_t i = 0;
	while (i + 1 < count && !xc_problem_stands(&items[i]->member))
		i++;
	return items[i];
}

/* Makes a problem from its members' items, which are sorted by path. */
static void make_problem(struct maker *m, struct xc_problem *p, struct item *const *items, size_t count)
{
	const struct item *best = first_standing(items, count);
	const char *smallest = best->member.signature->sig;
	p->members = xc_arena_alloc(&m->result->arena, count * sizeof *p->members);
	p->member_count = count;
	p->severity = best->member.signature->severity;
	for (size_t i = 0; i < count; i++) {
		const struct xc_signature *s = items[i]->member.signature;
		p->members[i] = items[i]->member;
		p->guessed += items[i]->member.guessed;
		if (!xc_problem_stands(&items[i]->member))
			continue;
		if (xc_severity_rank(s->severity) > xc_severity_rank(p->severity))
			p->severity = s->severity;
		if (strcmp(s->sig, smallest) < 0)
			smallest = s->sig;
		if (xc_crash_rank_shown(&items[i]->member, &best->member) <= 0) {
			best = items[i];
			p->representative = i;
		}
	}
	memcpy(p->id, smallest, sizeof p->id - 1);
	p->unique = count_unique(p);
	xc_classes_find(p, &m->result->arena);
}

static void make_problems(struct maker *m)
{
	size_t problems = assign(m);
	struct xc_problems *result = m->result;
	result->problems = xc_arena_alloc(&result->arena, (problems + 1) * sizeof *result->problems);
	for (size_t i = 0; i < m->count; i++)
		m->sorted[i] = &m->items[i];
	qsort(m->sorted, m->count, sizeof(struct item *), by_problem);
	for (size_t i = 0, end; i < m->count; i = end) {
		for (end = i + 1; end < m->count && m->sorted[end]->problem == m->sorted[i]->problem;)
			end++;
		make_problem(m, &result->problems[result->count++], m->sorted + i, end - i);
	}
}

static void finish(struct xc_problems *result)
{
	qsort(result->problems, result->count, sizeof *result->problems, by_urgency);
	for (size_t i = 0; i < result->count; i++)
		result->counts[result->problems[i].state]++;
}

struct xc_problems *xc_problems_find(const struct xc_record *const *records, size_t count,
				     const struct xc_problem_options *options)
{
	struct maker m = {.options = options, .result = xc_alloc(sizeof *m.result)};
	take_records(&m, records, count);
	m.sorted = xc_alloc((m.count + 1) * sizeof(struct item *));
	sign(&m);
	mark_copies(&m);
	sort_by_sig(&m);
	make_problems(&m);
	m.result->partial = options->partial;
	xc_states_set(m.result, options->baseline, options->today);
	finish(m.result);
	free(m.sorted);
	free(m.items);
	return m.result;
}

void xc_problems_free(struct xc_problems *problems)
{
	if (!problems)
		return;
	xc_arena_fini(&problems->arena);
	free(problems);
}

void xc_problems_freep(struct xc_problems **problems)
{
	xc_problems_free(*problems);
}
