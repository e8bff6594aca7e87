/* signature_fold: a function that calls itself, or several that call each other, count once, however often they recur;
 * so do threads of a wait cycle that have equal stacks.
 *
 * A stack overflow may happen anywhere in its cycle, below any entry. So only the cycle counts, rotated so that its
 * names are lexicographically smallest. If the rounds differ (as in a parser), the functions that recur represent them,
 * sorted by name. */
#include <stdlib.h>
#include <string.h>

#include "batch/signature/signature_impl.h"

enum {
	PERIOD = 10, /* longest repetition in an ordinary stack */
	ROUND = 32,  /* and in an overflowed one */
	ENTRY = 32,  /* frames of helpers that the last round may have called */
	ROUNDS = 3,  /* equal rounds that make a cycle */
	OFTEN = 3,   /* occurrences of a function in a recursion without a cycle */
};

static int compare(const struct xc_signing *g, size_t a, size_t b)
{
	return strcmp(g->s->frames[a].shown, g->s->frames[b].shown);
}

static bool equal_runs(const struct xc_signing *g, const size_t *a, const size_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (compare(g, a[i], b[i]) != 0)
			return false;
	return true;
}

static void drop(const struct xc_signing *g, size_t frame, const char *rule)
{
	g->s->frames[frame].fate = XC_FRAME_REPEATED;
	g->s->frames[frame].rule = rule;
}

/* ---- ordinary stacks ---- */

/* Removes the last frames from the list, back to `first`, if they repeat the frames before them. */
static void drop_repetition(struct xc_signing *g, size_t first)
{
	struct xc_signature *s = g->s;
	for (size_t period = 1; period <= PERIOD && 2 * period <= s->kept_count - first; period++) {
		size_t *last = s->kept + s->kept_count - period;
		if (!equal_runs(g, last, last - period, period))
			continue;
		for (size_t i = 0; i < period; i++)
			drop(g, last[i], "recursion");
		s->kept_count -= period;
		return;
	}
}

/* Adds the frames of the stack at `from` that count. */
static void fold(struct xc_signing *g, size_t from)
{
	struct xc_signature *s = g->s;
	const size_t first = s->kept_count, end = xc_record_stack_end(g->record, from);
	for (size_t i = from; i < end; i++)
		if (s->frames[i].fate == XC_FRAME_KEPT) {
			s->kept[s->kept_count++] = i;
			drop_repetition(g, first);
		}
}

/* ---- stacks of several threads ---- */

/* The kept frames of one stack. */
struct strand {
	const struct xc_signing *g;
	const size_t *kept;
	size_t count;
};

static int by_names(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;
	for (size_t i = 0; i < x->count && i < y->count; i++) {
		int order = compare(x->g, x->kept[i], y->kept[i]);
		if (order)
			return order;
	}
	return (x->count > y->count) - (x->count < y->count);
}

static int by_names_and_place(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;
	int order = by_names(a, b);
	return order ? order : (x->kept > y->kept) - (x->kept < y->kept);
}

/* Removes equal stacks, whose number is chance. Returns how many remain. */
static size_t drop_alike(struct strand *strands, size_t count)
{
	size_t left = 0;
	for (size_t i = 0; i < count; i++) {
		if (!left || by_names(&strands[left - 1], &strands[i])) {
			strands[left++] = strands[i];
			continue;
		}
		for (size_t k = 0; k < strands[i].count; k++)
			drop(strands[i].g, strands[i].kept[k], "another thread's stack is the same");
	}
	return left;
}

/* Does an earlier stack have a frame of the same name at this depth? */
static bool is_told(const struct strand *strands, size_t i, size_t depth)
{
	for (size_t k = 0; k < i; k++)
		if (depth < strands[k].count && !compare(strands[i].g, strands[k].kept[depth], strands[i].kept[depth]))
			return true;
	return false;
}

/* Takes the innermost frame of each stack, then the next of each, so that the few frames in the keys represent all of
 * them. A frame common to all waits is taken once; otherwise it could fill all five. */
static void go_round(struct xc_signature *s, const struct strand *strands, size_t count, size_t deepest)
{
	s->kept_count = 0;
	for (size_t depth = 0; depth < deepest; depth++)
		for (size_t i = 0; i < count; i++) {
			if (depth >= strands[i].count)
				continue;
			if (is_told(strands, i, depth))
				s->frames[strands[i].kept[depth]].rule =
					"counts once: another thread has it there, too";
			else
				s->kept[s->kept_count++] = strands[i].kept[depth];
		}
}

