/* typing_slot: the slots of a map.
 *
 * They are made at the first object of the type. Nested members are flattened and an array is one slot with a
 * count. So following a block costs a loop over a short list, and no access to debug information. */
#include "heap/types/typing_map.h"

#include <dwarf.h>
#include <string.h>

enum {
	WORDS = 64,
	FLAT_DEPTH = 16,
	FLAT_NEST = 256,      /* bases of bases, too, which do not count for the depth */
	FLAT_STEPS = 1 << 16, /* of one type */
	FLAT_TOTAL = 1 << 24, /* of all types: about two seconds */
	SHORTEST_TEXT = 4,
	SPLIT = 8, /* pointers of an array in a union */
};

struct flat {
	struct xc_engine *engine;
	uint32_t number;
	struct xc_typemap *map;
	uint64_t plain;    /* words that are integers and not meant to hold addresses */
	uint64_t loud;     /* words that may hold an undeclared pointer: unions, integers of a word, padding, bytes */
	struct xc_tag tag; /* of the struct being flattened */
	unsigned nest;     /* records around it */
	unsigned steps;    /* members visited: unions in unions of hostile debug information have no end */
};

static void flatten(struct flat *f, const struct xc_type *type, uint64_t offset, const char *path, bool in_union,
		    unsigned depth);

static struct xc_typemap_slot *add_slot(struct flat *f, enum xc_typemap_slot_kind kind, uint64_t offset,
					const char *path, bool in_union)
{
	struct xc_typemap *map = f->map;
	if (map->slot_count >= XC_TYPING_SLOTS || offset > UINT32_MAX)
		return NULL;
	size_t capacity = map->slot_capacity;
	map->slots = xc_grow(map->slots, map->slot_count, &capacity, sizeof *map->slots);
	map->slot_capacity = (uint32_t)capacity;
	struct xc_typemap_slot *slot = &map->slots[map->slot_count++];
	*slot = (struct xc_typemap_slot){.offset = (uint32_t)offset,
					 .count = 1,
					 .kind = (uint8_t)kind,
					 .in_union = in_union,
					 .tag = f->tag,
					 .path = path ? xc_arena_strdup(&f->engine->heap->memory, path) : ""};
	return slot;
}

static void mark(const struct flat *f, uint64_t *mask, uint64_t offset, uint64_t size)
{
	uint64_t bytes = f->engine->word;
	for (uint64_t word = offset / bytes; size && word <= (offset + size - 1) / bytes && word < WORDS; word++)
		*mask |= (uint64_t)1 << word;
}

/* Targets of pointers in a variant's objects are of the variant too if they have the same type, or if the object is
 * the pointer itself. */
static uint32_t in_variant(const struct flat *f, uint32_t target)
{
	bool same = !f->map->is_record || f->engine->maps[target]->base == f->map->base;
	return same ? xc_typemap_variant(f->engine, target, f->map->variant) : target;
}

/* `named` may be a typedef of a pointer. */
static void add_pointer(struct flat *f, const struct xc_type *named, uint64_t offset, uint64_t count, const char *path,
			bool in_union)
{
	const struct xc_type *type = xc_type_strip(named), *to = xc_type_strip(type->target);
	enum xc_typemap_slot_kind kind = XC_SLOT_POINTER;
	if (xc_typemap_is_of_allocator(to->name))
		return;
	if (in_union && count > 1 && count <= SPLIT) { /* another arm may have a pointer beside each of them */
		for (uint64_t i = 0; i < count; i++)
			add_pointer(f, named, offset + i * f->engine->word, 1, path, true);
		return;
	}
	if (to->kind == XC_TYPE_FUNCTION)
		kind = XC_SLOT_CODE;
	uint32_t target = kind == XC_SLOT_CODE ? XC_NO_MAP : in_variant(f, xc_typemap_of(f->engine, type->target));
	if (kind == XC_SLOT_POINTER && target == XC_NO_MAP)
		kind = XC_SLOT_VOID;
	else if (kind == XC_SLOT_POINTER && f->engine->maps[target]->is_char)
		kind = XC_SLOT_CHARS;
	struct xc_typemap_slot *slot = add_slot(f, kind, offset, path, in_union);
	if (!slot || count > UINT32_MAX)
		return;
	slot->target = target;
	slot->headers = xc_typing_headers(f->engine, named);
	if (!slot->headers && target != XC_NO_MAP)
		slot->headers = xc_typing_families(f->engine, target);
	slot->count = (uint32_t)count;
	slot->stride = f->engine->word;
	if (count)
		mark(f, &f->map->pointers, offset, (count < WORDS ? count : WORDS) * slot->stride);
}

