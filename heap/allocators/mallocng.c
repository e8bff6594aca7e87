/* mallocng: the slots of musl's groups, which mallocng_find.c finds. Checked against musl 1.2.3,
 * src/malloc/mallocng.
 *
 *	          slot i at storage + i * stride              slot i + 1
 *	    -4  -3  -2     0                            -4
 *	… | z | h | off | block of n bytes … | reserved | z | h | off | …
 *
 *	off   distance of the block from storage, in units of 16 bytes; if that needs more than 16 bits, off is 0,
 *	      z is 1 and the distance is in the 32 bits at -8
 *	h     index of the slot (5 bits) | bytes between the end of the block and the end of the slot (3 bits): 0 to 4,
 *	      or 5: they are in the last 32 bits of the slot; 6: the slot holds a group of smaller slots
 *
 * The byte after a block is 0. A block may begin later than its slot: then the slot begins with h = 0xe0, and its
 * off has the block's place in the slot. The meta records which slots are free; it is far from memory that a
 * program can overrun. So a damaged header costs the size of one block and nothing else. */
#include "heap/allocators/mallocng_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOVED = 7 << 5, /* h: the block begins later in the slot */
	IN_TAIL = 5,    /* reserved: look at the end of the slot */
	NESTED = 6,
	DEPTH = 16,      /* depth of nested groups */
	TRIES = 1 << 20, /* of find_block, for each piece */
};

/* A slot in use, according to its headers. */
struct slot {
	xc_addr block;
	uint64_t size;
	bool nested;
	const char *wrong; /* the headers contradict each other … */
	xc_addr at;        /* … and where */
};

static const uint8_t *header(struct xc_window *window, xc_addr block)
{
	return xc_window(window, block - NG_HEADER, NG_HEADER);
}

static unsigned offset_field(const uint8_t *bytes)
{
	return (unsigned)bytes[2] | (unsigned)bytes[3] << 8;
}

/* The distance from storage in a block's header, in bytes. */
static uint64_t stored_distance(struct xc_window *window, xc_addr block, const uint8_t *bytes)
{
	uint32_t wide;
	if (!bytes[0])
		return (uint64_t)NG_UNIT * offset_field(bytes);
	const uint8_t *far = xc_window(window, block - 2 * NG_HEADER, sizeof wide);
	if (!far)
		return UINT64_MAX;
	memcpy(&wide, far, sizeof wide);
	return (uint64_t)NG_UNIT * wide;
}

/* A block's own header has the slot's index and its place. */
static bool is_block(struct xc_window *window, const struct ng_group *group, unsigned index, xc_addr block)
{
	const uint8_t *bytes = header(window, block);
	return bytes && (bytes[1] & 31) == index &&
	       stored_distance(window, block, bytes) == block - group->mem - NG_UNIT;
}

/* Finds the beginning of a slot's block. A block aligned to more than 1 MiB is too far in its slot for 16 bits:
 * *tries limits the places that are examined for such blocks. */
static xc_addr find_block(struct xc_window *window, const struct ng_group *group, unsigned index, xc_addr slot,
			  uint64_t *tries)
{
	const uint8_t *bytes = header(window, slot);
	if (!bytes || bytes[1] != MOVED)
		return slot;
	const uint64_t step = (uint64_t)NG_UNIT << 16;
	xc_addr end = slot + group->stride - NG_HEADER, block = slot + (uint64_t)NG_UNIT * offset_field(bytes);
	if (block >= end)
		return slot;
	for (xc_addr at = block; *tries; at += step, --*tries) {
		if (is_block(window, group, index, at))
			return at;
		if (end - at <= step)
			break;
	}
	return block;
}

/* Bytes between the end of the block and the end of the slot; more than the slot has if unknown. */
static uint64_t reserved(struct xc_window *window, unsigned field, xc_addr end)
{
	uint32_t bytes;
	if (field < IN_TAIL)
		return field;
	const uint8_t *tail = xc_window(window, end - sizeof bytes, sizeof bytes);
	if (!tail)
		return UINT64_MAX;
	memcpy(&bytes, tail, sizeof bytes);
	return bytes >= IN_TAIL ? bytes : UINT64_MAX;
}

static void read_size(struct xc_window *window, unsigned field, struct slot *slot)
{
	xc_addr end = slot->block + slot->size;
	uint64_t rest = reserved(window, field, end);
	if (rest > slot->size) {
		slot->wrong = "the size of a block, at the end of its slot, is overwritten";
		slot->at = end - sizeof(uint32_t);
		return;
	}
	slot->size -= rest;
	const uint8_t *behind = xc_window(window, end - rest, 1);
	if (!behind || *behind) {
		slot->wrong = "the byte after a block is not 0: the block was written past its end";
		slot->at = end - rest;
	}
}

static struct slot read_slot(struct xc_window *window, const struct ng_group *group, unsigned index, uint64_t *tries)
{
	xc_addr start = group->mem + NG_UNIT + group->stride * index;
	struct slot slot = {.block = find_block(window, group, index, start, tries)};
	const uint8_t *bytes = header(window, slot.block);
	unsigned field = bytes ? bytes[1] >> 5 : 0;
	slot.size = start + group->stride - NG_HEADER - slot.block;
	slot.at = slot.block - NG_HEADER;
	if (!bytes)
		slot.wrong = "the header of a slot cannot be read";
	else if (!is_block(window, group, index, slot.block))
		slot.wrong = "the header of a slot has the index of another slot";
	else if (field == NESTED && slot.block == start)
		slot.nested = true;
	else if (field > IN_TAIL)
		slot.wrong = "the header of a slot has no valid size";
	else
		read_size(window, field, &slot);
	return slot;
}

