/* evidence_vtable: blocks that begin with an object of a class with virtual functions.
 *
 * The class is the most derived one, since its constructor wrote the vptr last. A block with much room after the
 * object is less certain: it may be a buffer that begins with an object (then the next element has the same vptr),
 * a pool, or a former object. For a class without debug information the size is that of the smallest block with
 * one, or the distance between two in one block. */
#include "dwarf/types/ctype.h"
#include "heap/evidence/evidence_list.h"
#include "heap/evidence/vtable.h"

enum {
	WORD = 8,
	SLACK = 32,    /* bytes that allocators may add by rounding up */
	STRIDE = 8192, /* bytes: the largest element of an array whose class is not described */
};

struct seeding {
	struct xc_typing *typing;
	struct xc_vtables *tables;
	struct xc_window window;
	bool nameless; /* a class without debug information was found */
	bool again;    /* this is the second scan */
	bool weak;     /* weak items come last, and only for blocks that are still untyped */
};

/* ---- sizes of undescribed classes ---- */

/* The distance from the beginning of a block to the next object with the same vptr; the block's size if there is
 * none nearby. */
static uint64_t stride(struct seeding *s, uint32_t block, xc_addr vptr)
{
	const struct xc_blocks *blocks = &s->typing->heap->blocks;
	uint64_t size = xc_block_size(blocks, block), most = size < STRIDE ? size : STRIDE, word;
	for (uint64_t at = 2 * WORD; at + WORD <= most; at += WORD) {
		if (xc_window_word(&s->window, xc_block_addr(blocks, block) + at, &word) && word == vptr)
			return at;
	}
	return size;
}

static void measure(struct seeding *s, uint32_t block, struct xc_vtable *vtable)
{
	uint64_t size = xc_block_size(&s->typing->heap->blocks, block);
	if (vtable->size == 0 || size < vtable->size)
		vtable->size = stride(s, block, vtable->addr);
	s->nameless = true;
}

/* ---- the type of a block ---- */

static bool has_word(struct seeding *s, xc_addr addr, uint64_t word)
{
	uint64_t have;
	return xc_window_word(&s->window, addr, &have) && have == word;
}

/* The fact about a block with room for more than the object. */
static struct xc_typed classify(struct seeding *s, uint32_t block, uint64_t offset, const struct xc_vtable *vtable)
{
	struct xc_typed typed = {
		.type = vtable->type, .shape = XC_TYPED_ONE, .confidence = XC_TYPE_EXACT, .via = "vtable"};
	const struct xc_blocks *blocks = &s->typing->heap->blocks;
	uint64_t left = xc_block_size(blocks, block) - offset - vtable->size;
	typed.offset = offset;
	if (offset) {
		typed.shape = XC_TYPED_ARRAY;
		typed.confidence = XC_TYPE_STRONG;
	} else if (left >= vtable->size && has_word(s, xc_block_addr(blocks, block) + vtable->size, vtable->addr)) {
		typed.shape = XC_TYPED_ARRAY;
		typed.confidence = XC_TYPE_STRONG;
	} else if (left >= SLACK) {
		typed.confidence = left <= vtable->size ? XC_TYPE_STRONG : XC_TYPE_WEAK;
	}
	return typed;
}

/* Items are few and blocks many, so the usual item of each class is cached. */
static uint32_t item_of(struct seeding *s, struct xc_vtable *vtable, const struct xc_typed *typed)
{
	bool plain = typed->shape == XC_TYPED_ONE && typed->confidence == XC_TYPE_EXACT;
	if (!plain)
		return xc_typing_item(s->typing, typed);
	if (!vtable->user[0])
		vtable->user[0] = xc_typing_item(s->typing, typed);
	return vtable->user[0];
}

static void seen(void *context, uint32_t block, uint64_t offset, struct xc_vtable *vtable)
{
	struct seeding *s = context;
	uint64_t size = xc_block_size(&s->typing->heap->blocks, block);
	if (vtable->to_top != 0 || (s->again && vtable->user[1] == 0))
		return; /* a base at the beginning of a block is not part of an object there */
	if (!vtable->type && !s->again) {
		vtable->user[1] = 1;
		if (offset == 0)
			measure(s, block, vtable);
		return;
	}
	if (!vtable->type)
		vtable->type = xc_ctype_class(s->typing->heap->process, vtable->name, vtable->size);
	if (vtable->size == 0 || size < offset || vtable->size > size - offset)
		return;
	struct xc_typed typed = classify(s, block, offset, vtable);
	if ((typed.confidence == XC_TYPE_WEAK) != s->weak || (s->weak && xc_typing_has(s->typing, block)))
		return;
	uint32_t item = item_of(s, vtable, &typed);
	if (item)
		xc_typing_seed(s->typing, block, item);
}

static void scan(struct xc_typing *typing, bool weak)
{
	struct seeding s = {.typing = typing, .tables = xc_vtables_new(typing->heap->process), .weak = weak};
	xc_window_init(&s.window, typing->heap->process->space);
	xc_vtables_scan(s.tables, typing->heap, seen, &s);
	if (s.nameless) {
		s.again = true;
		xc_vtables_scan(s.tables, typing->heap, seen, &s);
	}
	xc_window_fini(&s.window);
	xc_vtables_free(s.tables);
}

static void seed(struct xc_typing *typing)
{
	scan(typing, false);
}

static void late(struct xc_typing *typing)
{
	scan(typing, true);
}

const struct xc_evidence xc_evidence_vtable = {.name = "vtables", .seed = seed, .late = late};
