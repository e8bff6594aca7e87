/* choose: `--thread N|all|crashed`, the same for every command that has it. */
#ifndef XC_CHOOSE_H
#define XC_CHOOSE_H

#include "core/process/process.h"
#include "dwarf/stack/backtrace.h"
#include "cli/options.h"

/* The settings of a command whose names are seen from a frame of a thread, and its options. */
struct xc_spot {
	const char *thread;
	unsigned frame;
};

extern const char *const xc_choose_one_words[];

#define XC_SPOT_OPTIONS                                                                                                \
	{.name = "thread",                                                                                             \
	 .kind = XC_OPTION_TEXT,                                                                                       \
	 .offset = offsetof(struct xc_spot, thread),                                                                   \
	 .value = "WHICH",                                                                                             \
	 .about = "names and registers as this thread sees them: its number, or crashed (the default)",                \
	 .words = xc_choose_one_words},                                                                                \
	{                                                                                                              \
		.name = "frame", .kind = XC_OPTION_NUMBER, .offset = offsetof(struct xc_spot, frame), .value = "N",    \
		.about = "as frame N of its stack sees them; 0 by default", .min = 0, .max = 4000000                   \
	}

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
