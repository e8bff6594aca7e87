/* classes: sorts the members by class, best first, and counts them; then sorts the classes, worst first. */
#include "batch/problems/classes.h"

#include <stdlib.h>
#include <string.h>

#include "batch/problems/baseline.h"
#include "batch/problems/crash_rank.h"

static const char *name_of(const struct xc_problem_member *member)
{
	const char *name = member->signature->class_name;
	return *name ? name : "unknown";
}

/* A copy or a guess is the best of its class only if all members are. */
static int by_class(const void *a, const void *b)
{
	const struct xc_problem_member *l = *(struct xc_problem_member *const *)a,
				       *r = *(struct xc_problem_member *const *)b;
	int d = strcmp(name_of(l), name_of(r));
	d = d ? d : (l->copy_of != NULL) - (r->copy_of != NULL);
	d = d ? d : l->guessed - r->guessed;
	return d ? d : xc_crash_rank_shown(l, r);
}

static int by_weight(const void *a, const void *b)
{
	const struct xc_problem_class *l = a, *r = b;
	int d = (r->certain > 0) - (l->certain > 0);
	d = d ? d : XC_ORDER(xc_severity_rank(r->severity), xc_severity_rank(l->severity));
	d = d ? d : XC_ORDER(r->count, l->count);
	return d ? d : strcmp(l->name, r->name);
}

static void count_members(struct xc_problem *problem, struct xc_problem_member *const *sorted, struct xc_arena *arena)
{
	size_t count = 0;
	for (size_t i = 0; i < problem->member_count; i++) {
		const bool first = i == 0 || strcmp(name_of(sorted[i - 1]), name_of(sorted[i])) != 0;
		sorted[i]->class_at = (count += first) - 1;
	}
	problem->classes = xc_arena_alloc(arena, (count + 1) * sizeof *problem->classes);
	problem->class_count = count;
	for (size_t i = 0; i < problem->member_count; i++) {
		struct xc_problem_class *c = &problem->classes[sorted[i]->class_at];
		if (c->count++ == 0) {
			c->name = name_of(sorted[i]);
			c->best = (size_t)(sorted[i] - problem->members);
			c->severity = sorted[i]->signature->severity;
		}
		c->certain += xc_baseline_counts(problem, sorted[i]);
	}
}

/* Members refer to their class by its index before sorting. The best members of the sorted classes give the new
 * indexes. */
static void sort_classes(struct xc_problem *problem)
{
	size_t *now = xc_alloc((problem->class_count + 1) * sizeof *now);
	qsort(problem->classes, problem->class_count, sizeof *problem->classes, by_weight);
	for (size_t i = 0; i < problem->class_count; i++)
		now[problem->members[problem->classes[i].best].class_at] = i;
	for (size_t i = 0; i < problem->member_count; i++)
		problem->members[i].class_at = now[problem->members[i].class_at];
	free(now);
}

void xc_classes_find(struct xc_problem *problem, struct xc_arena *arena)
{
	struct xc_problem_member **sorted = xc_alloc((problem->member_count + 1) * sizeof(struct xc_problem_member *));
	for (size_t i = 0; i < problem->member_count; i++)
		sorted[i] = &problem->members[i];
	if (problem->member_count)
		qsort(sorted, problem->member_count, sizeof(struct xc_problem_member *), by_class);
	count_members(problem, sorted, arena);
	if (problem->class_count)
		sort_classes(problem);
	free(sorted);
}
