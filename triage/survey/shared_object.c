/* shared_object: that the objects belong to one owner each is read from the others: no other one has two. */
#include "triage/survey/shared_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/types/field.h"
#include "triage/blocks/block_types.h"
#include "triage/dataflow/deref.h"
#include "triage/util/same_type.h"

enum { OWNERS = 4096, BLOCKS = 1 << 20, MEMBERS = 256, TOLD = 4 };

struct owner {
	xc_addr at, object;
};

struct search {
	const struct xc_crash_context *crash;
	const struct xc_deref *deref; /* the bad value: a member of the object */
	const struct xc_type *object, *owner;
	const struct xc_member *member; /* of the owner, that leads to the object */
	struct owner *owners;
	size_t count;
};

/* The type of the owner: what the member that was read points to. NULL: it is no such member. */
static const struct xc_type *owner_type(const struct xc_deref *deref, const struct xc_type *object)
{
	uint64_t size, rest;
	if (!deref->at_known || !xc_type_size(object, &size) || deref->at - deref->led >= size)
		return NULL;
	const struct xc_type *leaf = xc_field_path(NULL, object, deref->at - deref->led, &rest);
	const struct xc_type *owner = leaf && !rest ? xc_same_type_pointed(leaf) : NULL;
	return owner && xc_same_type_is_record(owner) && !xc_same_type(owner, object) ? owner : NULL;
}

/* The only member of the owner that leads to such an object. */
static const struct xc_member *member_to(const struct xc_type *owner, const struct xc_type *object)
{
	const struct xc_member *found = NULL;
	size_t count;
	const struct xc_member *members = xc_type_members(owner, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		if (!members[i].name || members[i].bit_size ||
		    !xc_same_type(xc_same_type_pointed(members[i].type), object))
			continue;
		if (found)
			return NULL;
		found = &members[i];
	}
	return found;
}

static void take(struct search *s, xc_addr at)
{
	const struct xc_process *p = s->crash->process;
	uint64_t object;
	if (xc_space_peek_uint(p->space, at + s->member->offset, p->arch->word, &object) && object)
		s->owners[s->count++] = (struct owner){.at = at, .object = object};
}

/* The owners in blocks whose type is well known. */
static void collect(struct search *s)
{
	const struct xc_heap *heap = s->crash->heap;
	for (uint32_t block = 0; block < heap->blocks.count && block < BLOCKS; block++) {
		const struct xc_typed *typed = heap->typing ? xc_typing_get(heap->typing, block) : NULL;
		uint64_t size, rest;
		if (!typed || typed->confidence < XC_TYPE_STRONG || typed->conflicting ||
		    typed->shape == XC_TYPED_TEXT || !xc_same_type(typed->type, s->owner) ||
		    xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE || !xc_type_size(typed->type, &size) || !size)
			continue;
		rest = xc_block_size(&heap->blocks, block) - typed->offset;
		for (xc_addr at = xc_block_addr(&heap->blocks, block) + typed->offset;
		     rest >= size && s->count < OWNERS; at += size, rest -= size) {
			take(s, at);
			if (typed->shape != XC_TYPED_ARRAY)
				break;
		}
	}
}

static int by_object(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	return x->object != y->object ? (x->object > y->object) - (x->object < y->object)
				      : (x->at > y->at) - (x->at < y->at);
}

/* Several owners have ours, and each of the others has one. */
static bool is_shared(const struct search *s, const struct owner **first_out, size_t *count_out)
{
	size_t others = 0;
	*count_out = 0;
	for (size_t i = 0, n; i < s->count; i += n) {
		for (n = 1; i + n < s->count && s->owners[i + n].object == s->owners[i].object; n++)
			;
		if (s->owners[i].object == s->deref->led) {
			*first_out = &s->owners[i];
			*count_out = n;
		} else if (n > 1) {
			return false;
		}
		others += s->owners[i].object != s->deref->led;
	}
	return others && *count_out > 1;
}

static void report(const struct search *s, const struct owner *first, size_t count)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < count && i < TOLD; i++)
		xc_text_printf(&text, "%s0x%" PRIx64, i ? ", " : "", first[i].at);
	xc_verdict_evidence(s->crash->report,
			    "`%s` leads to one %s, but %zu of them lead to that object by `%s` (at %s%s), and each "
			    "other such object has one: perhaps it was given to a second one while the first still had "
			    "it (released twice, or too early)",
			    s->deref->place, xc_type_name(s->owner), count, s->member->name, xc_text_string(&text),
			    count > TOLD ? ", …" : "");
	xc_text_fini(&text);
}

void xc_shared_object_report(struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	struct search s = {.crash = crash, .deref = bad};
	const struct owner *first = NULL;
	size_t count;
	if (!bad || !bad->led_known || !bad->place || !crash->heap || !crash->heap->blocks.count ||
	    xc_crash_context_is(crash, "use-after-free") || !(s.object = xc_same_type_pointed(bad->pointer_type)) ||
	    !xc_same_type_is_record(s.object) || !(s.owner = owner_type(bad, s.object)) ||
	    !(s.member = member_to(s.owner, s.object)))
		return;
	xc_block_types_infer(crash);
	s.owners = xc_alloc(OWNERS * sizeof *s.owners);
	collect(&s);
	qsort(s.owners, s.count, sizeof *s.owners, by_object);
	if (is_shared(&s, &first, &count))
		report(&s, first, count);
	free(s.owners);
}
