#include "owner.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graph.h"
#include "refs.h"
#include "stackword.h"
#include "whatis.h"

static void place_text(const struct xc_heap *heap, xc_addr at, struct xc_text *text)
{
	struct xc_what what = xc_what(heap->process, heap, at);
	xc_text_printf(text, "0x%" PRIx64 ", ", at);
	xc_what_text(heap->process, heap, &what, text);
}

static void root_text(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text)
{
	const struct xc_process *process = heap->process;
	const struct xc_thread *thread = root->owner < process->thread_count ? &process->threads[root->owner] : NULL;
	const char *name = root->kind == XC_ROOT_REGISTER ? xc_arch_reg_name(process->arch, (int)root->at) : NULL;
	if (root->kind == XC_ROOT_REGISTER) {
		xc_text_printf(text, "%s of thread %d", name ? name : "a vector register",
			       thread ? (int)thread->tid : 0);
	} else if (root->kind == XC_ROOT_STACK && thread) {
		struct xc_text frame = {0};
		xc_stackword_text(process, thread, root->at, &frame);
		xc_text_printf(text, "0x%" PRIx64 ", stack of thread %d%s%s", root->at, (int)thread->tid,
			       frame.len ? ", " : "", xc_text_string(&frame));
		xc_text_fini(&frame);
	} else {
		place_text(heap, root->at, text);
	}
}

void xc_owner_text(struct xc_heap *heap, uint32_t block, struct xc_text *text)
{
	struct xc_graph *graph;
	const struct xc_root *root;
	uint32_t *path = NULL;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err || xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE) {
		xc_error_free(err);
		return;
	}
	size_t length = xc_graph_path(graph, block, &path, &root);
	if (length == 0)
		xc_text_add(text, "nothing: it is leaked");
	else if (length == 1)
		root_text(heap, root, text);
	else
		place_text(heap, xc_refs_word(heap, path[length - 2], block), text);
	free(path);
}
