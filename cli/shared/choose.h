/* choose: `--thread N|all|crashed` and `--frame N`, the same for every command that has them. */
#ifndef XC_CHOOSE_H
#define XC_CHOOSE_H

#include "core/process/process.h"
#include "dwarf/stack/backtrace.h"
#include "dwarf/stack/frame_scope.h"
#include "cli/command.h"

/* Settings and options of commands that evaluate names in a frame of a thread. */
struct xc_spot {
	const char *thread;
	unsigned frame;
};

extern const char *const xc_choose_words[], *const xc_choose_one_words[];

/* --thread of commands that show several threads; `member` is the field of their settings. */
#define XC_THREADS_OPTION(member)                                                                                      \
	{                                                                                                              \
		.name = "thread", .kind = XC_OPTION_TEXT, .offset = offsetof(struct settings, member),                 \
		.value = "WHICH",                                                                                      \
		.about = "a thread id, all, or crashed; default: the crashed thread, or all when none crashed",        \
		.words = xc_choose_words                                                                               \
	}

/* --thread of commands that evaluate names in one thread. */
#define XC_THREAD_OPTION(member, text)                                                                                 \
	{                                                                                                              \
		.name = "thread", .kind = XC_OPTION_TEXT, .offset = offsetof(struct settings, member),                 \
		.value = "WHICH", .about = text, .words = xc_choose_one_words                                          \
	}

#define XC_SPOT_OPTIONS                                                                                                \
	{.name = "thread",                                                                                             \
	 .kind = XC_OPTION_TEXT,                                                                                       \
	 .offset = offsetof(struct xc_spot, thread),                                                                   \
	 .value = "WHICH",                                                                                             \
	 .about = "evaluate in this thread: a thread id, or crashed (the default)",                                    \
	 .words = xc_choose_one_words},                                                                                \
	{                                                                                                              \
		.name = "frame", .kind = XC_OPTION_NUMBER, .offset = offsetof(struct xc_spot, frame), .value = "N",    \
		.about = "evaluate in frame N of its stack; default: 0", .min = 0, .max = 4000000                      \
	}

/* Check the text before anything is opened; NULL is fine. Errors: XC_ERR_USAGE. */
XC_MUST_CHECK struct xc_error *xc_choose_check(const char *text);

/* The threads that `text` selects. NULL: the crashed one if there is one, else all. Errors: XC_ERR_NOT_FOUND for a
 * thread that the target does not have, and for `crashed` when none crashed. */
XC_MUST_CHECK struct xc_error *xc_choose_threads(const struct xc_process *process, const char *text,
						 enum xc_thread_choice *choice_out, pid_t *tid_out);

/* Does the choice include this thread? */
bool xc_choose_takes(enum xc_thread_choice choice, pid_t tid, const struct xc_thread *thread);

/* For commands that use one thread: check `--thread N|crashed`, and find the thread. For NULL and `crashed`
 * *thread_out is NULL: the crashed thread, else the first. Errors as above. */
XC_MUST_CHECK struct xc_error *xc_choose_one_check(const char *text);
XC_MUST_CHECK struct xc_error *xc_choose_one(const struct xc_process *process, const char *text,
					     const struct xc_thread **thread_out);

/* The scope of names in frame `frame` of that thread. Errors as above, and those of unwinding; xc_frame_scope_fini in
 * every case. */
XC_MUST_CHECK struct xc_error *xc_choose_frame_scope(const struct xc_process *process, const char *text, unsigned frame,
						     struct xc_frame_scope *out);

/* The address that the operand `name` denotes in a frame of a thread. spot NULL: frame 0 of the default thread. */
XC_MUST_CHECK struct xc_error *xc_choose_address(const struct xc_job *job, const struct xc_spot *spot, const char *name,
						 xc_addr *addr_out);

#endif