/* ---- walking ---- */

struct walker {
	struct xc_walk *walk;
	const struct ng_state *state;
	size_t next, to; /* groups */
	uint64_t tries;  /* left for find_block */
};

static void damaged_slot(struct walker *w, const struct ng_group *group, unsigned index, const struct slot *slot)
{
	struct xc_walk *walk = w->walk;
	if (walk->damage_count > XC_DAMAGES)
		return; /* it would be discarded, so it needs no texts */
	const uint8_t *bytes = header(&walk->window, slot->block);
	struct xc_damage damage = {.kind = XC_DAMAGE_HEADER,
				   .addr = slot->at,
				   .what = slot->wrong,
				   .lost_lo = 1,
				   .arena = w->state->arena,
				   .before = XC_NO_BLOCK};
	if (bytes)
		damage.found = xc_arena_printf(
			&walk->memory, "header %02x %02x %04x of slot %u in group 0x%llx (class %u)", bytes[0],
			bytes[1], offset_field(bytes), index, (unsigned long long)group->mem, group->size_class);
	damage.expected = xc_arena_printf(&walk->memory, "index %u, distance 0x%llx", index,
					  (unsigned long long)((slot->block - group->mem - NG_UNIT) / NG_UNIT));
	xc_walk_add_damage(walk, &damage);
}

static void walk_group(struct walker *w, unsigned depth)
{
	const struct ng_group *group = &w->state->groups[w->next++];
	struct xc_block_list *blocks = &w->walk->blocks;
	for (unsigned i = 0; i < group->count; i++) {
		xc_addr start = group->mem + NG_UNIT + group->stride * i;
		if (group->free >> i & 1) {
			xc_block_list_add(blocks, start, group->stride - NG_HEADER, XC_BLOCK_BIN);
			continue;
		}
		struct slot slot = read_slot(&w->walk->window, group, i, &w->tries);
		bool holds = w->next < w->to && w->state->groups[w->next].mem == start && depth < DEPTH;
		if (slot.nested && !holds && !w->state->lost)
			slot.wrong = "a slot that should hold a group holds none";
		if (slot.wrong && !xc_heap_is_lost(w->walk->heap, slot.at - NG_HEADER, 2 * NG_HEADER))
			damaged_slot(w, group, i, &slot);
		if (holds) {
			walk_group(w, depth + 1);
			continue;
		}
		xc_block_list_add(blocks, slot.block, slot.size ? slot.size : 1,
				  slot.wrong ? XC_BLOCK_UNKNOWN : XC_BLOCK_LIVE);
	}
}

static void walk(struct xc_walk *walk, size_t piece)
{
	const struct ng_state *state = walk->state;
	struct walker w = {.walk = walk,
			   .state = state,
			   .next = state->pieces[piece],
			   .to = state->pieces[piece + 1],
			   .tries = TRIES};
	size_t most = 0;
	for (size_t i = w.next; i < w.to; i++)
		most += state->groups[i].count;
	xc_block_list_init(&walk->blocks, most);
	while (w.next < w.to)
		walk_group(&w, 0);
}

/* ---- the table's entry ---- */

static void fini(void *memory)
{
	struct ng_state *state = memory;
	free(state->groups);
	free(state->pieces);
	free(state);
}

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	struct ng_state *state = xc_alloc(sizeof *state);
	if (!ng_find(heap, state, why_out)) {
		fini(state);
		return NULL;
	}
	*pieces_out = state->piece_count;
	return state;
}

/* The innermost group that contains an address. */
static const struct ng_group *group_of(const struct ng_state *state, xc_addr addr)
{
	size_t lo = XC_LOWER_BOUND(state->count, i, state->groups[i].mem <= addr);
	for (unsigned tries = 0; lo > 0 && tries < 4096; tries++, lo--) {
		const struct ng_group *group = &state->groups[lo - 1];
		if (addr - group->mem >= NG_UNIT && addr - group->mem < NG_UNIT + group->stride * group->count)
			return group;
	}
	return NULL;
}

static void explain(const struct xc_heap *heap, void *memory, uint32_t block, struct xc_text *text)
{
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	const struct ng_group *group = group_of(memory, addr);
	if (!group)
		return;
	uint64_t index = (addr - group->mem - NG_UNIT) / group->stride;
	xc_text_printf(text, "slot %llu of %u of group 0x%llx: %llu bytes a slot, ", (unsigned long long)index,
		       group->count, (unsigned long long)group->mem, (unsigned long long)group->stride);
	if (group->size_class < NG_CLASSES)
		xc_text_printf(text, "class %u, ", group->size_class);
	else
		xc_text_add(text, "mapped for it alone, ");
	xc_text_printf(text, "meta 0x%llx", (unsigned long long)group->meta);
}

/* The slot's header has the requested size. */
static bool fits(uint64_t wanted, uint64_t size, unsigned word)
{
	(void)word;
	return size == wanted;
}

const struct xc_allocator xc_allocator_mallocng = {
	.name = "mallocng",
	.checks = "the header of every block in use against its group; the records of groups; the list of their areas",
	.headers = XC_HEADERS_LIVE,
	.detect = detect,
	.walk = walk,
	.fini = fini,
	.explain = explain,
	.fits = fits,
};
