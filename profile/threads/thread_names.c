#include "profile/threads/thread_names.h"

#include <stdio.h>
#include <string.h>

#include "core/live/live.h"
#include "core/live/live_proc.h"

enum { MOST = 1 << 17 }; /* threads: more are without name */

void xc_thread_names_fini(struct xc_thread_names *n)
{
	xc_intern_fini(&n->texts);
	xc_hashtable_fini(&n->by_tid);
}

static void set(struct xc_thread_names *n, pid_t tid, const char *name)
{
	if (name && (n->by_tid.count < MOST || xc_hashtable_find(&n->by_tid, (uint64_t)tid, 1)))
		xc_hashtable_at(&n->by_tid, NULL, (uint64_t)tid, 1)->number = xc_intern(&n->texts, name) + 1;
}

static const char *known(const struct xc_thread_names *n, const struct xc_process *process, pid_t tid)
{
	const union xc_hashtable_value *found = xc_hashtable_find(&n->by_tid, (uint64_t)tid, 1);
	const struct xc_thread *thread = found ? NULL : xc_process_thread(process, tid);
	return found ? n->texts.texts[found->number - 1] : thread ? thread->name : NULL;
}

void xc_thread_names_take(struct xc_thread_names *n, const struct xc_process *process, const struct xc_perf_record *r)
{
	if (r->kind == XC_PERF_COMM && r->name)
		set(n, r->tid, r->name);
	else if (r->kind == XC_PERF_FORK)
		set(n, r->tid, known(n, process, r->parent));
}

const char *xc_thread_names_find(struct xc_thread_names *n, const struct xc_process *process, pid_t tid)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	const char *name = known(n, process, tid);
	char file[40];
	snprintf(file, sizeof file, "%d/comm", (int)tid);
	if (name || xc_live_proc_read(xc_live_task_dir(process), file, &text) || !text.len)
		return name;
	text.bytes[strcspn(text.bytes, "\n")] = '\0';
	set(n, tid, text.bytes);
	return known(n, process, tid);
}
