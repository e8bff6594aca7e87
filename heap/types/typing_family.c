/* typing_family: what a pointer to struct sockaddr leads to.
 *
 * No program has an object of that type: by POSIX the family at its beginning says which of the larger ones it is. They
 * are known by name; of a family without one, the pointer's own type is all there is to say. */
#include "heap/types/typing_engine.h"

#include <string.h>

static const struct {
	const char *type;
	uint8_t family; /* of Linux */
} families[] = {
	{"sockaddr_un", 1}, {"sockaddr_in", 2}, {"sockaddr_in6", 10}, {"sockaddr_nl", 16}, {"sockaddr_ll", 17},
};

/* The family has two bytes, of which the second is zero. */
static struct xc_header_set *make_families(struct xc_engine *e, uint32_t target)
{
	struct xc_header_set *made = xc_arena_alloc(&e->heap->memory, sizeof *made);
	made->begins = true;
	for (size_t i = 0; i < XC_COUNT(families); i++) {
		const struct xc_type *type = xc_typing_find_type(e->typing, families[i].type, 0);
		uint32_t map = type ? xc_typemap_of(e, type) : XC_NO_MAP;
		if (map != XC_NO_MAP)
			made->items[made->count++] =
				(struct xc_header_case){.map = map, .mask = UINT8_MAX, .value = families[i].family};
	}
	made->items[made->count++] = (struct xc_header_case){.map = target};
	return made;
}

const struct xc_header_set *xc_typing_families(struct xc_engine *e, uint32_t target)
{
	const struct xc_typemap *map = e->maps[target];
	if (!map->is_record || !map->bare->name || strcmp(map->bare->name, "sockaddr") != 0)
		return NULL;
	if (!e->families)
		e->families = make_families(e, target);
	return e->families;
}
