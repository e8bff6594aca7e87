/* cexpr_enclosing: names in the scopes around a function, and what these scopes import.
 *
 * C++ has three imports, which debug information keeps where they are written:
 *
 *  namespace fs = std::filesystem;   `fs::path` is "std::filesystem::path"
 *  using lib::level;                 `level` is "lib::level"
 *  using namespace lib;              `level` may be "lib::level", and `level` of an outer scope is hidden only as if
 *                                    it were declared in the scope that surrounds both
 *
 * So each scope has the names that it declares, the first two kinds of its imports, and the namespaces that act there.
 * A name is rewritten by imports until a definition has it. Imports are searched in the unit of the function. */
#include <dwarf.h>

#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/types/scope.h"

enum { MAX_NAME = 4096, MAX_SCOPES = 16, MAX_NAMES = 64, MAX_REWRITES = 4, MAX_DIRECTIVES = 32 };

/* `using namespace`: acts in the scope that is the first `at` bytes of the function's name. */
struct directive {
	const char *target;
	size_t at;
};

/* Other spellings of a name. */
struct names {
	const char *items[MAX_NAMES];
	size_t count;
};

struct search {
	struct xc_cexpr *c;
	const struct xc_cname *name;
	const char *function; /* qualified; "" when not known */
	Dwarf_Die unit;       /* where the function was written */
	bool has_unit;
	struct directive directives[MAX_DIRECTIVES];
	size_t directive_count;
	enum xc_cfound *found_out;
	struct xc_value *value_out;
	const struct xc_type **type_out;
};

bool xc_cexpr_is_own_name(const char *class, size_t len, const char *name)
{
	size_t from = xc_cexpr_last_separator(class, len), n = strlen(name);
	from += from ? strlen("::") : 0;
	return len - from >= n && strncmp(class + from, name, n) == 0 && (len - from == n || class[from + n] == '<');
}

static bool is_done(const struct search *s, const struct xc_error *err)
{
	return err || *s->found_out != XC_FOUND_NOTHING;
}

static struct xc_error *try(const struct search *s, const char *full, struct xc_module *only)
{
	return xc_cexpr_find_global(s->c, s->name, full, only, s->found_out, s->value_out, s->type_out);
}

static struct xc_error *try_all(const struct search *s, const struct names *names)
{
	struct xc_error *err = NULL;
	for (size_t i = 0; i < names->count && !is_done(s, err); i++)
		err = try(s, names->items[i], NULL);
	return err;
}

/* ---- imports ---- */

/* The length of a name's first component. */
static size_t head_of(const char *name)
{
	int depth = 0;
	size_t i = 0;
	for (; name[i]; i++) {
		depth += strchr("<([{", name[i]) ? 1 : strchr(">)]}", name[i]) ? -1 : 0;
		if (depth == 0 && name[i] == ':' && name[i + 1] == ':')
			break;
	}
	return i;
}

static void add(struct search *s, struct names *names, const char *prefix, const char *rest)
{
	if (names->count == MAX_NAMES || strlen(prefix) + strlen(rest) > MAX_NAME)
		return;
	const char *full = xc_arena_printf(s->c->arena, "%s%s", prefix, rest);
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], full) == 0)
			return;
	names->items[names->count++] = full;
}

/* The qualified name of what an import imports; NULL when it has none. */
static const char *target_of(struct search *s, Dwarf_Die *import)
{
	Dwarf_Die target;
	if (!xc_die_ref(import, DW_AT_import, &target))
		return NULL;
	const char *name = xc_scope_name(xc_types_of(s->c->process), &target);
	return name ? xc_cexpr_plain_name(s->c, name) : NULL;
}

/* Is `name`, up to `head`, what this alias or using-declaration makes known? */
static bool binds(Dwarf_Die *import, const char *name, size_t head)
{
	Dwarf_Die target;
	Dwarf_Attribute attr;
	const char *bound = dwarf_attr(import, DW_AT_name, &attr)       ? dwarf_formstring(&attr)
			    : xc_die_ref(import, DW_AT_import, &target) ? xc_die_name(&target)
									: NULL;
	return bound && strlen(bound) == head && strncmp(bound, name, head) == 0;
}

/* The imports and the namespaces that are written in an entry: read once, since a unit may have a million entries. */
struct written {
	Dwarf_Die *items;
	size_t count;
};

static bool is_wanted(int tag)
{
	return tag == DW_TAG_imported_declaration || tag == DW_TAG_imported_module || tag == DW_TAG_namespace;
}

