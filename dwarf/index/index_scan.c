/* index_scan: namespaces, classes and enums are scopes, which are entered; functions are not.
 *
 * A function or variable that is defined apart from its declaration (DW_AT_specification, DW_AT_abstract_origin) has
 * its name there. Such references are followed at the end of the unit: the scope around the declaration is found by
 * the extents, in bytes of .debug_info, of the scopes that were entered. References to another unit (link-time
 * optimization, dwz) are left to index_far. A class that is known already is entered again: units that need more of
 * it define more of its nested types. */
#include "dwarf/index/index_scan_impl.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/name.h"

enum { MAX_DEPTH = 64, MAX_ORIGINS = 4, HASH_BITS = 17, SPLIT_HASH_BITS = 10 };

/* The children of a scope, [start, end), and the scope around it. */
struct xc_index_extent {
	uint64_t start, end;
	size_t outer;  /* number of the extent around it, plus one */
	uint32_t item; /* plus one */
	uint64_t key;
};

/* A definition whose name is at another DIE. */
struct xc_index_origin {
	struct xc_die_scan_entry die;
};

/* A scope: facts that its children inherit. */
struct scope {
	uint32_t item; /* plus one; 0 at the top of a unit */
	uint64_t key;  /* of the scope; 0 at the top */
	size_t extent; /* plus one */
	uint64_t line; /* of an enum */
	unsigned depth;
};

/* ---- one item ---- */

static struct xc_index_item item_of(const struct xc_index_scan *s, const struct scope *scope,
				    const struct xc_die_scan_entry *die, unsigned kind, uint64_t hash)
{
	struct xc_index_item item = {.hash = (uint32_t)hash,
				     .parent = scope->item,
				     .unit = s->number,
				     .die = (uint32_t)(die->offset - s->unit.offset),
				     .tag = die->tag,
				     .kind = (uint8_t)kind,
				     .name = die->has & XC_DIE_SCAN_NAME ? xc_index_pack_name(die->name) : 0};
	item.flags = (uint8_t)((die->has & XC_DIE_SCAN_DECLARATION ? XC_INDEX_DECLARATION : 0) |
			       (die->has & XC_DIE_SCAN_EXTERNAL ? XC_INDEX_EXTERNAL : 0));
	return item;
}

/* A type, namespace or enumerator: equal by name, place and size. */
static uint32_t add_named(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die,
			  unsigned kind, uint64_t number, uint64_t line, uint64_t *key_out)
{
	uint64_t hash = xc_index_scan_hash(s, die->name);
	struct xc_index_item item = item_of(s, scope, die, kind, xc_index_scan_hash_last(s, die->name, hash));
	item.key = xc_name_mix(
		xc_name_mix(xc_name_mix(xc_name_mix(scope->key, hash), (uint64_t)die->tag << 8 | item.flags), number),
		line);
	*key_out = item.key;
	return xc_index_items_add(&s->all, &item);
}

/* ---- scopes ---- */

static bool scan_children(struct xc_index_scan *s, const struct scope *scope);
static struct scope scope_at(const struct xc_index_scan *s, uint64_t offset);

static size_t open_extent(struct xc_index_scan *s, const struct scope *outer, uint64_t start, uint32_t item,
			  uint64_t key)
{
	s->extents = xc_grow(s->extents, s->extent_count, &s->extent_capacity, sizeof *s->extents);
	s->extents[s->extent_count++] = (struct xc_index_extent){
		.start = start, .end = UINT64_MAX, .outer = outer->extent, .item = item, .key = key};
	return s->extent_count;
}

static bool enter_scope(struct xc_index_scan *s, const struct scope *outer, const struct xc_die_scan_entry *die,
			uint32_t item, uint64_t key)
{
	if (!die->children)
		return true;
	struct scope inner = {.item = item,
			      .key = key,
			      .line = xc_index_scan_number(die, XC_DIE_SCAN_LINE, die->line),
			      .depth = outer->depth + 1};
	inner.extent = open_extent(s, outer, die->offset, item, key);
	bool good = scan_children(s, &inner);
	s->extents[inner.extent - 1].end = xc_die_scan_position(s->scan);
	return good;
}

