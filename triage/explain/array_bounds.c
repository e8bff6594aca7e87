/* array_bounds: see array_bounds.h. The part of an expression before a bracket is evaluated, which gives the array and
 * where it lies. The address of the access then shows the element. The index itself is only looked at for its name, and
 * in arrays of arrays: there the address of an element outside of its row is that of an element of another row. */
#include "triage/explain/array_bounds.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/types/field.h"
#include "triage/util/odd_number.h"
#include "triage/util/statics.h"

enum { LEVELS = 4 };
#define FAR (INT64_C(1) << 48)

struct search {
	const struct xc_crash_context *crash;
	struct xc_frame_scope scope;
	struct xc_arena *arena;
	xc_addr at;
	bool blocks; /* pointers to blocks of the heap count as arrays */
};

/* An element of an array, and the text of its parts. */
struct element {
	const char *array, *index; /* "engine.handlers", "c->state" */
	struct xc_value value;     /* the array */
	uint64_t count, size;      /* elements; of one */
	int64_t number;            /* which one it is */
	bool named;                /* the index has this value */
	uint64_t block;            /* size of the block that a pointer to the array leads to; 0: a declared array */
};

static bool evaluate(const struct search *s, const char *text, struct xc_value *out)
{
	struct xc_error *error = xc_cexpr_value(&s->scope, text, s->arena, out);
	bool good = !error && out->kind != XC_VALUE_ABSENT;
	xc_error_free(error);
	return good;
}

/* Arrays of one element are declared where their number is not known. */
static bool is_array(const struct xc_value *value, struct element *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	if (type->kind != XC_TYPE_ARRAY || value->kind != XC_VALUE_MEMORY || !type->count_known || type->count < 2 ||
	    type->is_dynamic || !type->target || !xc_type_size(type->target, &out->size) || !out->size ||
	    out->size > INT32_MAX || type->count > INT32_MAX)
		return false;
	out->value = *value;
	out->count = type->count;
	return true;
}

/* A pointer to the beginning of a live block of the heap: as many elements as fit. */
static bool is_block(const struct search *s, const struct xc_value *value, struct element *out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	const struct xc_blocks *blocks = s->crash->heap ? &s->crash->heap->blocks : NULL;
	xc_addr begin;
	if (!s->blocks || !blocks || type->kind != XC_TYPE_POINTER || !type->target ||
	    !xc_type_size(type->target, &out->size) || !out->size || out->size > INT32_MAX ||
	    !xc_value_load(value, &begin))
		return false;
	uint32_t block = xc_blocks_find(blocks, begin);
	if (block == XC_NO_BLOCK || xc_block_addr(blocks, block) != begin ||
	    xc_block_state(blocks, block) != XC_BLOCK_LIVE || xc_block_size(blocks, block) > INT32_MAX)
		return false;
	out->value = xc_value_memory(s->crash->process, type->target, begin);
	out->block = xc_block_size(blocks, block);
	out->count = (out->block + out->size - 1) / out->size;
	return true;
}

static bool index_value(const struct search *s, const char *text, int64_t *out)
{
	struct xc_value value;
	uint64_t bits;
	bool known = *text && evaluate(s, text, &value) && xc_value_load(&value, &bits);
	if (known)
		*out = (int64_t)bits;
	return known;
}

/* Which element it is. False when that is not known: of a far address the product of index and size may have
 * overflowed. */
static bool find_number(const struct search *s, bool of_arrays, struct element *e)
{
	int64_t named = 0, distance = (int64_t)(s->at - e->value.addr), size = (int64_t)e->size;
	bool known = index_value(s, e->index, &named);
	e->named = known && (of_arrays || (uint64_t)distance - (uint64_t)named * e->size < e->size);
	e->number = e->named ? named : distance / size - (distance % size < 0);
	return e->named || (!of_arrays && distance > -FAR && distance < FAR);
}

/* ---- around the array ---- */