/* Is it an integer of a word, and by no name made for addresses, such as uintptr_t? */
static bool is_plain(const struct flat *f, const struct xc_type *type, uint64_t size)
{
	const struct xc_type *at = type;
	for (int i = 0; i < XC_TYPE_DEPTH && at->kind != XC_TYPE_INT && at->target; i++, at = at->target)
		if (at->kind == XC_TYPE_TYPEDEF && at->name &&
		    (strcasestr(at->name, "ptr") || strcasestr(at->name, "addr")))
			return false;
	return at->kind == XC_TYPE_INT && size == f->engine->word;
}

/* Is the array the last member of the object, with nothing after it but padding? */
static bool is_last(const struct flat *f, const struct xc_type *array, uint64_t offset)
{
	size_t count;
	const struct xc_member *members = xc_type_members(f->map->bare, &count), *last = members + count - 1;
	return f->map->is_record && count > 1 && last->offset == offset && xc_type_strip(last->type) == array &&
	       f->map->size - offset <= f->engine->word;
}

static void add_doubles(struct flat *f, const struct xc_type *bare, uint64_t offset, uint64_t count, const char *path)
{
	bool doubles = bare->kind == XC_TYPE_FLOAT && bare->size == sizeof(double) && count && count <= UINT32_MAX;
	struct xc_typemap_slot *slot = doubles ? add_slot(f, XC_SLOT_DOUBLE, offset, path, false) : NULL;
	if (!slot)
		return;
	slot->count = (uint32_t)count;
	slot->stride = sizeof(double);
}

static void add_array(struct flat *f, const struct xc_type *array, uint64_t offset, const char *path, bool in_union,
		      unsigned depth)
{
	const struct xc_type *element = NULL;
	uint64_t count, size;
	bool known = xc_typemap_element(array, &element, &count);
	if (!element || !xc_type_size(element, &size) || size == 0 || size > UINT32_MAX)
		return;
	/* `T last[]`, `last[0]`, and the older `last[1]` extend to the end of the block */
	bool flexible = depth == 0 && !in_union && (!known || count <= 1) &&
			(offset + size * (known ? count : 0) >= f->map->size || is_last(f, array, offset));
	const struct xc_type *bare = xc_type_strip(element);
	if (flexible) {
		f->map->has_flexible = true;
		f->map->flexible_at = offset;
		f->map->flexible_size = size;
		f->map->flexible = xc_typemap_of(f->engine, element);
		count = 0;
	} else if (!known || count == 0) {
		return;
	}
	if (xc_typemap_is_pointer(bare)) {
		add_pointer(f, element, offset, count, path, in_union);
		return;
	}
	if (!xc_typemap_is_record(bare)) {
		if (bare->kind == XC_TYPE_CHAR && size == 1 && count >= SHORTEST_TEXT && count <= UINT32_MAX &&
		    !in_union) {
			struct xc_typemap_slot *text = add_slot(f, XC_SLOT_TEXT, offset, path, in_union);
			if (text)
				text->stride = (uint32_t)count;
		}
		if (!in_union)
			add_doubles(f, bare, offset, count, path);
		if (size == 1 || size == f->engine->word)
			mark(f, &f->loud, offset, size * count);
		if (is_plain(f, element, size) && !in_union)
			mark(f, &f->plain, offset, size * count);
		return;
	}
	if (count == 1) {
		flatten(f, element, offset, path, in_union, depth + 1);
		return;
	}
	uint32_t target = xc_typemap_of(f->engine, element);
	if (target == XC_NO_MAP)
		return;
	mark(f, &f->loud, offset, size * (flexible ? 1 : count < 512 ? count : 512));
	struct xc_typemap_slot *slot =
		count <= UINT32_MAX ? add_slot(f, XC_SLOT_OBJECTS, offset, path, in_union) : NULL;
	if (slot) {
		slot->target = target;
		slot->count = (uint32_t)count;
		slot->stride = (uint32_t)size;
	}
}

/* Keeps the objects that evidence may name, from number `asked` on. */
static void keep_objects(struct xc_engine *e, struct xc_typemap_slot *slot, size_t asked)
{
	size_t count = e->object_count - asked, size = count * sizeof *e->objects;
	uint32_t *objects = xc_arena_alloc(&e->heap->memory, size + 1);
	if (size)
		memcpy(objects, e->objects + asked, size);
	slot->objects = objects;
	slot->object_count = (uint32_t)count;
}

