/* module_mapped: finds files with executable mappings that no list names: the list is lost, or the program mapped them
 * itself.
 *
 * A hostile core may have tens of thousands of mappings and modules, so a binary search decides whether a module covers
 * an address. */
#include "core/process/module_impl.h"

#include <stdlib.h>
#include <string.h>

/* The ranges of the known modules by lowest address, with the highest address that any module up to there reaches. */
struct cover {
	xc_addr *reach; /* parallel to p->by_address */
	size_t count;
	xc_addr added; /* end of what was added since, in address order; 0 for nothing */
};

static struct cover cover_modules(struct xc_process *p)
{
	xc_process_index(p);
	struct cover c = {.reach = xc_alloc(p->module_count * sizeof *c.reach), .count = p->module_count};
	for (size_t i = 0; i < c.count; i++) {
		xc_addr hi = p->by_address[i]->hi;
		c.reach[i] = i && c.reach[i - 1] > hi ? c.reach[i - 1] : hi;
	}
	return c;
}

static bool covered(const struct xc_process *p, const struct cover *c, xc_addr addr)
{
	size_t below = XC_LOWER_BOUND(c->count, i, p->by_address[i]->lo <= addr);
	return (below && c->reach[below - 1] >= addr) || (c->added && c->added >= addr);
}

/* The last mapping of the run that begins at start and belongs to one file. Anonymous mappings in between do not end
 * it. */
static const struct xc_mapping *run_end(const struct xc_process *p, const struct xc_mapping *start, bool *executable)
{
	const struct xc_mapping *last = start, *end = p->mappings + p->mapping_count;
	*executable = start->executable;
	for (const struct xc_mapping *m = start + 1; m < end; m++) {
		if (!m->path)
			continue;
		if (strcmp(m->path, start->path) != 0 || m->offset <= last->offset)
			break;
		*executable |= m->executable;
		last = m;
	}
	return last;
}

void xc_modules_add_mapped(struct xc_process *p)
{
	struct cover cover = cover_modules(p);
	for (size_t i = 0; i < p->mapping_count && p->module_count < XC_MAX_MODULES; i++) {
		const struct xc_mapping *start = &p->mappings[i];
		bool executable;
		struct xc_image image;
		if (!start->path || start->offset != 0 || covered(p, &cover, start->lo))
			continue;
		const struct xc_mapping *last = run_end(p, start, &executable);
		if (!executable)
			continue;
		bool headers = xc_module_read_image(p, start->lo, &image);
		uint8_t byte;
		bool readable = xc_space_peek(p->space, start->lo, &byte, 1) == 1;
		if (!headers && readable)
			continue;
		struct xc_module *m = xc_module_add(p, start->path, XC_MODULE_LIBRARY);
		m->lo = start->lo;
		m->hi = last->hi;
		m->build_id_lost = true;
		const struct xc_phdr *load = headers ? xc_module_first_load(&image) : NULL;
		if (load) { /* else the finder takes the bias from the file's headers */
			m->bias = start->lo - xc_module_page_down(load->vaddr);
			m->bias_known = true;
			xc_module_apply_image(p, m, &image);
		}
		cover.added = m->hi > cover.added ? m->hi : cover.added;
	}
	free(cover.reach);
}