static struct written *read_written(struct xc_types *types, Dwarf_Die *scope)
{
	struct written *w = xc_arena_alloc(types->arena, sizeof *w);
	xc_auto(xc_freep) Dwarf_Die *items = NULL;
	size_t capacity = 0;
	Dwarf_Die child;
	for (bool more = xc_die_child(scope, &child); more && xc_budget_spend(1); more = xc_die_next(&child)) {
		if (!is_wanted(xc_die_tag(&child)))
			continue;
		items = xc_grow(items, w->count, &capacity, sizeof *items);
		items[w->count++] = child;
	}
	w->items = xc_arena_alloc(types->arena, w->count * sizeof *items + 1);
	if (w->count)
		memcpy(w->items, items, w->count * sizeof *items);
	return w;
}

static const struct written *written_in(const struct search *s, Dwarf_Die *scope)
{
	struct xc_types *types = xc_types_of(s->c->process);
	void **slot = xc_pointer_map_at(&types->imports, types->arena, scope->addr, NULL);
	if (!*slot)
		*slot = read_written(types, scope);
	return *slot;
}

/* What the imports that are written in an entry make of a name; `directives`: those by `using namespace`, too. */
static void add_imported(struct search *s, Dwarf_Die *scope, const char *name, bool directives, struct names *names)
{
	const struct written *w = written_in(s, scope);
	size_t head = head_of(name);
	for (size_t i = 0; i < w->count && xc_budget_spend(1); i++) {
		Dwarf_Die child = w->items[i];
		int tag = xc_die_tag(&child);
		const char *target;
		if (tag == DW_TAG_imported_declaration && binds(&child, name, head) && (target = target_of(s, &child)))
			add(s, names, target, name + head);
		else if (directives && tag == DW_TAG_imported_module && (target = target_of(s, &child)))
			add(s, names, xc_arena_printf(s->c->arena, "%s::", target), name);
	}
}

typedef void scope_fn(struct search *s, Dwarf_Die *scope, void *context);

/* Calls `each` with every entry of a namespace in the unit: it may have several. The name is relative to `parent`. */
static void each_namespace(struct search *s, Dwarf_Die *parent, const char *name, size_t len, unsigned depth,
			   scope_fn *each, void *context)
{
	if (len == 0)
		each(s, parent, context);
	if (len == 0 || depth == MAX_SCOPES)
		return;
	const struct written *w = written_in(s, parent);
	size_t head = head_of(name);
	head = head < len ? head : len;
	size_t next = head == len ? len : head + strlen("::");
	for (size_t i = 0; i < w->count; i++) {
		Dwarf_Die child = w->items[i];
		if (xc_die_tag(&child) != DW_TAG_namespace)
			continue;
		const char *have = xc_die_name(&child);
		if (!have) /* anonymous: its names are those of what it is in */
			each_namespace(s, &child, name, len, depth + 1, each, context);
		else if (strlen(have) == head && strncmp(have, name, head) == 0)
			each_namespace(s, &child, name + next, len - next, depth + 1, each, context);
	}
}

struct rewriting {
	const char *rest;
	bool directives;
	struct names *names;
};

static void rewrite_in(struct search *s, Dwarf_Die *scope, void *context)
{
	const struct rewriting *r = context;
	add_imported(s, scope, r->rest, r->directives, r->names);
}

/* What a qualified name is by the imports of the namespaces that it names: of "app::fs::path", those of the unit, of
 * "app" and of "app::fs". `from`: the length of the scope in which it is; its `using namespace` act elsewhere. */
static void rewrite(struct search *s, const char *name, size_t from, struct names *names)
{
	for (size_t at = 0;;) {
		struct rewriting r = {name + at + (at ? strlen("::") : 0), at > from, names};
		if (at >= from)
			each_namespace(s, &s->unit, name, at, 0, rewrite_in, &r);
		size_t head = head_of(r.rest);
		if (!r.rest[head])
			return;
		at = (size_t)(r.rest - name) + head;
	}
}

/* All of that, of the rewritten names, too. */
static void rewrite_all(struct search *s, struct names *names)
{
	for (size_t i = 0, round = 0, end = names->count; round < MAX_REWRITES && i < end; round++, end = names->count)
		for (; i < end; i++)
			rewrite(s, names->items[i], 0, names);
}

/* ---- using namespace ---- */

/* The length of the innermost scope of the function that surrounds both a scope of `len` bytes and the target. */
static size_t common_scope(const struct search *s, size_t len, const char *target)
{
	while (len > 0) {
		if (strncmp(target, s->function, len) == 0 && (!target[len] || target[len] == ':'))
			return len;
		len = xc_cexpr_last_separator(s->function, len);
	}
	return 0;
}

static void collect(struct search *s, Dwarf_Die *scope, void *context)
{
	const struct written *w = written_in(s, scope);
	const size_t *len = context;
	for (size_t i = 0; i < w->count; i++) {
		Dwarf_Die child = w->items[i];
		const char *target;
		if (s->directive_count < MAX_DIRECTIVES && xc_die_tag(&child) == DW_TAG_imported_module &&
		    (target = target_of(s, &child)))
			s->directives[s->directive_count++] = (struct directive){target, common_scope(s, *len, target)};
	}
}

