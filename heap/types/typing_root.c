/* typing_root: the objects that debug information places: variables of files, namespaces and classes, thread-local
 * ones, static variables of functions, and the arguments and locals of all frames.
 *
 * A compiler's description of a local is valid only in its range, and a local that was not written yet may hold
 * anything. So globals are processed before locals, and locals are checked like any other evidence. */
#include "heap/types/typing_engine.h"

#include "dwarf/module/die.h"
#include "dwarf/lookup/function_static.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/stack/frame_scope.h"
#include "heap/blocks/unexplained_pointer.h"

enum { FRAMES = 4096, FRAMES_TOTAL = 1 << 18, LARGEST_LOCAL = 1 << 20, LARGEST_INSIDE = 32 << 20 };

static uint32_t followed_map(struct xc_engine *e, const struct xc_type *type)
{
	uint32_t map = xc_typemap_of(e, type);
	xc_typemap_compile(e, map);
	return e->maps[map]->has_pointers ? map : XC_NO_MAP;
}

static struct xc_root_object *add_root(struct xc_engine *e, uint32_t map, uint64_t size, enum xc_confidence confidence)
{
	e->roots = xc_grow(e->roots, e->root_count, &e->root_capacity, sizeof *e->roots);
	struct xc_root_object *root = &e->roots[e->root_count++];
	*root = (struct xc_root_object){.map = map, .size = size, .confidence = (uint8_t)confidence};
	return root;
}

/* ---- variables ---- */

struct statics {
	struct xc_engine *engine;
	struct xc_module *module;
	struct xc_extents known; /* the places of its variables that were found by name */
	struct xc_arena scratch;
};

static void know(struct statics *s, const struct xc_value *value)
{
	uint64_t size;
	if (xc_type_size(value->type, &size))
		xc_extents_add(&s->known, value->addr, size);
}

static void add_static(struct statics *s, const struct xc_value *value, const char *what, const char *name)
{
	struct xc_engine *e = s->engine;
	uint64_t size;
	uint32_t map = followed_map(e, value->type);
	if (map == XC_NO_MAP || !xc_type_size(value->type, &size) || value->kind != XC_VALUE_MEMORY)
		return;
	struct xc_root_object *root = add_root(e, map, size, XC_TYPE_EXACT);
	root->addr = value->addr;
	root->via = xc_arena_printf(&e->heap->memory, "%s %s", what, name);
}

/* A variable without a place in the process may have one in each thread. */
static void add_thread_local(struct statics *s, Dwarf_Die *die, const char *name)
{
	const struct xc_process *process = s->engine->heap->process;
	struct xc_value value;
	for (size_t i = 0; i < process->thread_count; i++) {
		xc_variable_static(process, s->module, &process->threads[i], die, &s->scratch, &value);
		if (value.kind != XC_VALUE_MEMORY)
			break;
		add_static(s, &value, "thread-local", name);
	}
}

static bool see_variable(void *context, const char *name, const struct xc_definition *definition)
{
	struct statics *s = context;
	Dwarf_Die die = definition->die;
	struct xc_value value;
	if (definition->declaration)
		return true;
	xc_variable_static(s->engine->heap->process, s->module, NULL, &die, &s->scratch, &value);
	if (value.kind == XC_VALUE_MEMORY) {
		know(s, &value);
		add_static(s, &value, "global", name);
	} else if (value.kind == XC_VALUE_ABSENT) {
		add_thread_local(s, &die, name);
	}
	return true;
}

/* ---- static variables of functions, which no index has ---- */

static void see_inside(void *context, Dwarf_Die *variable, Dwarf_Die *function)
{
	struct statics *s = context;
	struct xc_value value;
	const char *name = xc_die_name(variable), *around = xc_die_name(function);
	if (!name || !around)
		return;
	xc_variable_static(s->engine->heap->process, s->module, NULL, variable, &s->scratch, &value);
	if (value.kind == XC_VALUE_MEMORY)
		add_static(s, &value, "static", xc_arena_printf(&s->scratch, "%s of %s", name, around));
}

static void find_statics(struct xc_engine *e)
{
	const struct xc_process *process = e->heap->process;
	struct statics s = {.engine = e};
	for (size_t i = 0; i < process->module_count; i++) {
		s.module = process->modules[i];
		xc_lookup_each(process, s.module, XC_NAME_VARIABLE, see_variable, &s);
		if (xc_unexplained_pointer_exists(e->heap, s.module, &s.known))
			xc_function_static_each(xc_debugfile_of(process, s.module), LARGEST_INSIDE, see_inside, &s);
		s.known.count = 0;
	}
	xc_extents_fini(&s.known);
	xc_arena_fini(&s.scratch);
}

/* ---- frames ---- */

static bool in_bytes(struct xc_engine *e, const struct xc_value *value, uint64_t size, const uint8_t **bytes_out)
{
	uint8_t *bytes;
	if (value->kind != XC_VALUE_BYTES || value->bit_size || size > LARGEST_LOCAL)
		return false;
	bytes = xc_arena_alloc(&e->heap->memory, size);
	*bytes_out = bytes;
	return xc_value_peek(value, 0, bytes, size);
}

static void add_local(struct xc_engine *e, const struct xc_named_value *local, const char *what, const char *function)
{
	const struct xc_value *value = &local->value;
	uint64_t size;
	if (value->kind != XC_VALUE_MEMORY && value->kind != XC_VALUE_BYTES)
		return;
	uint32_t map = followed_map(e, value->type);
	const uint8_t *bytes = NULL;
	if (map == XC_NO_MAP || !xc_type_size(value->type, &size) ||
	    (value->kind == XC_VALUE_BYTES && !in_bytes(e, value, size, &bytes)))
		return;
	struct xc_root_object *root = add_root(e, map, size, value->guessed ? XC_TYPE_WEAK : XC_TYPE_STRONG);
	root->addr = value->addr;
	root->bytes = bytes;
	root->via = xc_arena_printf(&e->heap->memory, "%s %s of %s", what, local->name ? local->name : "(no name)",
				    function ? function : "a function");
}

static void add_frame(struct xc_engine *e, const struct xc_frame_scope *s, struct xc_arena *scratch)
{
	struct xc_frame_context context = xc_frame_scope_context(s);
	struct xc_named_value *values;
	if (!s->has_frame || !s->place->level_count || s->frame.trust == XC_TRUST_SCAN)
		return;
	for (int locals = 0; locals < 2; locals++) {
		size_t count = xc_variable_values(&context, s->level, locals, scratch, &values);
		for (size_t i = 0; i < count; i++)
			add_local(e, &values[i], locals ? "local" : "argument", xc_frame_scope_function(s));
	}
}

static void find_locals(struct xc_engine *e)
{
	const struct xc_process *process = e->heap->process;
	struct xc_frame_scope s = {.process = process};
	size_t left = FRAMES_TOTAL;
	for (size_t i = 0; i < process->thread_count && left; i++) {
		struct xc_arena scratch = {0};
		bool more = xc_frame_scope_move(&s, &process->threads[i]);
		for (unsigned rows = 0; more && rows < FRAMES && left; rows++, left--) {
			add_frame(e, &s, &scratch);
			more = xc_frame_scope_up(&s);
		}
		xc_arena_fini(&scratch);
	}
	xc_frame_scope_fini(&s);
}

void xc_typing_find_roots(struct xc_engine *e)
{
	find_statics(e);
	find_locals(e);
}
