#include "dwarf/sample/sample_guest.h"

#include <stdlib.h>
#include <string.h>

void xc_guest_places_init(struct xc_guest_places *p)
{
	*p = (struct xc_guest_places){0};
	p->items = xc_grow(p->items, 0, &p->capacity, sizeof *p->items);
	p->items[p->count++] = (struct xc_guest_place){.function = "[torn]"};
}

void xc_guest_places_fini(struct xc_guest_places *p)
{
	xc_arena_fini(&p->arena);
	xc_hashtable_fini(&p->by_texts);
	free(p->items);
	*p = (struct xc_guest_places){0};
}

static const char *copy(struct xc_guest_places *p, const char *text)
{
	p->bytes += text ? strlen(text) + 1 : 0;
	return xc_arena_strdup(&p->arena, text);
}

/* No text is not the empty one. */
static uint64_t hash_text(uint64_t seed, const char *text)
{
	return text ? xc_hash_bytes(seed + 1, text, strlen(text)) : seed;
}

static uint64_t hash_of(const struct xc_guest_place *place)
{
	uint64_t hash = hash_text(place->line, place->function);
	hash = hash_text(hash, place->file);
	hash = hash_text(hash, place->language);
	return hash_text(hash, place->kind);
}

static bool is_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_equal(const struct xc_guest_place *a, const struct xc_guest_place *b)
{
	return a->line == b->line && is_text(a->function, b->function) && is_text(a->file, b->file) &&
	       is_text(a->language, b->language) && is_text(a->kind, b->kind);
}

/* The number of the place that is equal; 0: none, and the key for it. */
static uint32_t find(const struct xc_guest_places *p, const struct xc_guest_place *place, uint64_t hash,
		     uint64_t *n_out)
{
	const union xc_hashtable_value *found;
	for (*n_out = 1; (found = xc_hashtable_find(&p->by_texts, hash, *n_out)); ++*n_out)
		if (is_equal(&p->items[found->number], place))
			return (uint32_t)found->number;
	return 0;
}

bool xc_guest_places_add(struct xc_guest_places *p, const struct xc_guest_place *place, uint32_t *number_out)
{
	const uint64_t hash = hash_of(place);
	uint64_t n;
	*number_out = find(p, place, hash, &n);
	if (*number_out)
		return true;
	if (p->count == XC_GUEST_PLACES || p->bytes > XC_GUEST_BYTES)
		return false;
	p->items = xc_grow(p->items, p->count, &p->capacity, sizeof *p->items);
	p->items[p->count] = (struct xc_guest_place){
		.function = copy(p, place->function),
		.file = copy(p, place->file),
		.line = place->line,
		.language = copy(p, place->language),
		.kind = copy(p, place->kind),
	};
	xc_hashtable_at(&p->by_texts, NULL, hash, n)->number = p->count;
	*number_out = (uint32_t)p->count++;
	return true;
}

bool xc_guest_places_rename(struct xc_guest_places *p, uint32_t number, const char *function)
{
	if (p->bytes > XC_GUEST_BYTES)
		return false;
	p->items[number].function = copy(p, function);
	return true;
}
