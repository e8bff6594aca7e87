#include "heap/graph/claim.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 8 };

/* ---- adding ---- */

static struct xc_error *ready(struct xc_heap *heap, size_t count)
{
	if (heap->claims && heap->claims->applied)
		return xc_error_new(XC_ERR_USAGE, "claims come before the first question about blocks");
	if (!heap->claims)
		heap->claims = xc_alloc(sizeof *heap->claims);
	return count < XC_CLAIMS ? NULL : xc_error_new(XC_ERR_LIMIT, "more than %d claims", XC_CLAIMS);
}

struct xc_error *xc_claim_add(struct xc_heap *heap, const struct xc_heap_claim *claim)
{
	struct xc_error *err = ready(heap, heap->claims ? heap->claims->count : 0);
	if (err)
		return err;
	if (claim->addr % ALIGNMENT)
		return xc_error_new(XC_ERR_USAGE, "0x%llx is not aligned to %d bytes", (unsigned long long)claim->addr,
				    ALIGNMENT);
	struct xc_claims *c = heap->claims;
	c->items = xc_grow(c->items, c->count, &c->capacity, sizeof *c->items);
	c->items[c->count] = *claim;
	c->items[c->count++].what = xc_arena_strdup(&heap->memory, claim->what);
	return NULL;
}

struct xc_error *xc_claim_add_edge(struct xc_heap *heap, xc_addr from, xc_addr to)
{
	struct xc_error *err = ready(heap, heap->claims ? heap->claims->edge_count : 0);
	if (err)
		return err;
	struct xc_claims *c = heap->claims;
	c->edges = xc_grow(c->edges, c->edge_count, &c->edge_capacity, sizeof *c->edges);
	c->edges[c->edge_count++] = (struct xc_claim_edge){from, to};
	return NULL;
}

struct xc_error *xc_claim_add_root(struct xc_heap *heap, xc_addr addr)
{
	struct xc_error *err = ready(heap, heap->claims ? heap->claims->root_count : 0);
	if (err)
		return err;
	struct xc_claims *c = heap->claims;
	c->roots = xc_grow(c->roots, c->root_count, &c->root_capacity, sizeof *c->roots);
	c->roots[c->root_count++] = (struct xc_claim_root){addr};
	return NULL;
}

static struct xc_error *ready_for_rules(struct xc_heap *heap)
{
	struct xc_error *err = ready(heap, 0);
	const struct xc_claims *c = heap->claims;
	if (!err && c->rule_count + c->header_count + c->variants >= XC_CLAIM_RULES)
		return xc_error_new(XC_ERR_LIMIT, "more than %d rules", XC_CLAIM_RULES);
	return err;
}

struct xc_error *xc_claim_add_rule(struct xc_heap *heap, const struct xc_claim_rule *rule)
{
	struct xc_error *err = ready_for_rules(heap);
	if (err)
		return err;
	struct xc_claims *c = heap->claims;
	c->rules = xc_grow(c->rules, c->rule_count, &c->rule_capacity, sizeof *c->rules);
	struct xc_claim_rule *made = &c->rules[c->rule_count++];
	*made = *rule;
	made->type = xc_arena_strdup(&heap->memory, rule->type);
	made->field = xc_arena_strdup(&heap->memory, rule->field);
	made->by = rule->by ? xc_arena_strdup(&heap->memory, rule->by) : NULL;
	made->cast = xc_arena_strdup(&heap->memory, rule->cast);
	return NULL;
}

struct xc_error *xc_claim_add_header(struct xc_heap *heap, const struct xc_claim_header *header)
{
	struct xc_error *err = ready_for_rules(heap);
	if (err)
		return err;
	struct xc_claims *c = heap->claims;
	c->headers = xc_grow(c->headers, c->header_count, &c->header_capacity, sizeof *c->headers);
	struct xc_claim_header *made = &c->headers[c->header_count++];
	*made = *header;
	made->pointer = xc_arena_strdup(&heap->memory, header->pointer);
	made->header = xc_arena_strdup(&heap->memory, header->header);
	return NULL;
}

struct xc_error *xc_claim_variant(struct xc_heap *heap, uint32_t *variant_out)
{
	struct xc_error *err = ready_for_rules(heap);
	if (!err)
		*variant_out = ++heap->claims->variants;
	return err;
}

void xc_claims_free(struct xc_claims *claims)
{
	if (!claims)
		return;
	free(claims->rules);
	free(claims->headers);
	free(claims->items);
	free(claims->edges);
	free(claims->roots);
	free(claims->pieces);
	free(claims);
}

/* ---- applying ---- */

/* The table while it is divided. */
struct cutter {
	struct xc_claims *claims;
	struct xc_block_list list;
	size_t next, kept; /* of the claims: the next one, and the number of good ones so far */
};

