#include "heap/query/rootword.h"

#include <string.h>

#include "dwarf/types/field.h"
#include "dwarf/elf/symbol.h"
#include "heap/query/stackword.h"
#include "heap/types/typing.h"
#include "heap/query/whatis.h"

enum { SYMBOL = 512 };

/* ---- places ---- */

static void add_stack(const struct xc_heap *heap, const struct xc_thread *thread, xc_addr at, bool frames,
		      struct xc_text *text)
{
	struct xc_text frame = {0};
	xc_text_printf(text, "stack of thread %d", (int)thread->tid);
	if (frames)
		xc_stackword_text(heap->process, thread, at, &frame);
	if (frame.len)
		xc_text_printf(text, ", %s", frame.bytes);
	xc_text_fini(&frame);
}

/* For a word at the beginning of a block: its field. */
static void add_first_field(const struct xc_heap *heap, const struct xc_what *what, struct xc_text *text)
{
	const struct xc_typed *typed = heap->typing ? xc_typing_get(heap->typing, what->block) : NULL;
	struct xc_text path = {0};
	if (!typed || what->offset || typed->offset || typed->shape == XC_TYPED_TEXT)
		return;
	if (typed->shape == XC_TYPED_ARRAY)
		xc_text_add(&path, "[0]");
	xc_field_path(&path, typed->type, 0, NULL);
	if (path.len)
		xc_text_printf(text, " %s", path.bytes);
	xc_text_fini(&path);
}

void xc_rootword_place(const struct xc_heap *heap, xc_addr at, bool frames, struct xc_text *text)
{
	const struct xc_what what = xc_what(heap->process, heap, at);
	if (what.kind == XC_WHAT_STACK)
		add_stack(heap, what.thread, at, frames, text);
	else
		xc_what_text(heap->process, heap, &what, text);
	if (what.kind == XC_WHAT_BLOCK)
		add_first_field(heap, &what, text);
}

/* ---- roots ---- */

const struct xc_thread *xc_rootword_thread(const struct xc_heap *heap, const struct xc_root *root)
{
	bool has = root->kind == XC_ROOT_STACK || root->kind == XC_ROOT_TLS || root->kind == XC_ROOT_REGISTER;
	return has && root->owner < heap->process->thread_count ? &heap->process->threads[root->owner] : NULL;
}

void xc_rootword_text(const struct xc_heap *heap, const struct xc_root *root, bool frames, struct xc_text *text)
{
	const struct xc_thread *thread = xc_rootword_thread(heap, root);
	const char *name;
	if (thread && root->kind == XC_ROOT_REGISTER) {
		name = xc_arch_reg_name(heap->process->arch, (int)root->at);
		xc_text_printf(text, "%s of thread %d", name ? name : "a vector register", (int)thread->tid);
	} else if (thread && root->kind == XC_ROOT_STACK) {
		add_stack(heap, thread, root->at, frames, text);
	} else if (thread) {
		xc_text_printf(text, "thread-local data of thread %d", (int)thread->tid);
	} else {
		xc_rootword_place(heap, root->at, frames, text);
	}
}

void xc_rootword_label(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text)
{
	const struct xc_process *process = heap->process;
	const struct xc_thread *thread = xc_rootword_thread(heap, root);
	const char *word = xc_root_kind_word((enum xc_root_kind)root->kind);
	char symbol[SYMBOL];
	if (root->kind == XC_ROOT_GLOBAL && xc_symbol_describe(process, root->at, symbol, sizeof symbol)) {
		const char *plus = strrchr(symbol, '+');
		xc_text_addn(text, symbol, plus ? (size_t)(plus - symbol) : strlen(symbol));
	} else if (thread) {
		xc_text_printf(text, "%s of thread %d", word, (int)thread->tid);
	} else if (root->kind == XC_ROOT_GLOBAL && root->owner < process->module_count) {
		xc_text_printf(text, "data of %s", process->by_address[root->owner]->name);
	} else {
		xc_text_add(text, word);
	}
}

/* The module whose static thread-local data contain a word of a thread. The blocks of modules follow each other, up
 * to the thread's descriptor (x86: core/elf/arch.h, variant II). NULL for the descriptor, and if it is unknown. */
static const struct xc_module *tls_module(const struct xc_heap *heap, const struct xc_root *root)
{
	const struct xc_process *process = heap->process;
	const struct xc_thread *thread = xc_rootword_thread(heap, root);
	const struct xc_tls_layout *tls = &process->arch->tls;
	const struct xc_module *best = NULL;
	uint64_t tp;
	if (!thread || !thread->has_regs || !tls->below || tls->tp < 0 || !xc_regs_get(&thread->regs, tls->tp, &tp) ||
	    root->at >= tp || tp - root->at > INT64_MAX)
		return NULL;
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *module = process->by_address[i];
		if (module->tls_offset_known && module->tls_offset >= (int64_t)(tp - root->at) &&
		    (!best || module->tls_offset < best->tls_offset))
			best = module;
	}
	return best;
}

void xc_rootword_module(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text)
{
	static const char *const owners[XC_ROOT_KINDS] = {
		[XC_ROOT_GLOBAL] = "data of an unknown module",
		[XC_ROOT_TLS] = "thread-local data",
		[XC_ROOT_REGISTER] = "registers",
		[XC_ROOT_STACK] = "stacks",
		[XC_ROOT_PLUGIN] = "plugins",
		[XC_ROOT_MAPPING] = "other memory",
		[XC_ROOT_DAMAGED] = "damaged heap",
	};
	const struct xc_process *process = heap->process;
	const struct xc_module *module;
	if (root->kind == XC_ROOT_GLOBAL && root->owner < process->module_count)
		xc_text_printf(text, "module %s", process->by_address[root->owner]->name);
	else if (root->kind == XC_ROOT_TLS && (module = tls_module(heap, root)))
		xc_text_printf(text, "thread-local data of %s", module->name);
	else
		xc_text_add(text, owners[root->kind]);
}
