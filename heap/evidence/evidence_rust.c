/* evidence_rust: types that Rust's library hides: variants of enums, nodes of B-trees, objects behind a trait; and the
 * links that views publish (dwarf/view/view.h).
 *
 * A trait object is a pointer to data and one to a table of functions (rust_vtable.h). The content of an Rc or Arc
 * follows its two counts. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/lookup/rust_vtable.h"
#include "dwarf/value/variant.h"
#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/evidence/evidence_list.h"
#include "heap/evidence/recipe.h"

enum { WORD = 8, MAX_ITEMS = 1 << 22, MAX_WAYS = 4096, MAX_NAME = 4096 };

/* ---- tables of traits ---- */

/* What the tables of the process say of pointers to one kind of object each: "dyn Shape",
 * "alloc::rc::RcInner<core::cell::RefCell<dyn Shape>>". */
struct xc_traits {
	size_t items, way_count; /* items that were looked for, of all ways */
	struct way {
		struct way *next;
		const char *pointed;
		struct xc_erased_list list;
	} * ways;
};

static struct xc_traits *traits_of(struct xc_typing *typing)
{
	if (!typing->traits)
		typing->traits = xc_arena_alloc(&typing->heap->memory, sizeof *typing->traits);
	return typing->traits;
}

/* The characters behind "dyn Trait<T> + Send": the first that ends an argument outside its own brackets. */
static const char *end_of_trait(const char *at)
{
	for (int depth = 0; *at; at++) {
		if (*at == '-' && at[1] == '>')
			at++;
		else if (strchr("<([", *at))
			depth++;
		else if (strchr(">)],", *at) && depth-- == 0)
			break;
	}
	return at;
}

/* The trait object in the name of a type that holds one as its last member: behind it are only brackets. */
static bool find_trait(const char *name, const char **begin, const char **end)
{
	for (const char *at = name; (at = strstr(at, "dyn ")); at++) {
		if (at > name && !strchr("<( ", at[-1]))
			continue;
		const char *stop = end_of_trait(at);
		*begin = at > name && at[-1] == '(' ? at - 1 : at;
		if (*begin != at && *stop != ')')
			continue;
		*end = stop + (*begin != at);
		if (strspn(*end, ">)") == strlen(*end))
			return true;
	}
	return false;
}

/* What is pointed to: the object, or the type of that name with the object in the place of the trait. */
static uint32_t item_of(struct xc_typing *typing, const char *pointed, const char *begin, const char *end,
			const struct xc_type *object)
{
	xc_auto(xc_freep) char *name =
		xc_asprintf("%.*s%s%s", (int)(begin - pointed), pointed, xc_type_name(object), end);
	const struct xc_type *type = *end || begin > pointed ? xc_typing_find_type(typing, name, 0) : object;
	const struct xc_typed item = {
		.type = type, .shape = XC_TYPED_ONE, .confidence = XC_TYPE_STRONG, .via = "trait object"};
	return type ? xc_typing_item(typing, &item) : 0;
}

static const struct xc_erased_list *way_to(struct xc_typing *typing, const char *pointed)
{
	struct xc_traits *traits = traits_of(typing);
	static const struct xc_erased_list none;
	const char *begin, *end;
	for (struct way *way = traits->ways; way; way = way->next)
		if (strcmp(way->pointed, pointed) == 0)
			return &way->list;
	if (traits->way_count == MAX_WAYS || strlen(pointed) > MAX_NAME || !find_trait(pointed, &begin, &end))
		return &none;
	traits->way_count++;
	struct way *way = xc_arena_alloc(&typing->heap->memory, sizeof *way);
	*way = (struct way){.next = traits->ways, .pointed = xc_arena_strdup(&typing->heap->memory, pointed)};
	traits->ways = way;
	size_t count;
	const struct xc_rust_vtable *tables = xc_rust_vtables(typing->heap->process, &count);
	for (size_t i = 0; i < count && traits->items++ < MAX_ITEMS; i++)
		xc_erased_add(&way->list, (struct xc_erased){tables[i].addr,
							     item_of(typing, pointed, begin, end, tables[i].type), 0});
	xc_erased_finish(&way->list, typing->heap);
	return &way->list;
}

static void make_trait_object(struct xc_recipe_maker *m)
{
	m->erased = way_to(m->typing, xc_type_name(m->shape->element));
	xc_recipe_links(m);
}

/* ---- enums ---- */

/* The discriminants of the other variants, for the default variant. */
static void look_unless_others(struct xc_recipe_maker *m, const struct xc_variant_part *part, uint64_t tag,
			       uint64_t width)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	for (size_t i = 0; i < part->count; i++) {
		for (size_t k = 0; k < part->variants[i].range_count; k++) {
			uint64_t from = (uint64_t)part->variants[i].ranges[k].lo,
				 to = (uint64_t)part->variants[i].ranges[k].hi;
			lo = from < lo ? from : lo;
			hi = to > hi ? to : hi;
		}
	}
	if (lo <= hi)
		xc_recipe_unless(m, tag, width, lo, hi);
}