static int by_address(const void *a, const void *b)
{
	const struct xc_heap_claim *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void add_piece(struct cutter *c, xc_addr block, xc_addr addr, uint64_t size, enum xc_block_state state)
{
	struct xc_claims *claims = c->claims;
	if (!xc_block_list_add(&c->list, addr, size, state) || addr == block)
		return;
	claims->pieces = xc_grow(claims->pieces, claims->piece_count, &claims->piece_capacity, sizeof *claims->pieces);
	claims->pieces[claims->piece_count++] = addr;
}

static xc_addr align(xc_addr addr)
{
	return (addr + ALIGNMENT - 1) & ~(xc_addr)(ALIGNMENT - 1);
}

/* One live block with the claims that begin in it. */
static void cut_block(struct cutter *c, xc_addr addr, uint64_t size)
{
	struct xc_claims *claims = c->claims;
	xc_addr at = addr, end = addr + size;
	for (; c->next < claims->count && claims->items[c->next].addr < end; c->next++) {
		struct xc_heap_claim claim = claims->items[c->next];
		claim.size = claim.size ? claim.size : end - claim.addr;
		if (claim.addr < at || claim.size > end - claim.addr) {
			claims->refused++;
			continue;
		}
		if (claim.addr > at)
			add_piece(c, addr, at, claim.addr - at, XC_BLOCK_LIVE);
		add_piece(c, addr, claim.addr, claim.size, claim.is_free ? XC_BLOCK_BIN : XC_BLOCK_LIVE);
		claims->items[c->kept++] = claim;
		at = align(claim.addr + claim.size);
	}
	if (at < end)
		add_piece(c, addr, at, end - at, XC_BLOCK_LIVE);
}

static void cut(struct cutter *c, const struct xc_blocks *blocks)
{
	struct xc_claims *claims = c->claims;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr addr = xc_block_addr(blocks, i);
		uint64_t size = xc_block_size(blocks, i);
		for (; c->next < claims->count && claims->items[c->next].addr < addr; c->next++)
			claims->refused++;
		bool live = xc_block_state(blocks, i) == XC_BLOCK_LIVE;
		if (live && c->next < claims->count && claims->items[c->next].addr - addr < size)
			cut_block(c, addr, size);
		else
			(void)xc_block_list_add(&c->list, addr, size, xc_block_state(blocks, i));
	}
	claims->refused += claims->count - c->next;
	claims->count = c->kept;
}

/* Renumbers the blocks in `blocks` that damage names, to their numbers in `cut`. For a divided block that is its
 * last piece, which ends where the damage begins. */
static void renumber_damages(struct xc_heap *heap, const struct xc_blocks *blocks, const struct xc_blocks *cut)
{
	for (size_t i = 0; i < heap->damage_count; i++) {
		uint32_t *before = &heap->damages[i].before;
		if (*before >= blocks->count)
			continue;
		uint32_t behind = xc_blocks_from(cut, xc_block_addr(blocks, *before) + xc_block_size(blocks, *before));
		*before = behind ? behind - 1 : XC_NO_BLOCK;
	}
}

void xc_claims_apply(struct xc_heap *heap)
{
	if (!heap->claims)
		heap->claims = xc_alloc(sizeof *heap->claims);
	struct xc_claims *claims = heap->claims;
	bool applied = claims->applied;
	claims->applied = true;
	if (applied || !claims->count)
		return;
	struct cutter c = {.claims = claims};
	struct xc_blocks blocks;
	qsort(claims->items, claims->count, sizeof *claims->items, by_address);
	xc_block_list_init(&c.list, heap->blocks.count + 2 * claims->count);
	cut(&c, &heap->blocks);
	xc_blocks_build(&blocks, &c.list, 1);
	xc_block_list_fini(&c.list);
	blocks.left_out += heap->blocks.left_out;
	renumber_damages(heap, &heap->blocks, &blocks);
	xc_blocks_fini(&heap->blocks);
	heap->blocks = blocks;
}

/* ---- queries ---- */

const struct xc_heap_claim *xc_claim_of(const struct xc_heap *heap, uint32_t block)
{
	const struct xc_heap_claim key = {.addr = xc_block_addr(&heap->blocks, block)};
	const struct xc_claims *claims = heap->claims;
	return claims && claims->applied && claims->count
		       ? bsearch(&key, claims->items, claims->count, sizeof key, by_address)
		       : NULL;
}

static int address_order(const void *a, const void *b)
{
	xc_addr x = *(const xc_addr *)a, y = *(const xc_addr *)b;
	return x < y ? -1 : x > y;
}

bool xc_claim_is_piece(const struct xc_heap *heap, uint32_t block)
{
	const xc_addr addr = xc_block_addr(&heap->blocks, block);
	const struct xc_claims *claims = heap->claims;
	return claims && claims->piece_count &&
	       bsearch(&addr, claims->pieces, claims->piece_count, sizeof addr, address_order);
}
