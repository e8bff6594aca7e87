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
	free(p->items);
	*p = (struct xc_guest_places){0};
}

static const char *copy(struct xc_guest_places *p, const char *text)
{
	p->bytes += text ? strlen(text) + 1 : 0;
	return xc_arena_strdup(&p->arena, text);
}

bool xc_guest_places_add(struct xc_guest_places *p, const struct xc_guest_place *place, uint32_t *number_out)
{
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
	*number_out = (uint32_t)p->count++;
	return true;
}