static bool scan_namespace(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die)
{
	uint64_t hash = xc_index_scan_hash(s, die->name);
	struct xc_index_item item = item_of(s, scope, die, XC_NAME_NAMESPACE, hash);
	item.flags = 0;
	if (!item.name || (die->has & XC_DIE_SCAN_EXPORTS))
		item.flags |= XC_INDEX_TRANSPARENT;
	/* The contents of an anonymous namespace belong to one unit. */
	item.key = item.name ? xc_name_mix(xc_name_mix(scope->key, hash), XC_NAME_NAMESPACE)
			     : xc_index_scan_own_key(s, scope->key);
	uint32_t number = xc_index_items_add(&s->all, &item);
	return enter_scope(s, scope, die, number + 1, item.key);
}

/* In type units a type is declared in its namespace and defined at the top (DW_AT_specification). Then *scope becomes
 * that of the declaration, which is stored in *declared. */
static bool declared_scope(struct xc_index_scan *s, const struct xc_die_scan_entry *die, const struct scope **scope,
			   struct scope *declared)
{
	struct xc_die_scan_entry again;
	if (!(die->has & XC_DIE_SCAN_ORIGIN))
		return true;
	*declared = scope_at(s, die->origin);
	declared->depth = (*scope)->depth;
	*scope = declared;
	return xc_die_scan_at(s->scan, die->offset, &again); /* back to the previous reading position */
}

/* Macros may turn one place in a header into two structs of one size, and files may use the same name for different
 * structs: only convention makes units agree. So members count. C has no scopes inside structs. */
static bool scan_c_record(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die,
			  uint64_t size, uint64_t line)
{
	uint64_t key, members = size;
	bool good = xc_index_scan_hash_members(s, die, &members);
	add_named(s, scope, die, XC_NAME_TYPE, members, line, &key);
	return good;
}

static bool scan_record(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die)
{
	uint64_t key;
	struct scope declared;
	if (!(die->has & XC_DIE_SCAN_NAME))
		return xc_die_scan_leave(s->scan, die);
	if (!declared_scope(s, die, &scope, &declared))
		return false;
	uint64_t size = xc_index_scan_number(die, XC_DIE_SCAN_SIZE, die->size),
		 line = xc_index_scan_number(die, XC_DIE_SCAN_LINE, die->line);
	if (s->is_c)
		return scan_c_record(s, scope, die, size, line);
	bool lacks = xc_index_scan_lacks_arguments(s, die);
	uint32_t item = add_named(s, scope, die, XC_NAME_TYPE, lacks ? xc_index_scan_own_key(s, die->offset) : size,
				  line, &key);
	/* Its contents are the same whether it is declared or defined there. */
	return enter_scope(
		s, scope, die, item + 1,
		lacks ? key : xc_name_mix(xc_name_mix(scope->key, xc_index_scan_hash(s, die->name)), XC_NAME_TYPE));
}

static bool scan_enum(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die)
{
	struct scope values, declared;
	uint64_t key, size;
	if (!declared_scope(s, die, &scope, &declared))
		return false;
	values = *scope;
	values.line = xc_index_scan_number(die, XC_DIE_SCAN_LINE, die->line);
	values.depth++;
	if (die->has & XC_DIE_SCAN_NAME) {
		if (!xc_index_scan_enum_size(s, die, &size))
			return false;
		uint32_t item = add_named(s, scope, die, XC_NAME_TYPE, size, values.line, &key);
		if (die->has & XC_DIE_SCAN_ENUM_CLASS) {
			values.item = item + 1;
			values.key = key;
		}
	}
	return !die->children || scan_children(s, &values);
}

/* ---- functions and variables ---- */

static bool is_placed(const struct xc_die_scan_entry *die)
{
	return die->has & (die->tag == DW_TAG_subprogram ? (uint32_t)XC_DIE_SCAN_CODE
							 : (uint32_t)(XC_DIE_SCAN_LOCATION | XC_DIE_SCAN_VALUE));
}

static uint8_t place_flags(const struct xc_die_scan_entry *die)
{
	bool value = die->tag != DW_TAG_subprogram && !(die->has & XC_DIE_SCAN_LOCATION);
	return !is_placed(die) ? 0 : value ? XC_INDEX_PLACED | XC_INDEX_VALUE : XC_INDEX_PLACED;
}