/* The order of threads in a cycle is chance, too: they are sorted by their names. */
static void fold_all(struct xc_signing *g)
{
	struct xc_signature *s = g->s;
	const size_t frames = g->record->frame_count;
	struct strand *strands = xc_arena_alloc(g->arena, (frames + 1) * sizeof *strands);
	size_t *list = s->kept, count = 0, deepest = 0;
	for (size_t i = 0, before; i < frames; i = xc_record_stack_end(g->record, i)) {
		before = s->kept_count;
		fold(g, i);
		strands[count++] = (struct strand){g, list + before, s->kept_count - before};
		deepest = s->kept_count - before > deepest ? s->kept_count - before : deepest;
	}
	if (count < 2)
		return;
	qsort(strands, count, sizeof *strands, by_names_and_place);
	s->kept = xc_arena_alloc(g->arena, (frames + 1) * sizeof *s->kept);
	go_round(s, strands, drop_alike(strands, count), deepest);
}

/* ---- stack overflows ---- */

/* Lists frames that would be kept and are not after a gap. */
static size_t innermost(const struct xc_signing *g, size_t *list)
{
	size_t count = 0, end = g->record->elided ? g->record->elided_at : g->record->frame_count;
	for (size_t i = 0; i < end; i++)
		if (g->s->frames[i].fate == XC_FRAME_KEPT)
			list[count++] = i;
	return count;
}

/* The number of frames, from the first, that repeat the frame one period earlier, plus the first period. */
static size_t run_length(const struct xc_signing *g, const size_t *list, size_t count, size_t period)
{
	size_t len = period;
	while (len < count && compare(g, list[len], list[len - period]) == 0)
		len++;
	return len;
}

/* Do three of four frames repeat the frame one period earlier? A damaged return address interrupts a run, but does not
 * make another cycle. */
static bool repeats(const struct xc_signing *g, const size_t *list, size_t count, size_t period)
{
	size_t same = 0;
	for (size_t i = period; i < count; i++)
		same += compare(g, list[i], list[i - period]) == 0;
	return same >= count - count / 4;
}

/* Most of the visible frames must belong to the cycle: three consecutive calls of one function are not a recursion of
 * several. */
static bool find_cycle(const struct xc_signing *g, const size_t *list, size_t count, size_t *start_out,
		       size_t *period_out)
{
	for (size_t start = 0; start < ENTRY && start < count; start++)
		for (size_t period = 1; period <= ROUND && ROUNDS * period <= count - start; period++) {
			size_t len = run_length(g, list + start, count - start, period);
			if (len >= ROUNDS * period && (len >= count / 2 || repeats(g, list, count, period))) {
				*start_out = start;
				*period_out = period;
				return true;
			}
		}
	return false;
}

/* Is the cycle lexicographically smaller from `a` than from `b`? */
static bool is_smaller(const struct xc_signing *g, const size_t *round, size_t period, size_t a, size_t b)
{
	for (size_t i = 0; i < period; i++) {
		int order = compare(g, round[(a + i) % period], round[(b + i) % period]);
		if (order)
			return order < 0;
	}
	return false;
}

static void keep_cycle(struct xc_signing *g, const size_t *round, size_t period)
{
	struct xc_signature *s = g->s;
	size_t first = 0;
	for (size_t i = 1; i < period; i++)
		if (is_smaller(g, round, period, i, first))
			first = i;
	for (size_t i = 0; i < period; i++)
		s->kept[s->kept_count++] = round[(first + i) % period];
}

struct recurring {
	const struct xc_signing *g;
	size_t frame;
};

static int by_name(const void *a, const void *b)
{
	const struct recurring *x = a, *y = b;
	int order = compare(x->g, x->frame, y->frame);
	return order ? order : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Keeps the innermost frame of each function that recurs often. */
static void keep_recurring(struct xc_signing *g, const size_t *list, size_t count)
{
	struct xc_signature *s = g->s;
	struct recurring *sorted = xc_arena_alloc(g->arena, (count + 1) * sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct recurring){g, list[i]};
	qsort(sorted, count, sizeof *sorted, by_name);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && compare(g, sorted[i].frame, sorted[end].frame) == 0;)
			end++;
		if (end - i >= OFTEN)
			s->kept[s->kept_count++] = sorted[i].frame;
	}
}

static bool is_kept(const struct xc_signature *s, size_t frame)
{
	for (size_t i = 0; i < s->kept_count; i++)
		if (s->kept[i] == frame)
			return true;
	return false;
}

static bool overflow(struct xc_signing *g)
{
	struct xc_signature *s = g->s;
	size_t *list = xc_arena_alloc(g->arena, (g->record->frame_count + 1) * sizeof *list);
	size_t count = innermost(g, list), start, period;
	if (find_cycle(g, list, count, &start, &period))
		keep_cycle(g, list + start, period);
	else
		keep_recurring(g, list, count);
	if (!s->kept_count)
		return false;
	s->round = true;
	for (size_t i = 0; i < g->record->frame_count; i++)
		if (s->frames[i].fate == XC_FRAME_KEPT && !is_kept(s, i))
			drop(g, i, "the cycle alone counts");
	return true;
}

void xc_signature_fold(struct xc_signing *g)
{
	g->s->kept = xc_arena_alloc(g->arena, (g->record->frame_count + 1) * sizeof *g->s->kept);
	if (strcmp(g->s->class_group, "stack-overflow") != 0 || !overflow(g))
		fold_all(g);
}
