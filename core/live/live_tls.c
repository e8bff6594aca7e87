/* live_tls: finds the thread descriptor, and so the thread-local storage, of each thread of a running process.
 *
 * No file of /proc shows the thread pointer. But the kernel stores the address of the list of robust mutexes of each
 * thread, and get_robust_list(2) returns it to any process that may read the target, without ptrace and without a stop.
 * The C library registers the list when a thread starts, and its head is a member of the descriptor (glibc 2.26 to
 * 2.41: struct pthread in nptl/descr.h; registered in nptl/pthread_create.c, for the first thread in nptl/nptl-init.c,
 * later sysdeps/nptl/dl_tls_init_tp.c). Where the thread pointer is the address of the descriptor, as on x86, the
 * descriptor begins with that address (sysdeps/x86_64/nptl/tls.h, tcbhead_t):
 *
 * 	tp -> | tp | dtv | tp | …  | robust list: itself, or the first mutex | … |      +0x2e0 in 2.36
 *
 * Otherwise the thread pointer is unknown: musl registers no list before a robust mutex is taken, and the kernel
 * returns the list of a 32-bit process only to a 32-bit process. */
#include "core/live/live_tls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	DESCRIPTOR = 0x1000, /* the largest offset of the list in the descriptor */
	ALIGNMENT = 16,      /* of descriptors */
};

struct search {
	struct xc_process *process;
	uint64_t distance; /* offset of the list in the descriptor, once one is found: the same for all */
};

static bool word_is(const struct xc_process *p, xc_addr addr, uint64_t wanted)
{
	uint64_t word;
	return xc_space_peek_uint(p->space, addr, p->arch->word, &word) && word == wanted;
}

static bool is_descriptor(const struct xc_process *p, xc_addr at)
{
	return word_is(p, at, at) && word_is(p, at + 2U * p->arch->word, at);
}

/* The robust list of a thread; 0 when there is none or the kernel refuses. */
static xc_addr robust_list(pid_t tid)
{
	void *head = NULL;
	size_t size = 0;
	return syscall(SYS_get_robust_list, tid, &head, &size) == 0 ? (xc_addr)(uintptr_t)head : 0;
}

/* The descriptor that the list is in. */
static bool find_around(struct search *s, xc_addr list, xc_addr *tp_out)
{
	xc_addr nearest = list - list % ALIGNMENT;
	if (list < DESCRIPTOR)
		return false;
	if (s->distance && is_descriptor(s->process, list - s->distance)) {
		*tp_out = list - s->distance;
		return true;
	}
	for (xc_addr at = nearest; nearest - at < DESCRIPTOR; at -= ALIGNMENT)
		if (is_descriptor(s->process, at)) {
			s->distance = list - at;
			*tp_out = at;
			return true;
		}
	return false;
}

void xc_live_tls_find(struct xc_process *process)
{
	const struct xc_arch *arch = process->arch;
	struct search s = {.process = process};
	for (size_t i = 0; i < process->thread_count && arch->tls.tp >= 0 && arch->tls.below; i++) {
		struct xc_thread *thread = &process->threads[i];
		xc_addr list = robust_list(thread->tid), tp;
		if (list && find_around(&s, list, &tp))
			xc_regs_set(&thread->regs, arch->tls.tp, tp);
	}
}