static void add_item(struct xc_index_scan *s, const struct xc_index_item *item)
{
	if (!s->apart) {
		xc_index_items_add(&s->all, item);
		return;
	}
	s->named = xc_grow(s->named, s->named_count, &s->named_capacity, sizeof *s->named);
	s->named[s->named_count++] = *item;
}

/* `scope`: the scope of the declaration; `named`: the DIE with the name. */
static void add_definition(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die,
			   const struct xc_die_scan_entry *named, uint32_t has)
{
	unsigned kind = die->tag == DW_TAG_subprogram ? XC_NAME_FUNCTION : XC_NAME_VARIABLE;
	uint64_t hash = xc_index_scan_hash(s, named->name);
	struct xc_index_item item = item_of(s, scope, die, kind, xc_index_scan_hash_last(s, named->name, hash));
	item.name = xc_index_pack_name(named->name);
	item.flags = (uint8_t)((has & XC_DIE_SCAN_EXTERNAL ? XC_INDEX_EXTERNAL : 0) | place_flags(die));
	if (has & XC_DIE_SCAN_EXTERNAL) {
		uint64_t linkage =
			named->has & XC_DIE_SCAN_LINKAGE_NAME ? xc_index_scan_hash(s, named->linkage_name) : 0;
		item.key = xc_name_mix(xc_name_mix(xc_name_mix(scope->key, hash), kind), linkage);
	} else { /* a declaration with a value, its definition, copies of a function */
		item.key = xc_index_scan_own_key(s, named->offset);
	}
	add_item(s, &item);
}

/* Its name is in another unit, at the origin of `last`; it gets the name when all units are known. */
static void add_far(struct xc_index_scan *s, const struct xc_die_scan_entry *die, const struct xc_die_scan_entry *last)
{
	static const struct scope top;
	unsigned kind = die->tag == DW_TAG_subprogram ? XC_NAME_FUNCTION : XC_NAME_VARIABLE;
	struct xc_index_item item = item_of(s, &top, die, kind, 0);
	if (!is_placed(die) && !s->apart)
		return;
	item.flags = (uint8_t)(XC_INDEX_FAR | place_flags(die) |
			       (last->has & XC_DIE_SCAN_ALT_ORIGIN ? XC_INDEX_FAR_ALT : 0));
	item.name = last->origin;
	item.key = xc_index_scan_own_key(s, die->offset);
	add_item(s, &item);
}

static void scan_definition(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die)
{
	bool declared = die->has & XC_DIE_SCAN_DECLARATION;
	if (die->has & XC_DIE_SCAN_FAR_ORIGIN) {
		add_far(s, die, die);
	} else if (die->has & XC_DIE_SCAN_ORIGIN) {
		s->origins = xc_grow(s->origins, s->origin_count, &s->origin_capacity, sizeof *s->origins);
		s->origins[s->origin_count++].die = *die;
	} else if ((die->has & XC_DIE_SCAN_NAME) && (!declared || (die->has & XC_DIE_SCAN_VALUE) || s->apart)) {
		add_definition(s, scope, die, die, die->has);
	}
}

static bool scan_die(struct xc_index_scan *s, const struct scope *scope, const struct xc_die_scan_entry *die)
{
	uint64_t key, number;
	switch (die->tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
		return scan_namespace(s, scope, die);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
		return scan_record(s, scope, die);
	case DW_TAG_enumeration_type:
		return scan_enum(s, scope, die);
	case DW_TAG_enumerator:
		if (die->has & XC_DIE_SCAN_NAME)
			add_named(s, scope, die, XC_NAME_ENUMERATOR,
				  xc_index_scan_number(die, XC_DIE_SCAN_VALUE, die->value), scope->line, &key);
		break;
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_base_type:
	case DW_TAG_unspecified_type:
	case DW_TAG_subrange_type:
		if ((die->has & XC_DIE_SCAN_NAME) && !xc_index_scan_hash_target(s, die, &number))
			return false;
		if (die->has & XC_DIE_SCAN_NAME)
			add_named(s, scope, die, XC_NAME_TYPE, number,
				  xc_index_scan_number(die, XC_DIE_SCAN_LINE, die->line), &key);
		break;
	case DW_TAG_member: /* static ones of DWARF 4 */
		if (!(die->has & XC_DIE_SCAN_EXTERNAL) || !(die->has & XC_DIE_SCAN_VALUE))
			break;
		/* fall through */
	case DW_TAG_subprogram:
	case DW_TAG_variable:
	case DW_TAG_constant:
		scan_definition(s, scope, die);
		break;
	default:
		break;
	}
	return xc_die_scan_leave(s->scan, die);
}

