#include "triage/blocks/other_owner.h"

#include "dwarf/types/field.h"
#include "heap/query/rootword.h"
#include "heap/query/whatis.h"
#include "heap/types/typing.h"
#include "triage/blocks/value_place.h"
#include "triage/dataflow/pointers.h"
#include "triage/util/memory_search.h"
#include "triage/util/same_type.h"

enum { HITS = 32, OUTWARD = 2 /* frames beyond the blamed one, whose variables may be owners */ };

/* The type of a word in a block whose own type is well known. */
static const struct xc_type *type_in_block(struct xc_heap *heap, uint32_t block, xc_addr at)
{
	const struct xc_typed *typed = heap->typing ? xc_typing_get(heap->typing, block) : NULL;
	uint64_t size, offset = at - xc_block_addr(&heap->blocks, block), rest = 0;
	if (!typed || typed->confidence < XC_TYPE_STRONG || typed->conflicting || offset < typed->offset ||
	    !xc_type_size(typed->type, &size) || !size || typed->shape == XC_TYPED_TEXT ||
	    xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE)
		return NULL;
	offset -= typed->offset;
	if (typed->shape == XC_TYPED_ARRAY)
		offset %= size;
	const struct xc_type *leaf = offset < size ? xc_field_path(NULL, typed->type, offset, &rest) : NULL;
	return leaf && !rest ? leaf : NULL;
}

/* The type of a variable of a stack, of a global, or of a part of one. */
static const struct xc_type *type_of_variable(const struct xc_pointed *t, xc_addr at)
{
	uint64_t offset, rest = 0;
	const struct xc_type *variable = xc_value_place_variable(t->crash, at, &offset);
	const struct xc_type *type = variable ? xc_field_path(NULL, variable, offset, &rest) : NULL;
	return rest ? NULL : type;
}

static const struct xc_type *type_of_word(const struct xc_pointed *t, xc_addr at)
{
	uint32_t block = xc_blocks_find(&t->crash->heap->blocks, at);
	return block == XC_NO_BLOCK ? type_of_variable(t, at) : type_in_block(t->crash->heap, block, at);
}

static bool has_characters(const struct xc_type *theirs, uint64_t offset)
{
	uint64_t rest;
	return xc_type_strip(xc_field_path(NULL, theirs, offset, &rest))->kind == XC_TYPE_CHAR;
}

/* Does their object have characters where ours begins with something else? */
static bool begins_in_text(const struct xc_pointed *t, const struct xc_type *theirs, uint64_t value)
{
	return has_characters(theirs, t->deref->led - value) && !has_characters(t->type, 0);
}

/* Is the whole block an array of `theirs`, which a pointer with this value leads to? */
static bool is_array_of(const struct xc_pointed *t, const struct xc_type *theirs, uint64_t value)
{
	const struct xc_heap *heap = t->crash->heap;
	const struct xc_typed *typed = value == t->begin && heap->typing ? xc_typing_get(heap->typing, t->block) : NULL;
	return typed && typed->shape == XC_TYPED_ARRAY && typed->confidence >= XC_TYPE_STRONG && !typed->conflicting &&
	       xc_same_type(typed->type, theirs);
}

/* Was a pointer of our object read where an array of numbers has a number? Whole numbers may be the words of a pool,
 * which the object is in; where a container has such objects elsewhere they are not. */
static bool is_among_numbers(const struct xc_pointed *t, const struct xc_type *theirs)
{
	uint64_t size, rest, offset = t->deref->at - t->deref->led;
	if (!t->deref->at_known || !xc_type_size(t->type, &size) || offset >= size ||
	    (theirs->kind != XC_TYPE_FLOAT && (theirs->kind != XC_TYPE_INT || !t->moved)))
		return false;
	return xc_type_is_pointer(xc_field_path(NULL, t->type, offset, &rest)) && !rest;
}

/* Is a pointer with this target one to something that the object is not? With text in the block, to characters, too. */
static bool is_other_type(const struct xc_pointed *t, const struct xc_type *theirs, uint64_t value, bool text)
{
	if (!theirs || !t->type)
		return false;
	if (xc_same_type_is_bytes(theirs))
		return text && theirs->kind != XC_TYPE_VOID && theirs->kind != XC_TYPE_UNKNOWN;
	uint64_t size;
	bool array = is_array_of(t, theirs, value);
	if (array && is_among_numbers(t, theirs))
		return true;
	/* A header or a node's base before the object is part of the same block, and no other owner. */
	return value <= t->deref->led && xc_type_size(xc_type_complete(theirs), &size) &&
	       t->deref->led - value < (array && xc_same_type_is_record(theirs) ? t->size : size) &&
	       ((text && begins_in_text(t, theirs, value)) || !xc_same_type_may_hold(theirs, t->type));
}

static bool is_other_owner(const struct xc_pointed *t, xc_addr at, bool text)
{
	uint64_t value;
	return at != t->deref->at &&
	       xc_space_peek_uint(t->crash->process->space, at, t->crash->process->arch->word, &value) &&
	       is_other_type(t, xc_same_type_pointed(type_of_word(t, at)), value, text);
}

