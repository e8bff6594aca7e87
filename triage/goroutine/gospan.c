/* gospan: of Go 1.12 to 1.22 on 64-bit Linux (runtime/malloc.go, mheap.go):
 *
 *  mheap_.arenas [1] ──→ [4 Mi] ──→ heapArena { …, spans [8192] ──→ mspan { startAddr, npages, elemsize, … } }
 *
 * An arena is 64 MiB, a page 8 KiB. An mspan has spanclass and state, too. The lowest bit of spanclass: no pointers.
 * Stacks are spans of another state. */
#include "triage/goroutine/gospan.h"

#include <elf.h>
#include <stdlib.h>

enum { PAGE_BITS = 13, ARENA_BITS = 26, ARENAS = 1 << 22, PAGES = 1 << 20, IN_USE = 1, NO_POINTERS = 1 };

static bool open(struct xc_gospans *s)
{
	xc_addr heap;
	uint64_t size;
	unsigned machine = s->go->process->arch->machine;
	if (s->opened)
		return s->known;
	s->opened = true;
	s->known = (machine == EM_X86_64 || machine == EM_AARCH64) &&
		   xc_goruntime_variable(s->go, "runtime.mheap_", &heap, &size) &&
		   xc_goruntime_read(s->go, "runtime.mheap", heap, "arenas", &s->arenas) && s->arenas &&
		   xc_goruntime_offset(s->go, "runtime.heapArena", "spans", &s->spans, &size) &&
		   size == UINT64_C(8) << (ARENA_BITS - PAGE_BITS);
	return s->known;
}

/* On amd64 the first arena is that of the lowest negative address. */
static uint64_t arena_of(const struct xc_gospans *s, xc_addr addr)
{
	xc_addr offset = s->go->process->arch->machine == EM_X86_64 ? UINT64_C(1) << 47 : 0;
	return (addr + offset) >> ARENA_BITS;
}

static bool read_span(const struct xc_gospans *s, xc_addr addr, struct xc_gospan *out)
{
	const struct xc_goruntime *go = s->go;
	uint64_t arena, span, pages, class, state;
	uint64_t number = arena_of(s, addr), page = addr >> PAGE_BITS & ((1 << (ARENA_BITS - PAGE_BITS)) - 1);
	if (number >= ARENAS || !xc_space_peek_uint(go->process->space, s->arenas + 8 * number, 8, &arena) || !arena ||
	    !xc_space_peek_uint(go->process->space, arena + s->spans + 8 * page, 8, &span) || !span ||
	    !xc_goruntime_read(go, "runtime.mspan", span, "startAddr", &out->from) ||
	    !xc_goruntime_read(go, "runtime.mspan", span, "npages", &pages) ||
	    !xc_goruntime_read(go, "runtime.mspan", span, "elemsize", &out->size) ||
	    !xc_goruntime_read(go, "runtime.mspan", span, "spanclass", &class) ||
	    (!xc_goruntime_read(go, "runtime.mspan", span, "state.s", &state) &&
	     !xc_goruntime_read(go, "runtime.mspan", span, "state.s.value", &state)))
		return false;
	out->end = out->from + (pages << PAGE_BITS);
	out->has_pointers = !(class & NO_POINTERS);
	return state == IN_USE && out->size && addr >= out->from && addr < out->end;
}

static const struct xc_gospan *span_of(struct xc_gospans *s, xc_addr addr)
{
	struct xc_gospan one;
	uint64_t *place = &xc_hashtable_at(&s->pages, NULL, addr >> PAGE_BITS, 1)->number;
	enum { NONE = 1 };
	if (*place)
		return *place == NONE ? NULL : &s->items[*place - NONE - 1];
	if (!read_span(s, addr, &one)) {
		*place = NONE;
		return NULL;
	}
	s->items = xc_grow(s->items, s->count, &s->room, sizeof *s->items);
	s->items[s->count++] = one;
	*place = s->count + NONE;
	return &s->items[s->count - 1];
}

bool xc_gospans_object(struct xc_gospans *s, xc_addr addr, struct xc_goobject *out)
{
	if (!open(s) || s->pages.count >= PAGES)
		return false;
	const struct xc_gospan *span = span_of(s, addr);
	if (!span)
		return false;
	out->size = span->size;
	out->addr = span->from + (addr - span->from) / span->size * span->size;
	out->has_pointers = span->has_pointers;
	return out->addr + out->size <= span->end;
}

bool xc_gospans_known(struct xc_gospans *s)
{
	return open(s);
}

void xc_gospans_fini(struct xc_gospans *s)
{
	xc_hashtable_fini(&s->pages);
	free(s->items);
}