/* What the last member of a path is in: "engine" of "engine.handlers", "r" of "r->in.codes"; its joiner is cut off.
 * NULL: it is a variable. */
static const char *owner_of(const struct search *s, const char *path, const char **joiner_out)
{
	size_t len = strlen(path), depth = 0;
	for (size_t i = len; i-- > 1;) {
		depth += path[i] == ']' || path[i] == ')';
		depth -= depth && (path[i] == '[' || path[i] == '(');
		bool arrow = path[i] == '>' && path[i - 1] == '-';
		if (depth || (path[i] != '.' && !arrow))
			continue;
		*joiner_out = arrow ? "->" : ".";
		return xc_arena_strndup(s->arena, path, i - arrow);
	}
	return NULL;
}

/* The object of a path: what a pointer points to. */
static bool owner_value(const struct search *s, const char *owner, const char *joiner, struct xc_value *out)
{
	const char *text = *joiner == '.' ? owner : xc_arena_printf(s->arena, "*(%s)", owner);
	return evaluate(s, text, out) && out->kind == XC_VALUE_MEMORY;
}

/* The last array of an object that was allocated is often longer than its type says. */
static bool may_be_longer(const struct search *s, const struct element *e)
{
	const struct xc_heap *heap = s->crash->heap;
	const struct xc_type *type = xc_type_strip(e->value.type);
	const char *joiner, *owner = owner_of(s, e->array, &joiner);
	struct xc_value object;
	uint64_t size, whole;
	xc_addr end = e->value.addr + (xc_type_size(type, &size) ? size : 0);
	if (!owner || s->at < end || !owner_value(s, owner, joiner, &object) || !xc_type_size(object.type, &whole) ||
	    end + e->size <= object.addr + whole)
		return false;
	const struct xc_mapping *m = xc_process_mapping(s->crash->process, end);
	if (!heap)
		return m && !m->path;
	uint32_t block = xc_blocks_find(&heap->blocks, e->value.addr);
	return block != XC_NO_BLOCK && xc_blocks_find(&heap->blocks, s->at) == block;
}

static bool add_path(const char *begin, const char *joiner, const struct xc_type *type, uint64_t offset,
		     struct xc_text *out)
{
	struct xc_text path = {0};
	if (type)
		xc_field_path(&path, type, offset, NULL);
	const char *rest = xc_text_string(&path);
	bool member = *rest == '.';
	xc_text_printf(out, "; the bytes there are of `%s%s%s`", begin, member ? joiner : "", rest + member);
	xc_text_fini(&path);
	return true;
}

/* The bytes there, as a member of an object that also has the array. */
static bool add_member(const struct search *s, const struct element *e, struct xc_text *out)
{
	const char *joiner, *owner = e->array;
	while ((owner = owner_of(s, owner, &joiner))) {
		struct xc_value object;
		uint64_t size;
		if (!owner_value(s, owner, joiner, &object) || !xc_type_size(object.type, &size))
			return false;
		if (s->at >= object.addr && s->at - object.addr < size)
			return add_path(owner, joiner, object.type, s->at - object.addr, out);
	}
	return false;
}

static bool add_variable(const struct search *s, struct xc_text *out)
{
	const struct xc_frame_context context = xc_frame_scope_context(&s->scope);
	struct xc_held held;
	for (size_t level = 0; level < context.place->level_count && level < LEVELS; level++)
		if (xc_variable_held(&context, level, -1, s->at, &held))
			return add_path(held.name, ".", held.type, held.offset, out);
	return xc_statics_at(s->crash->process, context.place, s->crash->thread, s->at, &held) &&
	       add_path(held.name, ".", held.type, held.offset, out);
}

/* ---- */

