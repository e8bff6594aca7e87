/* choose: threads by id, or by the words all and crashed. */
#include "cli/shared/choose.h"

#include <limits.h>
#include <string.h>

#include "dwarf/cexpr/address.h"

const char *const xc_choose_words[] = {"all", "crashed", NULL};
const char *const xc_choose_one_words[] = {"crashed", NULL};

struct xc_error *xc_choose_check(const char *text)
{
	uint64_t tid;
	if (!text || strcmp(text, "all") == 0 || strcmp(text, "crashed") == 0 || xc_options_number(text, INT_MAX, &tid))
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "--thread: '%s' is neither a thread id, 'all' nor 'crashed'", text);
}

static bool has_crashed(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].crashed)
			return true;
	return false;
}

static struct xc_error *no_thread(const struct xc_process *process, const char *text)
{
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "%s: no thread %s", process->target, text),
			     "`xcore threads` lists them");
}

struct xc_error *xc_choose_threads(const struct xc_process *process, const char *text,
				   enum xc_thread_choice *choice_out, pid_t *tid_out)
{
	bool crashed = has_crashed(process);
	uint64_t tid;
	if (!text)
		*choice_out = crashed ? XC_THREADS_CRASHED : XC_THREADS_ALL;
	else if (strcmp(text, "all") == 0)
		*choice_out = XC_THREADS_ALL;
	else if (strcmp(text, "crashed") != 0) {
		if (!xc_options_number(text, INT_MAX, &tid) || !xc_process_thread(process, (pid_t)tid))
			return no_thread(process, text);
		*choice_out = XC_THREADS_ONE;
		*tid_out = (pid_t)tid;
	} else if (crashed)
		*choice_out = XC_THREADS_CRASHED;
	else
		return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "%s: no thread crashed", process->target),
				     "--thread all shows every thread");
	return NULL;
}

struct xc_error *xc_choose_one_check(const char *text)
{
	uint64_t tid;
	if (!text || strcmp(text, "crashed") == 0 || xc_options_number(text, INT_MAX, &tid))
		return NULL;
	return xc_error_new(XC_ERR_USAGE, "--thread: '%s' is neither a thread id nor 'crashed'", text);
}

struct xc_error *xc_choose_one(const struct xc_process *process, const char *text, const struct xc_thread **thread_out)
{
	uint64_t tid;
	*thread_out = NULL;
	if (!text || strcmp(text, "crashed") == 0 || !xc_options_number(text, INT_MAX, &tid))
		return NULL;
	if ((*thread_out = xc_process_thread(process, (pid_t)tid)))
		return NULL;
	return no_thread(process, text);
}

bool xc_choose_takes(enum xc_thread_choice choice, pid_t tid, const struct xc_thread *thread)
{
	return choice == XC_THREADS_ALL || (choice == XC_THREADS_ONE ? thread->tid == tid : thread->crashed);
}

struct xc_error *xc_choose_frame_scope(const struct xc_process *process, const char *text, unsigned frame,
				       struct xc_frame_scope *out)
{
	const struct xc_thread *thread;
	*out = (struct xc_frame_scope){.process = process};
	struct xc_error *err = xc_choose_one(process, text, &thread);
	return err ? err : xc_frame_scope_open(out, process, thread, frame);
}

struct xc_error *xc_choose_address(const struct xc_job *job, const struct xc_spot *spot, const char *name,
				   xc_addr *addr_out)
{
	const struct xc_thread *thread;
	struct xc_error *err = xc_choose_one(job->process, spot ? spot->thread : NULL, &thread);
	return err ? err
		   : xc_address_parse(job->process, thread, spot ? spot->frame : 0, xc_job_operand(job, name),
				      addr_out);
}