/* Asks the sources of evidence about the object. True if one of them handles all of its members. */
static bool ask_evidence(struct flat *f, const struct xc_type *bare, uint64_t offset, const char *path, bool in_union)
{
	bool only = false;
	for (size_t i = 0; f->engine->evidence[i]; i++) {
		const struct xc_evidence *evidence = f->engine->evidence[i];
		size_t asked = f->engine->object_count;
		const void *met = evidence->meet ? evidence->meet(f->engine->typing, bare, &only) : NULL;
		struct xc_typemap_slot *slot = met ? add_slot(f, XC_SLOT_EVIDENCE, offset, path, in_union) : NULL;
		if (slot)
			keep_objects(f->engine, slot, asked);
		f->engine->object_count = asked;
		if (!slot)
			continue;
		slot->evidence = evidence;
		slot->met = met;
		slot->type = bare;
		uint64_t size;
		slot->stride = xc_type_size(bare, &size) ? (uint32_t)size : 0;
	}
	return only;
}

/* The path of a member; *own_out, which the caller frees, holds it unless it exists already. */
static const char *join(const char *path, const struct xc_member *member, char **own_out)
{
	if (!member->name || member->base)
		return path;
	return path ? (*own_out = xc_asprintf("%s.%s", path, member->name)) : member->name;
}

/* The slot of a pointer at an offset. If the type has none, it is made, since a number may be a pointer. */
static struct xc_typemap_slot *pointer_at(void *context, uint64_t offset)
{
	struct flat *f = context;
	struct xc_typemap_slot *found = NULL;
	for (uint32_t i = 0; i < f->map->slot_count; i++) {
		struct xc_typemap_slot *slot = &f->map->slots[i];
		if (slot->offset != offset || slot->kind > XC_SLOT_CODE)
			continue;
		if (found)
			slot->stride = 0; /* another member of a union: the rule applies instead */
		else
			found = slot;
	}
	if (found || offset > f->map->size || f->map->size - offset < f->engine->word)
		return found;
	found = add_slot(f, XC_SLOT_VOID, offset, NULL, false);
	if (found)
		found->stride = f->engine->word;
	return found;
}

/* A node of a tree with two links to nodes: its integer may be a third one, with a color in its last bits. */
static bool is_tree_node(const struct xc_type *bare)
{
	size_t count, links = 0;
	const struct xc_member *members = xc_type_members(bare, &count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = xc_type_strip(members[i].type);
		links += type->kind == XC_TYPE_POINTER && xc_type_strip(type->target) == bare;
	}
	return count == 3 && links == 2;
}

static const struct xc_member *link_named(const struct xc_type *bare, const char *name)
{
	size_t count;
	const struct xc_member *members = xc_type_members(bare, &count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = xc_type_strip(members[i].type);
		if (type->kind == XC_TYPE_POINTER && !members[i].base && !members[i].dynamic && members[i].name &&
		    strcasestr(members[i].name, name) && xc_type_strip(type->target) == bare)
			return &members[i];
	}
	return NULL;
}

/* Notes which pointers of a list's node lead to nodes that point back. */
static void find_back_links(struct flat *f, const struct xc_type *bare, uint64_t offset, uint32_t first)
{
	const struct xc_member *next = link_named(bare, "next"), *prev = next ? link_named(bare, "prev") : NULL;
	if (!prev || next->offset == prev->offset || next->offset > UINT32_MAX || prev->offset > UINT32_MAX)
		return;
	for (uint32_t i = first; i < f->map->slot_count; i++) {
		struct xc_typemap_slot *slot = &f->map->slots[i];
		bool forth = slot->offset == offset + next->offset, back = slot->offset == offset + prev->offset;
		if (slot->kind != XC_SLOT_POINTER || slot->back_at != slot->back_to || (!forth && !back))
			continue;
		slot->back_at = (uint32_t)(forth ? prev : next)->offset;
		slot->back_to = (uint32_t)(forth ? next : prev)->offset;
	}
}