static void write(const struct search *s, const struct element *e, struct xc_text *out)
{
	if (e->named && strspn(e->index, "-0123456789") != strlen(e->index))
		xc_text_printf(out, "the index `%s` is %" PRId64, e->index, e->number);
	else
		xc_text_printf(out, "the index is %" PRId64, e->number);
	if (e->block)
		xc_odd_number_index(e->number, e->count, false, out);
	xc_text_add(out, ", ");
	if (e->block)
		xc_text_printf(out, "%s of `%s`, a block of %" PRIu64 " bytes",
			       e->number < 0 ? "before the beginning" : "past the end", e->array, e->block);
	else
		xc_text_printf(out, "%s of the %" PRIu64 " elements of `%s`",
			       e->number < 0                    ? "before the first"
			       : e->number == (int64_t)e->count ? "one past the last"
								: "beyond the last",
			       e->count, e->array);
	if (!e->block && !add_member(s, e, out))
		add_variable(s, out);
}

static size_t closing(const char *text, size_t open)
{
	size_t depth = 0, i = open;
	do {
		depth += text[i] == '[';
		depth -= text[i] == ']';
	} while (depth && text[++i]);
	return i;
}

static const struct xc_type *type_of(const struct search *s, const char *text, size_t len)
{
	const struct xc_type *type = NULL;
	bool named;
	struct xc_error *error =
		xc_cexpr_type(&s->scope, xc_arena_strndup(s->arena, text, len), s->arena, &type, &named);
	bool good = !error && !named;
	xc_error_free(error);
	return good ? xc_type_strip(type) : NULL;
}

/* Is the accessed place a part of the element, and not behind a pointer in it? */
static bool is_part(const struct search *s, const char *text, size_t end)
{
	for (size_t i = end; text[i]; i++) {
		const struct xc_type *type = text[i] == '[' || text[i] == '.' ? type_of(s, text, i) : NULL;
		bool step = type && (text[i] == '[' ? type->kind == XC_TYPE_ARRAY : xc_type_is_record(type));
		if ((text[i] == '[' || text[i] == '.') && !step)
			return false;
		if (strchr("-(", text[i]))
			return false;
		i = text[i] == '[' ? closing(text, i) : i;
	}
	return true;
}

/* The element that ends with the bracket at `close`. */
static bool look_at(const struct search *s, const char *text, size_t open, size_t close, struct element *e)
{
	struct xc_value value;
	e->array = xc_arena_strndup(s->arena, text, open);
	e->index = xc_arena_strndup(s->arena, text + open + 1, close - open - 1);
	e->block = 0;
	return evaluate(s, e->array, &value) && (is_array(&value, e) || is_block(s, &value, e)) &&
	       find_number(s, text[close + 1] == '[', e) && (e->number < 0 || (uint64_t)e->number >= e->count) &&
	       (e->block || !may_be_longer(s, e));
}

static bool find_element(const struct search *s, const char *text, struct element *out)
{
	if (*text == '*' || *text == '&')
		return false;
	for (size_t i = 1; text[0] && text[i]; i++) {
		size_t close = text[i] == '[' ? closing(text, i) : i;
		if (close == i)
			continue;
		if (!text[close])
			return false;
		if (is_part(s, text, close + 1) && look_at(s, text, i, close, out))
			return true;
		i = close;
	}
	return false;
}

bool xc_array_bounds_report(const struct xc_crash_context *crash, size_t frame, const char *expression, xc_addr at,
			    bool blocks, struct xc_text *out)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, frame);
	struct search s = {.crash = crash,
			   .arena = &crash->report->arena,
			   .at = at,
			   .blocks = blocks,
			   .scope = {.process = crash->process,
				     .thread = crash->thread,
				     .unwinder = crash->unwinder,
				     .has_frame = true,
				     .frame = *in.frame,
				     .place = in.place,
				     .without_hints = true}};
	struct element element;
	for (; expression && s.scope.level < in.place->level_count && s.scope.level < LEVELS; s.scope.level++)
		if (find_element(&s, expression, &element)) {
			write(&s, &element, out);
			return true;
		}
	return false;
}
