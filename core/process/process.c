/* process: creation, destruction and look-ups of any process. process_core.c opens cores, live.c running processes. */
#include "core/process/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/archive.h"

enum { MAX_REMARKS = 100 };

struct xc_process *xc_process_new(const char *target, bool live)
{
	struct xc_process *p = xc_alloc(sizeof *p);
	p->target = xc_arena_strdup(&p->arena, target);
	p->live = live;
	p->arch = xc_arch_host();
	p->space = xc_space_new();
	p->remarks_end = &p->remarks;
	return p;
}

void xc_process_close(struct xc_process *p)
{
	if (!p)
		return;
	if (p->live_close)
		p->live_close(p->live_state);
	for (size_t i = 0; i < p->module_count; i++)
		xc_source_close(p->modules[i]->file);
	xc_space_free(p->space);
	xc_source_close(p->core);
	xc_archive_close(p->archive);
	free(p->modules);
	free(p->by_address);
	free(p->threads);
	free(p->mappings);
	xc_arena_fini(&p->arena);
	free(p);
}

void xc_process_closep(struct xc_process **process)
{
	xc_process_close(*process);
}

void xc_process_remark(struct xc_process *p, const char *format, ...)
{
	char text[512];
	va_list args;
	if (p->remark_count >= MAX_REMARKS)
		return;
	if (++p->remark_count == MAX_REMARKS)
		format = "there is more damage; further remarks are left out";
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	struct xc_remark *remark = xc_arena_alloc(&p->arena, sizeof *remark);
	remark->text = xc_arena_strdup(&p->arena, text);
	*p->remarks_end = remark;
	p->remarks_end = &remark->next;
}

static int by_lo(const void *a, const void *b)
{
	const struct xc_module *x = *(struct xc_module *const *)a, *y = *(struct xc_module *const *)b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

void xc_process_index(struct xc_process *p)
{
	free(p->by_address);
	p->by_address = xc_alloc((p->module_count + 1) * sizeof(struct xc_module *));
	if (p->module_count) {
		memcpy(p->by_address, p->modules, p->module_count * sizeof(struct xc_module *));
		qsort(p->by_address, p->module_count, sizeof(struct xc_module *), by_lo);
	}
}

struct xc_module *xc_process_module(const struct xc_process *p, xc_addr addr)
{
	size_t below = XC_LOWER_BOUND(p->by_address ? p->module_count : 0, i, p->by_address[i]->lo <= addr);
	return below && addr <= p->by_address[below - 1]->hi ? p->by_address[below - 1] : NULL;
}

size_t xc_process_mapping_lower_bound(const struct xc_process *p, xc_addr addr)
{
	return XC_LOWER_BOUND(p->mapping_count, i, p->mappings[i].hi < addr);
}

const struct xc_mapping *xc_process_mapping(const struct xc_process *p, xc_addr addr)
{
	size_t at = xc_process_mapping_lower_bound(p, addr);
	return at < p->mapping_count && p->mappings[at].lo <= addr ? &p->mappings[at] : NULL;
}

struct xc_thread *xc_process_thread(const struct xc_process *p, pid_t tid)
{
	for (size_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	return NULL;
}

bool xc_process_auxv(const struct xc_process *p, unsigned type, uint64_t *value_out)
{
	if (type >= XC_COUNT(p->auxv) || !(p->auxv_known >> type & 1))
		return false;
	*value_out = p->auxv[type];
	return true;
}
