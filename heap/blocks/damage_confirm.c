#include "heap/blocks/damage_confirm.h"

#include <stdlib.h>

#include "heap/blocks/allocator.h"

static int order(const struct xc_damage_key *a, const struct xc_damage_key *b)
{
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->what < b->what ? -1 : a->what > b->what;
}

static struct xc_damage_key key_of(const struct xc_damage *damage)
{
	uint64_t hash = 0;
	for (const char *c = damage->what; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
	return (struct xc_damage_key){damage->addr, damage->kind, hash};
}

static int any_order(const void *a, const void *b)
{
	return order(a, b);
}

static void take_all(struct xc_damage_confirm *s, const struct xc_heap *heap)
{
	s->items = xc_alloc((heap->damage_count + 1) * sizeof *s->items);
	for (size_t i = 0; i < heap->damage_count; i++)
		s->items[s->count++] = key_of(&heap->damages[i]);
	qsort(s->items, s->count, sizeof *s->items, any_order);
}

/* Moves what both passes found to the front of both lists. */
static void keep_common(struct xc_damage_confirm *s, struct xc_heap *heap)
{
	size_t kept = 0, seen = s->count, found = heap->damage_count;
	struct xc_damage_key *again = xc_alloc((found + 1) * sizeof *again);
	for (size_t i = 0; i < found; i++) {
		const struct xc_damage_key one = key_of(&heap->damages[i]);
		if (!seen || !bsearch(&one, s->items, seen, sizeof one, any_order))
			continue;
		again[kept] = one;
		heap->damages[kept++] = heap->damages[i];
	}
	qsort(again, kept, sizeof *again, any_order);
	free(s->items);
	s->items = again;
	s->passing += (seen > kept ? seen - kept : 0) + (found - kept);
	s->count = heap->damage_count = kept;
	if (kept == 0)
		heap->damage_dropped = 0;
}

void xc_damage_confirm_add(struct xc_damage_confirm *s, struct xc_heap *heap)
{
	if (s->looks++ == 0)
		take_all(s, heap);
	else
		keep_common(s, heap);
	heap->audit_coverage->looks = s->looks;
	heap->audit_coverage->passing = s->passing;
}

void xc_damage_confirm_fini(struct xc_damage_confirm *s)
{
	free(s->items);
}
