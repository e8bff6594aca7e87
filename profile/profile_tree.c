#include "profile/profile_tree.h"

#include "profile/wait_targets.h"

enum { MOST = 2 * XC_SAMPLE_FRAMES, LEAVES = 1 };

size_t xc_profile_functions(const struct xc_profile *p, const struct xc_frame_names *n, uint32_t stack,
			    const struct xc_frame_name **functions_out, size_t room)
{
	size_t count = 0;
	for (uint32_t node = stack; node; node = p->store.nodes[node].parent) {
		const uint32_t place = p->store.nodes[node].place;
		for (uint32_t i = n->starts[place]; i < n->starts[place + 1]; i++, count++)
			if (count < room)
				functions_out[count] = &n->names[i];
	}
	return count;
}

/* "[waits: mutex `m`]"; NULL: it runs. Malloc'ed. */
static char *wait_text(const struct xc_profile *p, uint32_t what)
{
	return what ? xc_asprintf("[waits: %s]", xc_wait_targets_text(p->targets, what)) : NULL;
}

void xc_profile_tree(struct xc_stacktree *tree, const struct xc_profile *p, const struct xc_frame_names *n)
{
	xc_auto(xc_freep) const struct xc_frame_name **functions = xc_alloc(MOST * sizeof *functions);
	xc_auto(xc_freep) const char **texts = xc_alloc(MOST * sizeof *texts);
	for (size_t i = 0; i < p->count; i++) {
		xc_auto(xc_freep) char *leaf = wait_text(p, p->counts[i].what);
		size_t count = xc_profile_functions(p, n, p->counts[i].stack, functions, MOST);
		count = count < MOST - LEAVES ? count : MOST - LEAVES;
		for (size_t k = 0; k < count; k++)
			texts[k] = n->functions[functions[count - 1 - k]->function].name;
		if (!count)
			texts[count++] = "[no stack]";
		if (leaf)
			texts[count++] = leaf;
		xc_stacktree_add(tree, texts, count, p->counts[i].samples);
	}
}
