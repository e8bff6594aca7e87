/* choose: `--thread N|all|crashed`, the same for every command that has it. */
#ifndef XC_CHOOSE_H
#define XC_CHOOSE_H

#include "../core/process.h"
#include "../dwarf/backtrace.h"

/* Check the text before anything is opened; NULL is fine. Errors: XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_choose_check(const char *text);

/* Which threads `text` means. NULL: the crashed one if there is one, else all. Errors: XC_ERR_NOT_FOUND for a thread
 * that the target does not have, and for `crashed` where none is. */
XC_MUST_CHECK struct xc_error *xc_choose_threads(const struct xc_process *process, const char *text,
						 enum xc_thread_choice *choice_out, pid_t *tid_out);

/* True when the choice takes this thread. */
bool xc_choose_takes(enum xc_thread_choice choice, pid_t tid, const struct xc_thread *thread);

/* Of commands that look at one thread: check `--thread N|crashed`, and find it; NULL (and then *thread_out is NULL): the crashed
 * one, else the first. Errors as above. */
XC_MUST_CHECK struct xc_error *xc_choose_one_check(const char *text);
XC_MUST_CHECK struct xc_error *xc_choose_one(const struct xc_process *process, const char *text,
					     const struct xc_thread **thread_out);

#endif