static void flatten_record(struct flat *f, const struct xc_type *bare, uint64_t offset, const char *path, bool in_union,
			   unsigned depth)
{
	size_t count;
	bool is_union = bare->kind == XC_TYPE_UNION;
	if (ask_evidence(f, bare, offset, path, in_union)) {
		mark(f, &f->loud, offset, bare->size);
		return;
	}
	const struct xc_member *members = xc_type_members(bare, &count);
	if (is_union || bare->has_variants)
		mark(f, &f->loud, offset, bare->size);
	struct xc_tag outer = f->tag;
	uint64_t plain = f->plain;
	uint32_t first = f->map->slot_count;
	xc_typing_find_tag(bare, offset, &f->tag, 0);
	if (depth == 0)
		f->map->tag = f->tag;
	for (size_t i = 0; i < count; i++) {
		const struct xc_member *member = &members[i];
		if (member->bit_size || member->dynamic || member->offset > UINT32_MAX)
			continue;
		xc_auto(xc_freep) char *own = NULL;
		f->nest++;
		flatten(f, member->type, offset + member->offset, join(path, member, &own), in_union || is_union,
			depth + (member->base ? 0 : 1));
		f->nest--;
	}
	f->tag = outer;
	if (!is_union)
		find_back_links(f, bare, offset, first);
	if (is_tree_node(bare))
		f->plain = plain;
	const struct xc_cast_place place = {bare, offset, depth ? 0 : f->map->variant};
	xc_typing_cast(f->engine, &place, pointer_at, f);
}

static void flatten(struct flat *f, const struct xc_type *type, uint64_t offset, const char *path, bool in_union,
		    unsigned depth)
{
	const struct xc_type *bare = xc_type_strip(type);
	uint64_t size = 0;
	struct xc_typemap_slot *slot;
	f->engine->cut |= f->engine->flat_steps >= FLAT_TOTAL;
	if (depth > FLAT_DEPTH || f->nest > FLAT_NEST || f->steps++ > FLAT_STEPS ||
	    f->engine->flat_steps++ > FLAT_TOTAL || (!xc_type_size(bare, &size) && bare->kind != XC_TYPE_ARRAY))
		return;
	if (f->nest > 0 && bare == f->map->bare) /* an object does not hold itself */
		return;
	switch (bare->kind) {
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE:
	case XC_TYPE_RVALUE_REFERENCE:
		if (size == f->engine->word)
			add_pointer(f, type, offset, 1, path, in_union);
		break;
	case XC_TYPE_ARRAY:
		add_array(f, bare, offset, path, in_union, depth ? depth - 1 : 0);
		break;
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		flatten_record(f, bare, offset, path, in_union, depth);
		break;
	case XC_TYPE_ENUM:
	case XC_TYPE_BOOL:
		slot = in_union ? NULL
				: add_slot(f, bare->kind == XC_TYPE_ENUM ? XC_SLOT_ENUM : XC_SLOT_BOOL, offset, path,
					   false);
		if (slot) {
			slot->type = bare;
			slot->stride = (uint32_t)size;
		}
		break;
	default:
		if (!in_union)
			add_doubles(f, bare, offset, 1, path);
		if (size >= f->engine->word && bare->kind != XC_TYPE_FLOAT)
			mark(f, &f->loud, offset, size);
		if (is_plain(f, type, size) && !in_union)
			mark(f, &f->plain, offset, size);
	}
}

/* Finds words that cannot hold a pointer: covered by members of which none is one. */
static void cover(struct flat *f, const struct xc_type *bare, uint64_t offset, uint8_t covered[WORDS], unsigned depth)
{
	size_t count;
	const uint64_t word = f->engine->word;
	const struct xc_member *members = xc_type_members(bare, &count);
	for (size_t i = 0; i < count && depth < FLAT_DEPTH && f->steps++ <= FLAT_STEPS; i++) {
		uint64_t size, at = offset + members[i].offset;
		const struct xc_type *type = xc_type_strip(members[i].type);
		if (members[i].dynamic || !xc_type_size(type, &size) || at >= WORDS * word)
			continue;
		if (xc_typemap_is_record(type))
			cover(f, type, at, covered, depth + 1);
		else
			for (uint64_t k = at; k < at + size && k < WORDS * word; k++)
				covered[k / word] |= (uint8_t)(1 << (k % word));
	}
}

/* Marks pointers to different types at one place: the object's other members select one of them. */
static void find_ambiguous(struct xc_typemap *map)
{
	for (uint32_t i = 0; i < map->slot_count; i++) {
		struct xc_typemap_slot *a = &map->slots[i];
		for (uint32_t k = 0; k < i && a->in_union && a->kind <= XC_SLOT_CODE; k++) {
			struct xc_typemap_slot *b = &map->slots[k];
			if (b->in_union && b->kind <= XC_SLOT_CODE && b->offset == a->offset &&
			    (b->target != a->target || b->kind != a->kind))
				a->ambiguous = b->ambiguous = true;
			a->is_later_arm |=
				a->ambiguous && b->ambiguous && b->offset == a->offset && b->kind != XC_SLOT_CODE;
		}
	}
}