/* A variable, in a register perhaps. */
static bool find_variable(const struct xc_pointed *t, struct xc_text *owner)
{
	struct xc_pointers pointers;
	xc_pointers_variables(t->crash, t->crash->blame.place ? t->crash->blamed + 1 + OUTWARD : 1, &pointers);
	for (size_t i = 0; i < pointers.count; i++) {
		const struct xc_pointer *one = &pointers.items[i];
		if (one->value - t->begin >= t->size ||
		    !is_other_type(t, xc_same_type_pointed(one->type), one->value, true))
			continue;
		xc_pointers_text(t->crash, one, owner);
		const char *function = xc_place_function(xc_crash_context_place(t->crash, one->frame), 0);
		xc_text_printf(owner, " of %s", function ? function : "a function");
		return true;
	}
	return false;
}

/* Does a `void *` lead to the object, too? Then its pointer may have been made from that, by a wrong cast. */
static bool is_cast(const struct xc_pointed *t, const xc_addr *found, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value;
		const struct xc_type *theirs = xc_same_type_pointed(type_of_word(t, found[i]));
		if (theirs && theirs->kind == XC_TYPE_VOID &&
		    xc_space_peek_uint(t->crash->process->space, found[i], t->crash->process->arch->word, &value) &&
		    value == t->deref->led)
			return true;
	}
	return false;
}

/* The outermost frame that has had the pointer, or was given it. */
static size_t outermost_holder(const struct xc_pointed *t)
{
	const struct xc_crash_context *crash = t->crash;
	return crash->blame.place && crash->blamed > t->deref->holder ? crash->blamed : t->deref->holder;
}

/* The lowest address of a stack that no such function has made. */
static xc_addr outside_of(const struct xc_pointed *t)
{
	const struct xc_crash_context *crash = t->crash;
	size_t index = outermost_holder(t);
	if (index >= crash->frame_count)
		return UINT64_MAX;
	struct xc_frame frame = crash->frames[index];
	return xc_unwind_cfa(crash->unwinder, &frame) ? frame.cfa : UINT64_MAX;
}

/* Does another pointer of the object's own type lead to it, that was not made from this one? Then such an object was
 * there, and nothing was cast. */
static bool has_fellow(const struct xc_pointed *t, const xc_addr *found, size_t count)
{
	xc_addr outside = outside_of(t);
	for (size_t i = 0; i < count; i++) {
		uint64_t value;
		bool stack = xc_what(t->crash->process, t->crash->heap, found[i]).kind == XC_WHAT_STACK;
		if ((stack && found[i] < outside) || found[i] - t->begin < t->size ||
		    !xc_space_peek_uint(t->crash->process->space, found[i], t->crash->process->arch->word, &value) ||
		    value != t->deref->led)
			continue;
		const struct xc_type *theirs = xc_same_type_pointed(type_of_word(t, found[i]));
		if (theirs && xc_same_type_is_record(theirs) && xc_same_type(theirs, t->type))
			return true;
	}
	return false;
}

/* The same of a variable, in a register perhaps. */
static bool has_fellow_variable(const struct xc_pointed *t)
{
	size_t outermost = outermost_holder(t);
	struct xc_pointers pointers;
	xc_pointers_variables(t->crash, outermost + 1 + OUTWARD, &pointers);
	for (size_t i = 0; i < pointers.count; i++) {
		const struct xc_type *theirs = xc_same_type_pointed(pointers.items[i].type);
		if (pointers.items[i].frame > outermost && pointers.items[i].value == t->deref->led && theirs &&
		    xc_same_type_is_record(theirs) && xc_same_type(theirs, t->type))
			return true;
	}
	return false;
}

bool xc_other_owner_has_fellow(const struct xc_pointed *t)
{
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(t->crash->process, t->begin, t->size - 1, found, HITS);
	return has_fellow(t, found, count) || has_fellow_variable(t);
}

/* Was the block allocated for such an object? Of text any size is as good. */
static bool has_its_size(const struct xc_pointed *t)
{
	uint64_t size, rounded = 2 * t->crash->process->arch->word;
	return t->deref->led == t->begin && xc_type_size(t->type, &size) && size <= t->size &&
	       (t->size - size <= rounded || t->size - size <= t->size / 8);
}

/* A global, or a word of the heap, that leads to the block's beginning: it owns the text. */
static bool is_kept(const struct xc_pointed *t, xc_addr at)
{
	uint64_t value;
	return xc_what(t->crash->process, t->crash->heap, at).kind != XC_WHAT_STACK &&
	       xc_space_peek_uint(t->crash->process->space, at, t->crash->process->arch->word, &value) &&
	       value == t->begin;
}

bool xc_other_owner_find(const struct xc_pointed *t, bool text, struct xc_text *owner, bool *cast_out)
{
	xc_addr found[HITS];
	size_t count = xc_memory_search_words(t->crash->process, t->begin, t->size - 1, found, HITS);
	*cast_out = is_cast(t, found, count) && !has_fellow(t, found, count);
	for (size_t i = 0; i < count; i++) {
		if (!is_other_owner(t, found[i], text))
			continue;
		if (text && has_its_size(t) && is_kept(t, found[i]))
			*cast_out = false;
		xc_rootword_place(t->crash->heap, found[i], true, owner);
		return true;
	}
	return text && find_variable(t, owner); /* without text the variable may be the stale one */
}