static bool scan_children(struct xc_index_scan *s, const struct scope *scope)
{
	struct xc_die_scan_entry die;
	if (scope->depth > MAX_DEPTH)
		return false;
	while (xc_die_scan_next(s->scan, &die)) {
		if (!die.tag)
			return true;
		if (!scan_die(s, scope, &die))
			return false;
	}
	return false;
}

/* ---- names elsewhere in the unit ---- */

/* The scope that holds `offset`. */
static struct scope scope_at(const struct xc_index_scan *s, uint64_t offset)
{
	size_t lo = XC_LOWER_BOUND(s->extent_count, i, s->extents[i].start < offset);
	for (size_t at = lo; at > 0; at = s->extents[at - 1].outer)
		if (s->extents[at - 1].end > offset)
			return (struct scope){.item = s->extents[at - 1].item, .key = s->extents[at - 1].key};
	return (struct scope){0};
}

static void resolve_origin(struct xc_index_scan *s, const struct xc_die_scan_entry *die)
{
	struct xc_die_scan_entry at = *die;
	uint32_t has = die->has;
	for (int i = 0; i < MAX_ORIGINS && !(at.has & XC_DIE_SCAN_NAME); i++) {
		if (at.has & XC_DIE_SCAN_FAR_ORIGIN) {
			add_far(s, die, &at);
			return;
		}
		if (!(at.has & XC_DIE_SCAN_ORIGIN) || !xc_die_scan_at(s->scan, at.origin, &at))
			return;
		has |= at.has & XC_DIE_SCAN_EXTERNAL;
	}
	if (!(at.has & XC_DIE_SCAN_NAME))
		return;
	struct scope scope = scope_at(s, at.offset);
	add_definition(s, &scope, die, &at, has);
}

static bool is_c(uint64_t language)
{
	switch (language) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* C17 (dwarfstd.org, language codes) */
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

static void use_space(struct xc_index_scan *s, const struct xc_die_scan_space *space)
{
	xc_die_scan_free(s->scan);
	free(s->hashes);
	s->scan = xc_die_scan_new(space);
	s->space = space;
	s->hash_bits = space->split ? SPLIT_HASH_BITS : HASH_BITS;
	s->hashes = xc_alloc(sizeof *s->hashes << s->hash_bits);
	s->macros_left = 2 * (uint64_t)xc_cursor_left(&space->macro);
}

void xc_index_scan_unit(struct xc_index_scan *s, const struct xc_die_scan_space *space,
			const struct xc_die_scan_unit *unit, uint32_t number)
{
	static const struct scope top;
	struct xc_die_scan_entry die;
	if (s->space != space)
		use_space(s, space);
	s->unit = *unit;
	s->number = number;
	s->extent_count = s->origin_count = 0;
	bool good = xc_die_scan_enter(s->scan, unit) && xc_die_scan_next(s->scan, &die);
	s->unit_macros = good && (die.has & XC_DIE_SCAN_MACROS) ? die.macros : UINT64_MAX;
	s->is_c = good && (die.has & XC_DIE_SCAN_LANGUAGE) && is_c(die.language);
	s->is_rust = good && (die.has & XC_DIE_SCAN_LANGUAGE) && die.language == DW_LANG_Rust;
	if (good && die.children)
		good = scan_children(s, &top);
	for (size_t i = 0; i < s->origin_count; i++)
		resolve_origin(s, &s->origins[i].die);
	s->damaged += !good;
}

void xc_index_scan_fini(struct xc_index_scan *s)
{
	xc_die_scan_free(s->scan);
	xc_index_items_fini(&s->all);
	free(s->hashes);
	free(s->extents);
	free(s->origins);
	free(s->named);
	*s = (struct xc_index_scan){0};
}
