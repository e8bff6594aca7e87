/* perf_record: the records of a ring, as the kernel writes them for the events of perf_event.h. */
#ifndef XC_PERF_RECORD_H
#define XC_PERF_RECORD_H

#include <sys/types.h>

#include "core/base/base.h"

enum xc_perf_kind {
	XC_PERF_SAMPLE,
	XC_PERF_LOST,     /* `count` records were lost */
	XC_PERF_THROTTLE, /* the kernel paused an event, because its interrupts took too much time */
	XC_PERF_FORK,     /* thread `tid` began */
	XC_PERF_EXIT,     /* thread `tid` ended */
	XC_PERF_COMM,     /* thread `tid` has another name; `exec`: by executing another program */
	XC_PERF_MMAP,     /* code was mapped */
	XC_PERF_SWITCH, /* thread `tid` left its processor (`out`; `preempted`: it could have gone on), or came back */
	XC_PERF_OTHER,  /* of no interest, or of a later kernel */
};

/* A record. Pointers lead into the bytes that it was read from. */
struct xc_perf_record {
	enum xc_perf_kind kind;
	pid_t pid, tid;
	pid_t parent;     /* FORK: the thread that began it */
	const char *name; /* COMM */
	uint64_t time_ns; /* of CLOCK_MONOTONIC */
	uint32_t cpu;     /* samples only */
	uint64_t count;
	bool exec, out, preempted;
	uint64_t period;        /* of a sample: what it stands for, ns of CPU time or events */
	bool at_switch;         /* a sample that stands for 1: taken when the thread left its processor */
	bool in_kernel;         /* a sample of a thread in the kernel */
	const uint64_t *kernel; /* the kernel's frames, innermost first: addresses */
	size_t kernel_count;
	const uint64_t *regs; /* user registers (perf_regs.h); NULL: there are none, in threads of the kernel */
	const uint8_t *stack; /* the user stack from the stack pointer on */
	size_t stack_len;
};

/* Read the record of `len` bytes, aligned to 8. has_period: samples tell theirs; else it is 0. False: it is
 * malformed. */
bool xc_perf_record_read(const uint8_t *bytes, size_t len, bool has_period, struct xc_perf_record *record_out);

#endif
