#include "profile/frame_names.h"

#include <stdlib.h>

#include "core/perf/code_names.h"
#include "core/perf/kernel_symbols.h"
#include "dwarf/symbolize/debuginfo.h"

static void add(struct xc_frame_names *n, uint32_t frame)
{
	n->frames = xc_grow(n->frames, n->frame_count, &n->frame_room, sizeof *n->frames);
	n->frames[n->frame_count++] = frame;
}

static uint32_t nameless(struct xc_profile_data *d, const char *name, const char *module,
			 enum xc_profile_frame_kind kind)
{
	return xc_profile_data_add_frame(d, xc_profile_data_add_function(d, name, module, NULL), NULL, 0, kind);
}

/* Other places that names come from, opened at the first need. */
struct others {
	struct xc_kernel_symbols *kernel;
	struct xc_code_names *compiled;
	bool asked; /* for those */
};

static void fini_others(struct others *o)
{
	xc_kernel_symbols_free(o->kernel);
	xc_code_names_free(o->compiled);
}

/* The name that the program published for its code; NULL: none, or code of a module. */
static const struct xc_code_name *compiled_at(struct others *o, const struct xc_process *process, xc_addr at)
{
	if (xc_process_module(process, at))
		return NULL;
	if (!o->asked)
		o->compiled = xc_code_names_of(process);
	o->asked = true;
	return xc_code_names_find(o->compiled, at);
}

static void add_compiled(struct xc_frame_names *n, struct xc_profile_data *d, const struct xc_code_name *code,
			 xc_addr at)
{
	const uint32_t function = xc_profile_data_add_function(d, code->name, "[jit]", NULL);
	const struct xc_code_line *line = xc_code_name_line(code, at);
	add(n, xc_profile_data_add_frame(d, function, line ? line->file : NULL, line ? line->line : 0, XC_PROFILE_JIT));
}

static void add_code(struct xc_frame_names *n, struct xc_profile_data *d, const struct xc_process *process, xc_addr at,
		     bool guessed)
{
	const struct xc_place *place = xc_debuginfo_place(process, at);
	const char *module = place->module ? place->module->name : NULL;
	const bool compiled = !place->module && place->told;
	const enum xc_profile_frame_kind kind = guessed    ? XC_PROFILE_GUESS
						: compiled ? XC_PROFILE_JIT
							   : XC_PROFILE_NATIVE;
	const size_t before = n->frame_count;
	for (size_t i = 0; i < place->level_count; i++) {
		const char *name = xc_place_function(place, i);
		if (name)
			add(n, xc_profile_data_add_frame(d, xc_profile_data_add_function(d, name, module, NULL),
							 place->levels[i].file, place->levels[i].line,
							 i + 1 < place->level_count ? XC_PROFILE_INLINED : kind));
	}
	if (n->frame_count > before)
		return;
	xc_auto(xc_freep) char *unknown = xc_asprintf("[%s]", module ? module : guessed ? "guessed" : "unknown");
	const char *name = xc_place_function(place, 0);
	add(n, nameless(d, name ? name : unknown, module, kind));
}

static void add_kernel(struct xc_frame_names *n, struct xc_profile_data *d, struct xc_kernel_symbols *kernel,
		       xc_addr at)
{
	const char *name = xc_kernel_symbols_find(kernel, at);
	add(n, nameless(d, name ? name : "[kernel]", "[kernel]", XC_PROFILE_KERNEL));
}

/* Functions of one name in different files are different ones. */
static void add_guest(struct xc_frame_names *n, struct xc_profile_data *d, const struct xc_guest_place *place)
{
	if (!place->language) {
		add(n, nameless(d, place->function, NULL, XC_PROFILE_REMARK));
		return;
	}
	const uint32_t function = xc_profile_data_add_function(d, place->function, place->file, place->language);
	add(n, xc_profile_data_add_frame(d, function, place->file, place->line, XC_PROFILE_INTERPRETED));
}

void xc_frame_names_find(struct xc_frame_names *n, struct xc_profile_data *d, struct xc_process *process,
			 const struct xc_stack_store *store)
{
	struct others others = {0};
	*n = (struct xc_frame_names){0};
	n->starts = xc_alloc((store->place_count + 1) * sizeof *n->starts);
	for (size_t i = 0; i < store->place_count; i++) {
		const struct xc_sample_frame *frame = &store->places[i];
		n->starts[i] = (uint32_t)n->frame_count;
		const struct xc_code_name *compiled = NULL;
		if (frame->kind == XC_SAMPLE_KERNEL && !others.kernel)
			others.kernel = xc_kernel_symbols_read();
		else if (frame->kind == XC_SAMPLE_CODE || frame->kind == XC_SAMPLE_GUESS)
			compiled = compiled_at(&others, process, frame->at);
		if (compiled)
			add_compiled(n, d, compiled, frame->at);
		else if (frame->kind == XC_SAMPLE_KERNEL)
			add_kernel(n, d, others.kernel, frame->at);
		else if (frame->kind == XC_SAMPLE_GUEST)
			add_guest(n, d, &store->guests->items[frame->at]);
		else if (frame->kind == XC_SAMPLE_VALUE)
			continue; /* no frame */
		else if (frame->kind == XC_SAMPLE_SIGNAL)
			add(n, nameless(d, "<signal handler called>", NULL, XC_PROFILE_SIGNAL));
		else
			add_code(n, d, process, frame->at, frame->kind == XC_SAMPLE_GUESS);
	}
	n->starts[store->place_count] = (uint32_t)n->frame_count;
	fini_others(&others);
}

void xc_frame_names_fini(struct xc_frame_names *n)
{
	free(n->frames);
	free(n->starts);
}
