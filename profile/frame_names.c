#include "profile/frame_names.h"

#include <stdlib.h>
#include <string.h>

#include "core/perf/kernel_symbols.h"
#include "dwarf/symbolize/debuginfo.h"

/* The number of a function by its texts. */
static uint32_t number_of(struct xc_frame_names *n, const char *name, const char *module)
{
	xc_auto(xc_freep) char *both = xc_asprintf("%s\n%s", name, module ? module : "");
	const uint32_t number = xc_intern(&n->by_name, both);
	if (number < n->function_count)
		return number;
	n->functions = xc_grow(n->functions, n->function_count, &n->function_capacity, sizeof *n->functions);
	n->functions[n->function_count++] =
		(struct xc_frame_function){xc_arena_strdup(&n->arena, name), xc_arena_strdup(&n->arena, module)};
	return number;
}

static void add(struct xc_frame_names *n, const char *name, const char *module, const char *file, unsigned line)
{
	n->names = xc_grow(n->names, n->name_count, &n->name_capacity, sizeof *n->names);
	n->names[n->name_count++] =
		(struct xc_frame_name){number_of(n, name, module), xc_arena_strdup(&n->arena, file), line};
}

static void add_code(struct xc_frame_names *n, const struct xc_process *process, xc_addr at, bool guessed)
{
	const struct xc_place *place = xc_debuginfo_place(process, at);
	const char *module = place->module ? place->module->name : NULL;
	const size_t before = n->name_count;
	for (size_t i = 0; i < place->level_count; i++) {
		const char *name = xc_place_function(place, i);
		if (name)
			add(n, name, module, place->levels[i].file, place->levels[i].line);
	}
	if (n->name_count > before)
		return;
	xc_auto(xc_freep) char *unknown = xc_asprintf("[%s]", module ? module : guessed ? "guessed" : "unknown");
	add(n, place->symbol ? place->symbol : unknown, module, NULL, 0);
}

static void add_kernel(struct xc_frame_names *n, struct xc_kernel_symbols *kernel, xc_addr at)
{
	const char *name = xc_kernel_symbols_find(kernel, at);
	add(n, name ? name : "[kernel]", "[kernel]", NULL, 0);
}

void xc_frame_names_find(struct xc_frame_names *n, struct xc_process *process, const struct xc_stack_store *store)
{
	struct xc_kernel_symbols *kernel = NULL;
	*n = (struct xc_frame_names){0};
	n->starts = xc_alloc((store->place_count + 1) * sizeof *n->starts);
	for (size_t i = 0; i < store->place_count; i++) {
		const struct xc_sample_frame *frame = &store->places[i];
		n->starts[i] = (uint32_t)n->name_count;
		if (frame->kind == XC_SAMPLE_KERNEL && !kernel)
			kernel = xc_kernel_symbols_read();
		if (frame->kind == XC_SAMPLE_KERNEL)
			add_kernel(n, kernel, frame->at);
		else if (frame->kind == XC_SAMPLE_SIGNAL)
			add(n, "<signal handler called>", NULL, NULL, 0);
		else
			add_code(n, process, frame->at, frame->kind == XC_SAMPLE_GUESS);
	}
	n->starts[store->place_count] = (uint32_t)n->name_count;
	xc_kernel_symbols_free(kernel);
}

void xc_frame_names_fini(struct xc_frame_names *n)
{
	xc_arena_fini(&n->arena);
	xc_intern_fini(&n->by_name);
	free(n->functions);
	free(n->names);
	free(n->starts);
}
