/* bind_held: values that are not in memory, as userdata without dependencies.
 *
 * An evaluated value borrows from the arena of its evaluation: bytes assembled from registers and pieces, reasons
 * why parts are missing, the target of a pointer that was optimised away. Here the part that the value uses is
 * copied after it, so that only the collector decides on its lifetime. It is packed twice: once to compute the
 * size, then into place. */
#include "lua/vm/bind.h"

#include <string.h>

enum { MAX_POINTEES = 8, ALIGNMENT = 16 };

struct packer {
	uint8_t *base; /* NULL: only compute the size */
	size_t used;
};

static void *put(struct packer *p, const void *bytes, size_t size)
{
	void *at = p->base ? p->base + p->used : NULL;
	if (at && size > 0)
		memcpy(at, bytes, size);
	p->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return at;
}

static const char *put_string(struct packer *p, const char *text)
{
	return text ? put(p, text, strlen(text) + 1) : NULL;
}

static bool reaches(const struct xc_hole *hole, uint64_t first, uint64_t count)
{
	return hole->first + hole->count > first && hole->first < first + count;
}

/* The holes of a buffer that overlap the bits from `first` on, relative to `first`. */
static void put_holes(struct packer *p, const struct xc_buffer *from, uint64_t first, struct xc_buffer *to)
{
	for (size_t i = 0; i < from->hole_count; i++)
		to->hole_count += reaches(&from->holes[i], first, to->size * 8);
	to->holes = put(p, from->holes, to->hole_count * sizeof *to->holes);
	for (size_t i = 0, count = 0; i < from->hole_count; i++) {
		struct xc_hole hole = from->holes[i];
		if (!reaches(&hole, first, to->size * 8))
			continue;
		uint64_t skipped = hole.first < first ? first - hole.first : 0;
		hole.first = hole.first + skipped - first;
		hole.count -= skipped;
		hole.why = put_string(p, hole.why);
		if (to->holes)
			to->holes[count++] = hole;
	}
}

/* The bytes of the value: from value->at on, as many as its type has. */
static void put_buffer(struct packer *p, struct xc_value *value)
{
	const struct xc_buffer *from = value->buffer;
	uint64_t left = value->at < from->size ? from->size - value->at : 0;
	uint64_t size = value->bit_size > 0 ? (value->bit_offset + value->bit_size + 7u) / 8u : xc_value_size(value);
	struct xc_buffer to = {.size = size > 0 && size < left ? (size_t)size : (size_t)left};
	to.bytes = put(p, from->bytes + (left ? value->at : 0), to.size);
	put_holes(p, from, value->at * 8, &to);
	value->buffer = put(p, &to, sizeof to);
	value->at = 0;
}

static void put_rest(struct packer *p, struct xc_value *value, unsigned depth)
{
	if (value->kind == XC_VALUE_BYTES && value->buffer) {
		put_buffer(p, value);
	} else if (value->kind == XC_VALUE_POINTEE && depth < MAX_POINTEES) {
		struct xc_value pointee = *value->pointee;
		put_rest(p, &pointee, depth + 1);
		value->pointee = put(p, &pointee, sizeof pointee);
	} else if (value->kind == XC_VALUE_POINTEE) {
		*value = xc_value_absent(value->process, value->type, "synthetic pointers nested too deeply");
	} else if (value->kind == XC_VALUE_ABSENT) {
		value->why = put_string(p, value->why);
	}
}

void xc_bind_push_held(lua_State *L, const struct xc_value *value, const struct xc_path *path)
{
	struct packer count = {0}, pack = {0};
	struct xc_value copy = *value;
	put_rest(&count, &copy, 0);
	const size_t head = (sizeof(struct xc_lua_held) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct xc_lua_held *held = xc_bind_new(L, head + count.used);
	pack.base = (uint8_t *)held + head;
	held->head = (struct xc_lua_value){value->type, xc_bind_shape(value->type), value->addr, path, XC_FORM_HELD};
	held->value = *value;
	put_rest(&pack, &held->value, 0);
}
