/* perf_event: perf_event_open(2): which events exist for us on this host, and how one is opened.
 *
 * An event samples one thread on one processor. Nothing of the target is touched: the kernel's timer interrupts the
 * thread, as it does at each tick, and copies registers and stack. Layouts and rules: perf_event_open(2) of man-pages
 * 6.03, include/uapi/linux/perf_event.h of Linux 6.1. */
#ifndef XC_PERF_EVENT_H
#define XC_PERF_EVENT_H

#include <sys/types.h>

#include "core/base/error.h"
#include "core/perf/perf_counter.h"

/* When a sample is taken. */
enum xc_perf_event {
	XC_PERF_CPU_TIME, /* after a period of CPU time of the thread; or, with a counter, of its events */
	XC_PERF_SWITCHES, /* each time the thread leaves its processor; with records of when it leaves and comes back */
	XC_PERF_EVENTS,
};

/* How samples are taken. */
struct xc_perf_setup {
	bool events[XC_PERF_EVENTS];
	uint64_t period_ns;                    /* CPU time of a thread between two samples; more than 1 */
	const struct xc_perf_counter *counter; /* instead of CPU time; NULL */
	uint32_t hz;      /* samples in a second, about, of a counter of the processor: their period is in each */
	uint64_t every;   /* between two samples of a counter of the kernel: so many events */
	uint32_t stack;   /* bytes of user stack copied with each, a multiple of 8 */
	uint32_t wakeup;  /* bytes in a ring that wake a reader */
	bool kernel;      /* also while the thread is in the kernel, with the kernel's frames; else switches have
			     * only their records, no samples */
	bool children;    /* follow processes that the target forks */
	bool own_lost;    /* the kernel counts what each event lost (Linux 6.0) */
	bool own_threads; /* the kernel can follow threads without children (Linux 5.13) */
};

/* The best setup that this kernel allows for thread `tid`: `wanted` less what it refuses, `kernel` above all. Errors:
 * XC_ERR_PERMISSION and XC_ERR_UNSUPPORTED, with the rule that refuses and what would allow it, also for counters that
 * this host does not have; XC_ERR_NOT_FOUND when the thread has ended. */
XC_MUST_CHECK struct xc_error *xc_perf_choose(pid_t tid, const struct xc_perf_setup *wanted,
					      struct xc_perf_setup *setup_out);

/* Open an event, which starts at once. Returns a descriptor, or -errno: -ESRCH, the thread has ended; -ENODEV, there is
 * no such processor; -EMFILE. */
int xc_perf_open(const struct xc_perf_setup *setup, enum xc_perf_event event, pid_t tid, int cpu);

/* Have samples of this setup their period? */
bool xc_perf_has_period(const struct xc_perf_setup *setup);

/* The kernel's setting perf_event_paranoid; 2, its default, when it cannot be read. */
int xc_perf_paranoid(void);

#endif
