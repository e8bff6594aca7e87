/* namespace_tid: glibc stores the id of a thread in its descriptor, at the thread pointer (nptl/descr.h; the same
 * from 2.26 to 2.41, x86-64, checked with gdb's ptype /o in 2.36):
 *
 *	struct pthread     | … | self 8, at 16 | … | tid 4, at 720: 0 when the thread has ended | … |
 *
 * All threads of a process are in one pid namespace (pid_namespaces(7)), so a few damaged or lost descriptors do not
 * matter when the others agree with the list of threads. The kernel writes a core with the ids of the process's own
 * namespace (fs/binfmt_elf.c, fill_prstatus: task_pid_vnr, in the crashing thread). gdb and /proc show those of the
 * observer. */
#include "triage/waits/namespace_tid.h"

enum { SELF = 16, TID = 720, TID_MAX = 0x3fffffff };

pid_t xc_namespace_tid_at(const struct xc_process *p, xc_addr addr)
{
	uint64_t self, tid;
	bool is_one = xc_arch_is_x86_64(p->arch) && addr && xc_space_peek_uint(p->space, addr + SELF, 8, &self) &&
		      self == addr && xc_space_peek_uint(p->space, addr + TID, 4, &tid) && tid <= TID_MAX;
	return is_one ? (pid_t)tid : 0;
}

static pid_t id_of(const struct xc_process *p, const struct xc_thread *thread)
{
	uint64_t tp;
	return xc_regs_get(&thread->regs, p->arch->tls.tp, &tp) ? xc_namespace_tid_at(p, tp) : 0;
}

/* Two threads with the same id are unknown to the C library, and use the descriptor of another one: neither can be
 * identified. */
static size_t drop_doubles(struct xc_wait_id *ids, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && ids[end].tid == ids[i].tid;)
			end++;
		if (end == i + 1)
			ids[kept++] = ids[i];
	}
	return kept;
}

/* A single thread may run on its parent's descriptor, as after vfork. */
static void use_descriptors(struct xc_process *p, struct xc_waits *waits)
{
	struct xc_wait_id *ids = xc_arena_alloc(&p->arena, waits->count * sizeof *ids);
	size_t count = 0;
	for (size_t i = 0; i < waits->count; i++)
		if (waits->items[i].namespace_tid)
			ids[count++] = (struct xc_wait_id){.tid = waits->items[i].namespace_tid, .index = i};
	xc_wait_ids_sort(ids, count);
	waits->namespace_ids = ids;
	waits->namespace_id_count = drop_doubles(ids, count);
	waits->ids_are = waits->count > 1 && waits->namespace_id_count == waits->count ? XC_IDS_OTHERS : XC_IDS_UNKNOWN;
}

static void use_list(struct xc_waits *waits, bool is_same)
{
	for (size_t i = 0; i < waits->count; i++)
		waits->items[i].namespace_tid = waits->items[i].thread->tid;
	waits->namespace_ids = waits->ids;
	waits->namespace_id_count = waits->count;
	waits->ids_are = is_same ? XC_IDS_SAME : XC_IDS_UNKNOWN;
}

void xc_namespace_tid_find(struct xc_process *p, struct xc_waits *waits)
{
	size_t known = 0, equal = 0;
	bool by_kernel = !p->live && !p->core_maker;
	for (size_t i = 0; i < waits->count; i++) {
		struct xc_wait *wait = &waits->items[i];
		wait->namespace_tid = id_of(p, wait->thread);
		known += wait->namespace_tid != 0;
		equal += wait->namespace_tid && wait->namespace_tid == wait->thread->tid;
	}
	if (known && !equal)
		use_descriptors(p, waits);
	else
		use_list(waits, known ? equal > known / 2 : by_kernel);
}

const struct xc_wait *xc_namespace_tid_thread(const struct xc_waits *waits, pid_t id)
{
	const struct xc_wait_id *found = xc_wait_ids_find(waits->namespace_ids, waits->namespace_id_count, id);
	return found ? &waits->items[found->index] : NULL;
}

void xc_namespace_tid_describe(const struct xc_waits *waits, pid_t id, struct xc_text *text)
{
	xc_text_printf(text, waits->ids_are == XC_IDS_SAME ? "thread %d" : "the thread with id %d in its pid namespace",
		       (int)id);
}