static uint32_t new_items(struct xc_engine *e, const struct xc_typemap *map, const struct xc_typemap_slot *slot,
			  uint32_t to)
{
	const char *via = *slot->path ? xc_arena_printf(&e->heap->memory, "%s.%s", map->name, slot->path) : map->name;
	uint32_t first = 0;
	const struct xc_typemap *target = e->maps[to];
	if (!xc_typing_has_room(e, XC_SLOT_ITEMS))
		return 0;
	for (int i = 0; i < XC_SLOT_ITEMS; i++) {
		bool array = i == XC_ITEM_ARRAY || i == XC_ITEM_ARRAY_WEAK,
		     weak = i == XC_ITEM_ONE_WEAK || i == XC_ITEM_ARRAY_WEAK || i == XC_ITEM_STRING_WEAK;
		struct xc_typed what = {.type = target->type,
					.shape = i >= XC_ITEM_STRING ? XC_TYPED_TEXT
						 : array             ? XC_TYPED_ARRAY
								     : XC_TYPED_ONE,
					.confidence = weak ? XC_TYPE_WEAK : XC_TYPE_STRONG,
					.via = via};
		uint32_t item = xc_typing_new_item(e, to, &what);
		first = first ? first : item;
	}
	e->facts[first + XC_ITEM_ONE].weak = first + XC_ITEM_ONE_WEAK;
	e->facts[first + XC_ITEM_ARRAY].weak = first + XC_ITEM_ARRAY_WEAK;
	e->facts[first + XC_ITEM_STRING].weak = first + XC_ITEM_STRING_WEAK;
	return first;
}

static const uint32_t *new_header_items(struct xc_engine *e, const char *via, const struct xc_header_set *headers)
{
	uint32_t *items = xc_arena_alloc(&e->heap->memory, headers->count * sizeof *items + 1);
	for (uint32_t i = 0; i < headers->count; i++) {
		const struct xc_typemap *map = e->maps[headers->items[i].map];
		const struct xc_typed what = {.type = map->type,
					      .shape = map->is_record ? XC_TYPED_ONE : XC_TYPED_ARRAY,
					      .confidence = XC_TYPE_STRONG,
					      .via = via};
		items[i] = xc_typing_item(e->typing, &what);
	}
	return items;
}

static void finish_slot(struct flat *f, struct xc_typemap_slot *slot)
{
	struct xc_engine *e = f->engine;
	slot->number = ++e->slot_count;
	slot->owner = f->number;
	if (slot->kind == XC_SLOT_POINTER || slot->kind == XC_SLOT_CHARS)
		slot->items = new_items(e, f->map, slot, slot->target);
	else if (slot->kind == XC_SLOT_VOID && e->bytes)
		slot->items = new_items(e, f->map, slot, e->bytes);
	if (slot->headers && slot->items)
		slot->header_items = new_header_items(e, e->typing->items[slot->items].via, slot->headers);
	for (uint32_t i = 0; slot->casts && i < slot->casts->count; i++)
		finish_slot(f, &slot->casts->slots[i]);
}

static void finish(struct flat *f)
{
	struct xc_typemap *map = f->map;
	struct xc_engine *e = f->engine;
	uint8_t covered[WORDS] = {0}, whole = (uint8_t)((1U << e->word) - 1);
	f->steps = 0;
	cover(f, map->bare, 0, covered, 0);
	for (unsigned word = 0; word < WORDS && word < map->size / e->word; word++)
		if (covered[word] == whole && !((map->pointers | f->loud) >> word & 1))
			map->quiet |= (uint64_t)1 << word;
	map->loud = f->loud;
	map->plain = f->plain & ~map->pointers;
	find_ambiguous(map);
	for (uint32_t i = 0; i < map->slot_count; i++) {
		struct xc_typemap_slot *slot = &map->slots[i];
		finish_slot(f, slot);
		map->has_pointers |= slot->kind <= XC_SLOT_VOID || slot->kind == XC_SLOT_EVIDENCE;
		if (slot->kind == XC_SLOT_OBJECTS) {
			xc_typemap_compile(e, slot->target);
			map->has_pointers |= e->maps[slot->target]->has_pointers;
		}
	}
}

void xc_typemap_compile(struct xc_engine *e, uint32_t number)
{
	struct xc_typemap *map = e->maps[number];
	if (number == XC_NO_MAP || map->compiled)
		return;
	map->compiled = true;
	struct flat f = {.engine = e, .number = number, .map = map};
	flatten(&f, xc_typemap_is_pointer(map->bare) ? map->type : map->bare, 0, NULL, false, 0);
	finish(&f);
}