/* ---- blocks of the function ---- */

static const struct xc_level *level_of(const struct xc_cexpr *c)
{
	const struct xc_frame_scope *scope = c->scope;
	return scope->has_frame && scope->level < scope->place->level_count ? &scope->place->levels[scope->level]
									    : NULL;
}

/* Imports are in the blocks, or, where a function has several copies, in those of its abstract instance. */
static void each_block(struct search *s, scope_fn *each, void *context)
{
	const struct xc_level *level = level_of(s->c);
	for (size_t i = 0; level && i < level->block_count; i++) {
		Dwarf_Die origin;
		each(s, &level->blocks[i], context);
		if (xc_die_ref(&level->blocks[i], DW_AT_abstract_origin, &origin))
			each(s, &origin, context);
	}
}

static void add_of_block(struct search *s, Dwarf_Die *scope, void *context)
{
	add_imported(s, scope, s->name->name, false, context);
}

static struct xc_error *find_in_blocks(struct search *s)
{
	struct names names = {.count = 0};
	each_block(s, add_of_block, &names);
	rewrite_all(s, &names);
	return try_all(s, &names);
}

/* ---- scopes ---- */

/* The names that a scope of the function has by imports. */
static void imported_at(struct search *s, size_t len, struct names *names)
{
	const char *full =
		xc_arena_printf(s->c->arena, "%.*s%s%s", (int)len, s->function, len ? "::" : "", s->name->name);
	rewrite(s, full, len, names);
	for (size_t i = 0; i < s->directive_count; i++)
		if (s->directives[i].at == len)
			add(s, names, xc_arena_printf(s->c->arena, "%s::", s->directives[i].target), s->name->name);
	rewrite_all(s, names);
}

/* In the outermost scope, a definition in the module: others are searched for later. */
static struct xc_error *find_outside(struct search *s, const struct names *names)
{
	struct xc_error *err = names->count ? xc_cexpr_find_defined(s->c, s->name, s->name->name, xc_cexpr_home(s->c),
								    s->found_out, s->value_out, s->type_out)
					    : NULL;
	return is_done(s, err) ? err : try_all(s, names);
}

static struct xc_error *find_in_scope(struct search *s, size_t len)
{
	struct xc_module *home = xc_cexpr_home(s->c);
	struct names names = {.count = 0};
	struct xc_error *err = NULL;
	if (len && xc_cexpr_is_own_name(s->function, len, s->name->name))
		err = try(s, xc_arena_strndup(s->c->arena, s->function, len), home);
	if (len && !is_done(s, err))
		err = try(s, xc_arena_printf(s->c->arena, "%.*s::%s", (int)len, s->function, s->name->name), home);
	if (is_done(s, err) || !s->has_unit)
		return err;
	imported_at(s, len, &names);
	return len ? try_all(s, &names) : find_outside(s, &names);
}

/* The unit in which the function was written; a copy of it may be in another one. */
static void find_unit(struct search *s)
{
	const struct xc_level *level = level_of(s->c);
	Dwarf_Die die, origin;
	if (!level)
		return;
	die = level->die;
	if (xc_die_ref(&die, DW_AT_abstract_origin, &origin))
		die = origin;
	s->has_unit = dwarf_cu_die(die.cu, &s->unit, NULL, NULL, NULL, NULL, NULL, NULL) != NULL;
}

static void collect_directives(struct search *s)
{
	size_t len = xc_cexpr_last_separator(s->function, strlen(s->function));
	if (!s->name->global)
		each_block(s, collect, &len);
	for (int i = 0; i < MAX_SCOPES; i++) {
		each_namespace(s, &s->unit, s->function, len, 0, collect, &len);
		if (len == 0)
			return;
		len = xc_cexpr_last_separator(s->function, len);
	}
}

struct xc_error *xc_cexpr_find_enclosing(struct xc_cexpr *c, const struct xc_cname *name, enum xc_cfound *found_out,
					 struct xc_value *value_out, const struct xc_type **type_out)
{
	const char *function = xc_frame_scope_function(c->scope);
	struct search s = {.c = c,
			   .name = name,
			   .function = function && !name->global ? function : "",
			   .found_out = found_out,
			   .value_out = value_out,
			   .type_out = type_out};
	size_t len = strlen(s.function);
	if (len > MAX_NAME || strlen(name->name) > MAX_NAME || !xc_cexpr_home(c))
		return NULL;
	find_unit(&s);
	struct xc_error *err = name->global ? NULL : find_in_blocks(&s);
	if (!is_done(&s, err) && s.has_unit)
		collect_directives(&s);
	if (name->global)
		return find_in_scope(&s, 0);
	for (int i = 0; i < MAX_SCOPES && !is_done(&s, err) && len; i++) {
		len = xc_cexpr_last_separator(s.function, len);
		err = find_in_scope(&s, len);
	}
	return err;
}
