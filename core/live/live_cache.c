/* live_cache: a hash table with chaining over an array of slots. A hit costs a hash and a comparison. */
#include "core/live/live_cache.h"

#include <stdlib.h>
#include <string.h>

enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_FILLED };

struct xc_live_slot {
	xc_addr page;
	uint32_t next; /* in its hash chain */
	uint8_t state;
	bool touched; /* since the clock hand last passed */
};

static uint32_t round_up_power(size_t n)
{
	uint32_t p = 16;
	while (p < n)
		p *= 2;
	return p;
}

void xc_live_cache_init(struct xc_live_cache *c, size_t page_size, size_t bytes)
{
	c->page_size = page_size;
	c->slot_count = round_up_power(bytes / page_size);
	c->hand = c->used = 0;
	c->slots = xc_alloc(c->slot_count * sizeof *c->slots);
	c->heads = xc_alloc(2 * c->slot_count * sizeof *c->heads);
	c->data = xc_alloc(c->slot_count * page_size); /* calloc of this size is untouched zero pages */
	memset(c->heads, 0xff, 2 * c->slot_count * sizeof *c->heads);
}

void xc_live_cache_fini(struct xc_live_cache *c)
{
	free(c->slots);
	free(c->heads);
	free(c->data);
}

static uint32_t *chain_of(const struct xc_live_cache *c, xc_addr page)
{
	uint64_t hash = page / c->page_size * UINT64_C(0x9e3779b97f4a7c15);
	return &c->heads[(hash >> 32) & (2 * c->slot_count - 1)];
}

static void clear_all(struct xc_live_cache *c)
{
	memset(c->heads, 0xff, 2 * c->slot_count * sizeof *c->heads); /* XC_NO_SLOT */
	memset(c->slots, 0, c->slot_count * sizeof *c->slots);
}

static void clear_used(struct xc_live_cache *c)
{
	for (uint32_t at = 0; at < c->used; at++) {
		if (c->slots[at].state == SLOT_FILLED)
			*chain_of(c, c->slots[at].page) = XC_NO_SLOT; /* the rest of the chain goes, too */
		c->slots[at] = (struct xc_live_slot){0};
	}
}

/* Who forgets after every few pages pays for those only. */
void xc_live_cache_clear(struct xc_live_cache *c)
{
	enum { FEW = 32 }; /* of so many slots one */
	if (c->used > c->slot_count / FEW)
		clear_all(c);
	else
		clear_used(c);
	c->hand = c->used = 0;
}

uint32_t xc_live_cache_find(const struct xc_live_cache *c, xc_addr page)
{
	uint32_t at = *chain_of(c, page);
	while (at != XC_NO_SLOT && c->slots[at].page != page)
		at = c->slots[at].next;
	return at;
}

void xc_live_cache_touch(struct xc_live_cache *c, uint32_t slot)
{
	c->slots[slot].touched = true;
}

static void unlink_slot(struct xc_live_cache *c, uint32_t slot)
{
	uint32_t *link = chain_of(c, c->slots[slot].page);
	while (*link != slot)
		link = &c->slots[*link].next;
	*link = c->slots[slot].next;
}

uint32_t xc_live_cache_take(struct xc_live_cache *c)
{
	for (;;) {
		uint32_t at = c->hand;
		struct xc_live_slot *s = &c->slots[at];
		c->hand = (c->hand + 1) & (c->slot_count - 1);
		c->used += c->used < c->slot_count;
		if (s->state == SLOT_TAKEN)
			continue;
		if (s->state == SLOT_FILLED && s->touched) {
			s->touched = false;
			continue;
		}
		if (s->state == SLOT_FILLED)
			unlink_slot(c, at);
		s->state = SLOT_TAKEN;
		return at;
	}
}

void xc_live_cache_fill(struct xc_live_cache *c, uint32_t slot, xc_addr page, bool used)
{
	uint32_t *chain = chain_of(c, page);
	c->slots[slot] = (struct xc_live_slot){.page = page, .next = *chain, .state = SLOT_FILLED, .touched = used};
	*chain = slot;
}

void xc_live_cache_release(struct xc_live_cache *c, uint32_t slot)
{
	c->slots[slot].state = SLOT_FREE;
}

bool xc_live_cache_touched(const struct xc_live_cache *c, uint32_t slot, xc_addr *page_out)
{
	*page_out = c->slots[slot].page;
	return c->slots[slot].state == SLOT_FILLED && c->slots[slot].touched;
}

uint8_t *xc_live_cache_bytes(const struct xc_live_cache *c, uint32_t slot)
{
	return c->data + (size_t)slot * c->page_size;
}