static void make_enum(struct xc_recipe_maker *m)
{
	const struct xc_variant_part *part = xc_variant_part_of(m->type);
	uint64_t width;
	if (!part || !part->has_discriminant || part->discriminant.bit_size ||
	    !xc_type_size(part->discriminant.type, &width) || width > WORD)
		return;
	uint64_t tag = part->discriminant.offset;
	for (size_t i = 0; i < part->count; i++) {
		const struct xc_variant *variant = &part->variants[i];
		const struct xc_member *member = variant->count == 1 ? &variant->members[0] : NULL;
		if (!member || variant->is_unknown)
			continue;
		if (variant->is_default && xc_recipe_look(m, member->offset, member->type))
			look_unless_others(m, part, tag, width);
		for (size_t k = 0; k < variant->range_count; k++) {
			if (xc_recipe_look(m, member->offset, member->type))
				xc_recipe_when(m, tag, width, (uint64_t)variant->ranges[k].lo,
					       (uint64_t)variant->ranges[k].hi);
		}
	}
}

/* ---- B-trees ----
 *
 *	NodeRef {height, node} → InternalNode {data: LeafNode, edges: [_; 12]} → …
 *	→ LeafNode {keys: [K; 11], vals: [V; 11], len}
 *
 * Pointers are to LeafNode everywhere. What is not a leaf has room for the larger type; so both are proposed, that
 * one first. */

enum { NODE_KEYS = 11 };

static const char leaf_head[] = "alloc::collections::btree::node::LeafNode<";
static const char internal_head[] = "alloc::collections::btree::node::InternalNode<";
static const char reference_head[] = "alloc::collections::btree::node::NodeRef<";

/* Items for both kinds of nodes, by the name of either. */
static void node_items(struct xc_recipe_maker *m, const char *name, uint32_t items[2])
{
	xc_auto(xc_freep) char *internal = xc_asprintf("%s%s", internal_head, strchr(name, '<') + 1);
	xc_auto(xc_freep) char *leaf = xc_asprintf("%s%s", leaf_head, strchr(name, '<') + 1);
	items[0] = xc_recipe_item(m, xc_typing_find_type(m->typing, internal, 0), XC_TYPED_ONE, 0, "node");
	items[1] = xc_recipe_item(m, xc_typing_find_type(m->typing, leaf, 0), XC_TYPED_ONE, 0, "node");
}

static void make_reference(struct xc_recipe_maker *m)
{
	const struct xc_type *pointer;
	uint32_t items[2];
	uint64_t height;
	if (!xc_view_has(m->type, "node.pointer", &pointer) || xc_type_strip(pointer)->kind != XC_TYPE_POINTER ||
	    !xc_view_offset(m->type, "height", &height))
		return;
	const char *name = xc_type_name(xc_type_strip(xc_type_strip(pointer)->target));
	if (!xc_begins_with(name, leaf_head))
		return;
	node_items(m, name, items);
	if (xc_recipe_point(m, "node.pointer", items[0]))
		xc_recipe_unless(m, height, WORD, 0, 0);
	if (xc_recipe_point(m, "node.pointer", items[1]))
		xc_recipe_when(m, height, WORD, 0, 0);
}

/* Looks at the keys or values, as many as the node has. */
static void look_at_elements(struct xc_recipe_maker *m, const char *path, const struct xc_type *type, uint64_t len)
{
	uint64_t at, size;
	if (!type || !xc_view_offset(m->type, path, &at) || !xc_type_size(type, &size) || size == 0)
		return;
	for (uint64_t i = 0; i < NODE_KEYS && xc_recipe_look(m, at + i * size, type); i++)
		xc_recipe_when(m, len, 2, i + 1, UINT16_MAX);
}

static void make_leaf(struct xc_recipe_maker *m)
{
	uint64_t len;
	if (!xc_view_offset(m->type, "len", &len))
		return;
	look_at_elements(m, "keys", xc_view_argument(m->type, 0), len);
	look_at_elements(m, "vals", xc_view_argument(m->type, 1), len);
}

static void make_internal(struct xc_recipe_maker *m)
{
	const struct xc_type *data;
	uint64_t at, edges, len;
	uint32_t items[2];
	if (!xc_view_has(m->type, "data", &data) || !xc_view_offset(m->type, "data", &at) ||
	    !xc_view_offset(m->type, "edges", &edges) || !xc_view_offset(m->type, "data.len", &len))
		return;
	xc_recipe_look(m, at, data);
	node_items(m, m->type->name, items);
	for (uint64_t i = 0; i <= NODE_KEYS; i++) {
		for (unsigned k = 0; k < 2; k++) {
			if (xc_recipe_point_at(m, edges + i * WORD, items[k]))
				xc_recipe_when(m, len, 2, i, UINT16_MAX);
		}
	}
}

/* ---- the source of evidence ---- */

static void make(struct xc_recipe_maker *m)
{
	if (m->type->has_variants)
		make_enum(m);
	else if (xc_begins_with(m->type->name, leaf_head))
		make_leaf(m);
	else if (xc_begins_with(m->type->name, internal_head))
		make_internal(m);
	else if (xc_begins_with(m->type->name, reference_head))
		make_reference(m);
	else if (xc_recipe_erases(m->shape))
		make_trait_object(m);
	else
		xc_recipe_links(m);
}

static const void *meet(struct xc_typing *typing, const struct xc_type *type, bool *only_out)
{
	const struct xc_process *process = typing->heap->process;
	struct xc_recipe_maker maker = {.typing = typing, .process = process, .type = type};
	if (!type->name || !type->is_rust || process->arch->word != WORD)
		return NULL;
	maker.shape = xc_view_shape_of(process, type);
	make(&maker);
	return xc_recipe_made(&maker, only_out);
}

const struct xc_evidence xc_evidence_rust = {
	.name = "library of Rust", .meet = meet, .visit = xc_recipe_follow, .says_stale = xc_recipe_says_stale};
