/* index_far: the item at an origin may have been folded into an equal one of yet another unit, or be only a
 * declaration. So each unit with origins is scanned once more by itself, with its functions and variables listed
 * apart. That gives the key of each, which finds the item that all equal ones were folded into. An origin may itself
 * refer to another unit, which is then scanned next. */
#include "dwarf/index/index_far.h"

#include <stdlib.h>

#include "dwarf/index/index_format.h"

enum { MAX_ROUNDS = 4 };

/* A far item that needs its name. */
struct request {
	uint32_t item;      /* number in all */
	uint32_t unit, die; /* place of its origin */
};

struct requests {
	struct request *items;
	size_t count, capacity;
};

bool xc_index_far_any(const struct xc_index_items *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].flags & XC_INDEX_FAR)
			return true;
	return false;
}

/* ---- places of origins ---- */

static const struct xc_index_listed *unit_holding(const struct xc_index_listing *l, uint32_t space, uint64_t offset)
{
	size_t below = XC_LOWER_BOUND(l->count, i,
				      l->units[i].space < space ||
					      (l->units[i].space == space && l->units[i].unit.offset <= offset));
	const struct xc_index_listed *u = below ? &l->units[below - 1] : NULL;
	return u && u->space == space && offset - u->unit.offset < u->unit.size ? u : NULL;
}

/* Request the origin of a far item, or of one whose origin is far. */
static void request(const struct xc_index_listing *l, struct requests *requests, uint32_t item,
		    const struct xc_index_item *far)
{
	uint32_t from = l->units[far->unit].space;
	uint32_t space = far->flags & XC_INDEX_FAR_ALT ? XC_INDEX_ALT : from;
	const struct xc_index_listed *unit = unit_holding(l, space, far->name);
	if (!unit)
		return;
	requests->items = xc_grow(requests->items, requests->count, &requests->capacity, sizeof *requests->items);
	requests->items[requests->count++] = (struct request){
		.item = item, .unit = (uint32_t)(unit - l->units), .die = (uint32_t)(far->name - unit->unit.offset)};
}

static int by_origin(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* ---- items at origins ---- */

static int by_die(const void *a, const void *b)
{
	const struct xc_index_item *x = a, *y = b;
	return x->die < y->die ? -1 : x->die > y->die;
}

/* The name as it is stored for a unit of another file; 0 when it cannot be expressed. */
static uint64_t name_seen(const struct xc_index_listing *l, const struct xc_index_item *named,
			  const struct xc_index_item *by)
{
	struct xc_die_scan_string name = xc_index_unpack_name(named->name);
	if (l->units[named->unit].space == l->units[by->unit].space)
		return named->name;
	name.where = name.where == XC_DIE_SCAN_STR    ? XC_DIE_SCAN_ALT_STR
		     : name.where == XC_DIE_SCAN_INFO ? XC_DIE_SCAN_ALT_INFO
						      : XC_DIE_SCAN_NOWHERE;
	return name.where ? xc_index_pack_name(name) : 0;
}

/* The number in `all`, plus one, of the scope around an item of `again`. */
static uint32_t parent_in(const struct xc_index_items *all, const struct xc_index_scan *again,
			  const struct xc_index_item *named)
{
	return named->parent ? xc_index_items_find(all, again->all.items[named->parent - 1].key) : 0;
}

/* Give the far item the facts of `named`, or fold it into the item that equals it. */
static void settle(const struct xc_index_listing *l, struct xc_index_items *all, const struct xc_index_scan *again,
		   const struct xc_index_item *named, uint32_t number)
{
	struct xc_index_item *far = &all->items[number];
	struct xc_index_item made = *far;
	uint32_t equal = xc_index_items_find(all, named->key);
	made.name = name_seen(l, named, far);
	made.hash = named->hash;
	made.parent = parent_in(all, again, named);
	made.flags = (uint8_t)((named->flags & XC_INDEX_EXTERNAL) |
			       (far->flags & (XC_INDEX_PLACED | XC_INDEX_VALUE | XC_INDEX_EXTERNAL)));
	if (!made.name)
		return;
	bool another = !(made.flags & XC_INDEX_EXTERNAL) && (!equal || all->items[equal - 1].flags & XC_INDEX_PLACED);
	if (another) {
		*far = made; /* a separate copy, as each unit has of static functions; so its key is separate, too */
		return;
	}
	made.key = named->key;
	xc_index_items_add(all, &made);
}

/* Answer the requests for one unit; items whose origin is elsewhere are added to `next`. */
static void answer(const struct xc_index_listing *l, struct xc_index_items *all, struct xc_index_scan *again,
		   const struct request *requests, size_t count, struct requests *next)
{
	const struct xc_index_listed *unit = &l->units[requests->unit];
	xc_index_items_fini(&again->all); /* the unit is scanned by itself */
	again->named_count = 0;
	xc_index_scan_unit(again, &l->spaces[unit->space], &unit->unit, requests->unit);
	if (again->named_count)
		qsort(again->named, again->named_count, sizeof *again->named, by_die);
	for (size_t i = 0; i < count && again->named_count; i++) {
		const struct xc_index_item key = {.die = requests[i].die};
		const struct xc_index_item *named =
			bsearch(&key, again->named, again->named_count, sizeof *again->named, by_die);
		if (named && (named->flags & XC_INDEX_FAR))
			request(l, next, requests[i].item, named);
		else if (named)
			settle(l, all, again, named, requests[i].item);
	}
}

static void run_round(const struct xc_index_listing *l, struct xc_index_items *all, struct requests *requests)
{
	struct requests next = {0};
	struct xc_index_scan again = {.apart = true};
	if (requests->count)
		qsort(requests->items, requests->count, sizeof *requests->items, by_origin);
	for (size_t from = 0, to = 0; from < requests->count; from = to) {
		while (to < requests->count && requests->items[to].unit == requests->items[from].unit)
			to++;
		answer(l, all, &again, &requests->items[from], to - from, &next);
	}
	xc_index_scan_fini(&again);
	free(requests->items);
	*requests = next;
}

/* Far items have no children, so only the numbers of parents change. */
static void drop_rest(struct xc_index_items *all)
{
	size_t kept = 0;
	uint32_t *number = xc_alloc((all->count + 1) * sizeof *number);
	for (size_t i = 0; i < all->count; i++)
		if (!(all->items[i].flags & XC_INDEX_FAR))
			number[i] = (uint32_t)kept++;
	kept = 0;
	for (size_t i = 0; i < all->count; i++) {
		struct xc_index_item item = all->items[i];
		item.parent = item.parent ? number[item.parent - 1] + 1 : 0;
		if (!(item.flags & XC_INDEX_FAR))
			all->items[kept++] = item;
	}
	all->count = kept;
	free(number);
}

void xc_index_far_resolve(const struct xc_index_listing *l, struct xc_index_items *all)
{
	struct requests requests = {0};
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].flags & XC_INDEX_FAR)
			request(l, &requests, (uint32_t)i, &all->items[i]);
	for (int i = 0; i < MAX_ROUNDS && requests.count; i++)
		run_round(l, all, &requests);
	free(requests.items);
	drop_rest(all);
}
