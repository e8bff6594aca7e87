/* watchdog_impl: the state of the watchdog, which its files share. */
#ifndef XC_WATCHDOG_IMPL_H
#define XC_WATCHDOG_IMPL_H

#include <signal.h>
#include <termios.h>

#include "core/base/text.h"
#include "core/base/shared_status.h"
#include "core/io/stall.h"

/* Milliseconds; nanoseconds in one. */
enum { WATCHDOG_MOMENT_MS = 100 }; /* for helpers, for killed processes, and between looks when time is short */
#define WATCHDOG_MS UINT64_C(1000000)

struct xc_watchdog {
	pid_t child;
	struct xc_shared_status *told;
	unsigned
		silent_count; /* directories that did not answer: the watchdog's own copy of told->unresponsive_count */
	sigset_t awaited, blocked; /* signals that the watchdog waits for; those that were blocked before */
	struct xc_stall stall;
	bool looked;
	uint64_t clock_ms, looked_ns; /* time in which it could look: excludes time in which it was stopped itself */
	struct xc_stalled_thread reported; /* the last file that was named */
	int end_signal;                    /* the signal by which both processes are to end; 0: none */
	uint64_t end_ms;                   /* by clock_ms: when that signal came */
	uint64_t interrupt_ms;             /* when a SIGINT came that does not end the command; 0: none */
	bool has_terminal;
	struct termios terminal;
	int status; /* of the child, as from waitpid */
	bool ended;
};

/* ---- watchdog_helper.c: work that may hang is done by another process, which gets a moment ---- */

/* fork(2) with one table of file descriptors for both processes; a plain fork where the kernel refuses that. */
pid_t xc_watchdog_fork_sharing(void);

/* Run work in a helper. False: it was killed because it did not end in time. */
bool xc_watchdog_help(void (*work)(const struct xc_watchdog *w, void *user), const struct xc_watchdog *w, void *user);

/* Write a text to standard error. */
void xc_watchdog_write(const struct xc_watchdog *w, const struct xc_text *text);

/* Where a line of progress is on the terminal, the next message replaces it. */
void xc_watchdog_begin_line(const struct xc_watchdog *w, struct xc_text *text);

/* Append "xcore: PATH" for the file that a thread waits for, as messages show it. */
void xc_watchdog_add_name(const struct xc_watchdog *w, const struct xc_stalled_thread *stalled, struct xc_text *text);

/* ---- watchdog_end.c: the end of both processes ---- */

/* Has the child ended? Its status is then known. */
bool xc_watchdog_has_ended(struct xc_watchdog *w);

/* Kill the child, and the processes that it has started if it does not die. */
void xc_watchdog_kill(struct xc_watchdog *w);

/* Remove the temporary files of the child. A helper's work. */
void xc_watchdog_remove_temporaries(const struct xc_watchdog *w, void *user);

/* Is it a pipe, socket or terminal? Calls on it then do not reach a file system. */
bool xc_watchdog_is_stream(int fd);

/* Kill, restore the terminal, close the streams, remove temporary files. */
void xc_watchdog_clean_up(struct xc_watchdog *w);

/* End as the child ended. */
_Noreturn void xc_watchdog_end_as_child(struct xc_watchdog *w);

/* End by w->end_signal, without the child. stalled: the file that blocks it, or NULL. */
_Noreturn void xc_watchdog_end_now(struct xc_watchdog *w, const struct xc_stalled_thread *stalled);

#endif
