/* stackgroups: stacks are equal when their rows refer to the same code; values do not matter. */
#include "dwarf/stack/stackgroups.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Do both refer to the same code? Guest frames have no code address. */
static bool same_code(const struct xc_stack_row *a, const struct xc_stack_row *b)
{
	if (a->pc != b->pc || a->inlined != b->inlined || a->guest != b->guest)
		return false;
	return !a->guest || (a->line == b->line && a->left_out == b->left_out && same_text(a->function, b->function) &&
			     same_text(a->file, b->file) && same_text(a->language, b->language));
}

/* The row after i; with `brief`, after all that repeat it. */
static size_t next_row(const struct xc_stack *stack, size_t i, bool brief)
{
	const struct xc_stack_row *row = &stack->rows[i++];
	while (brief && i < stack->row_count && same_code(&stack->rows[i], row))
		i++;
	return i;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = mix(hash, (unsigned char)*text);
	return hash;
}

/* A hash of everything that stacks_equal compares. Unequal stacks with equal hashes could split a group. */
static uint64_t stack_hash(const struct xc_stack *stack, bool brief)
{
	uint64_t hash = mix(mix(stack->crashed, stack->detached), brief ? 0 : stack->elided);
	for (size_t i = 0; i < stack->row_count; i = next_row(stack, i, brief)) {
		const struct xc_stack_row *row = &stack->rows[i];
		hash = mix(hash, row->pc) + row->inlined;
		if (!row->guest)
			continue;
		hash = mix(mix(hash, row->line), row->left_out);
		hash = text_hash(text_hash(text_hash(hash, row->file), row->function), row->language);
	}
	return stack->row_count ? hash : text_hash(hash, stack->stop);
}

static bool stacks_equal(const struct xc_stack *a, const struct xc_stack *b, bool brief)
{
	size_t i = 0, k = 0;
	if (a->crashed != b->crashed || a->detached != b->detached ||
	    (!brief && (a->row_count != b->row_count || a->elided != b->elided)))
		return false;
	for (; i < a->row_count && k < b->row_count; i = next_row(a, i, brief), k = next_row(b, k, brief))
		if (!same_code(&a->rows[i], &b->rows[k]))
			return false;
	return i == a->row_count && k == b->row_count && (a->row_count > 0 || !strcmp(a->stop, b->stop));
}

struct hashed {
	uint64_t hash;
	size_t index;
};

static int by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_first_member(const void *a, const void *b)
{
	size_t x = ((const struct xc_stack_group *)a)->members[0], y = ((const struct xc_stack_group *)b)->members[0];
	return x < y ? -1 : x > y;
}

/* Sort by hash, then split where stacks differ. Linear in threads except for the sort. */
void xc_stacks_group(struct xc_arena *arena, struct xc_stacks *stacks, bool brief)
{
	size_t n = stacks->stack_count;
	struct hashed *order = xc_alloc(n * sizeof *order);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct hashed){.hash = stack_hash(&stacks->stacks[i], brief), .index = i};
	qsort(order, n, sizeof *order, by_hash);
	stacks->groups = xc_arena_alloc(arena, n * sizeof *stacks->groups);
	for (size_t i = 0; i < n;) {
		struct xc_stack_group *group = &stacks->groups[stacks->group_count++];
		size_t from = i;
		while (i < n && order[i].hash == order[from].hash &&
		       stacks_equal(&stacks->stacks[order[from].index], &stacks->stacks[order[i].index], brief))
			i++;
		group->member_count = i - from;
		group->members = xc_arena_alloc(arena, group->member_count * sizeof *group->members);
		for (size_t k = from; k < i; k++)
			group->members[k - from] = order[k].index;
	}
	free(order);
	qsort(stacks->groups, stacks->group_count, sizeof *stacks->groups, by_first_member);
}
