/* profile_data: a finished profile, apart from how it was taken: where samples were counted, by name.
 *
 *	sum = a stack, what is waited for, a thread, a value of the dimension ─→ samples
 *	series = a sum, a slice of the time ─→ samples
 *	stack = a node ─→ its caller's node ─→ … ─→ node 0, which is no frame
 *	node ─→ frame = a function at a line ─→ function = a name in a module
 *
 * Every view (report, flame graphs, pages, files) is made of this alone. All is in tables of numbers, which refer to
 * rows of other tables and to texts; profile_tables.h describes them once for all who read or write whole tables. A
 * sample stands for `period` units: nanoseconds, or events. */
#ifndef XC_PROFILE_DATA_H
#define XC_PROFILE_DATA_H

#include <sys/types.h>

#include "core/text/intern.h"
#include "profile/data/profile_facts.h"

enum xc_profile_frame_kind {
	XC_PROFILE_NATIVE,
	XC_PROFILE_INLINED, /* into its caller */
	XC_PROFILE_KERNEL,
	XC_PROFILE_SIGNAL,      /* the kernel called a signal handler here */
	XC_PROFILE_GUESS,       /* the frame may be wrong */
	XC_PROFILE_INTERPRETED, /* a function of a program that an interpreter runs */
	XC_PROFILE_JIT,         /* the same, compiled while it runs */
	XC_PROFILE_REMARK,      /* no function: "[torn]" */
	XC_PROFILE_FRAME_KINDS, /* their number */
};

/* Texts are numbers (xc_profile_data_text). */

struct xc_profile_function {
	uint32_t name;     /* "ns::Class::method", "do_sys_poll", "??" */
	uint32_t module;   /* "libc.so.6", "[kernel]"; 0: of none */
	uint32_t language; /* of interpreted functions: "lua"; 0: native */
};

struct xc_profile_frame {
	uint32_t function, file, line; /* file 0, line 0: unknown */
	uint32_t kind;                 /* enum xc_profile_frame_kind */
};

struct xc_profile_node {
	uint32_t parent; /* the caller's node, of a lower number; 0, the root, is no frame */
	uint32_t frame;
};

struct xc_profile_thread {
	uint64_t pid, tid;
	uint32_t name; /* 0: unknown */
};

/* What is waited for. The first row is no wait: the thread runs. */
struct xc_profile_wait {
	uint32_t text;       /* "mutex `queue.lock`, held by thread 17" */
	uint32_t event_loop; /* 1: a thread that waits for it looks for work */
};

struct xc_profile_sum {
	uint32_t stack, wait, thread;
	uint32_t value; /* of the dimension by which samples are told apart besides: a text, "/api/users"; 0: none */
	uint64_t samples;
	uint64_t squares; /* the sum of squares of what each observation added to samples: tells the error of the sum */
};

/* A part of a sum: the samples in one slice of the time. */
struct xc_profile_part {
	uint32_t sum, slice;
	uint64_t samples;
};

enum xc_profile_unit {
	XC_PROFILE_NS,     /* of time */
	XC_PROFILE_EVENTS, /* of what `events` names */
	XC_PROFILE_UNITS,
};

/* The facts that views compute with. */
struct xc_profile_head {
	uint32_t title;               /* "CPU time of pid:17" */
	uint32_t account;             /* "1203 samples in 10.0 s; 0 lost, …": a line for output without the account */
	uint32_t target;              /* "live process 17, nginx: …": one line */
	uint32_t unit;                /* enum xc_profile_unit: of a period */
	uint32_t events;              /* "page faults" */
	uint32_t by;                  /* the dimension of values: "nginx.location"; 0: there are none */
	uint32_t runs;                /* 1: threads were sampled as they ran; */
	uint32_t waits;               /* 1: also, or only, as they waited */
	uint32_t slices;              /* slices of the time: at most XC_PROFILE_SLICES */
	uint64_t period;              /* units that a sample stands for */
	uint64_t slice_ns, length_ns; /* of a slice, of the whole */
	uint64_t begun_ns;            /* since 1970; 0: unknown */
};

enum { XC_PROFILE_SLICES = 1000, XC_PROFILE_DEPTH = 1 << 17 /* frames of a stack */ };

struct xc_profile_data {
	struct xc_intern texts;       /* number 0 is "", which stands for none */
	struct xc_profile_head *head; /* one row */
	struct xc_profile_facts target, account;
	struct xc_profile_function *functions;
	struct xc_profile_frame *frames;
	struct xc_profile_node *nodes;
	struct xc_profile_thread *threads;
	struct xc_profile_wait *waits;
	struct xc_profile_sum *sums;
	struct xc_profile_part *parts; /* of rising sums, and of each of rising slices */
	size_t head_count, function_count, frame_count, node_count, thread_count, wait_count, sum_count, part_count;
	size_t function_room, frame_room, node_room, thread_room, wait_room, sum_room, part_room;
	struct xc_hashtable numbers; /* of rows, by what they hold, while the data is made */
};

/* Empty: with the root, and the wait that is none. */
struct xc_profile_data *xc_profile_data_new(void);
void xc_profile_data_free(struct xc_profile_data *data); /* NULL is fine */

/* A text by its number; NULL for 0. Valid until the free. */
static inline const char *xc_profile_data_text(const struct xc_profile_data *data, uint32_t number)
{
	return number ? data->texts.texts[number] : NULL;
}

/* The number of a text, which is copied; 0 for NULL. */
uint32_t xc_profile_data_add_text(struct xc_profile_data *data, const char *text);

/* The number of a function, a frame, a node, a thread, a wait; equal ones have one number. Each O(1). */
uint32_t xc_profile_data_add_function(struct xc_profile_data *data, const char *name, const char *module,
				      const char *language);
uint32_t xc_profile_data_add_frame(struct xc_profile_data *data, uint32_t function, const char *file, unsigned line,
				   enum xc_profile_frame_kind kind);
uint32_t xc_profile_data_add_node(struct xc_profile_data *data, uint32_t parent, uint32_t frame);
uint32_t xc_profile_data_add_thread(struct xc_profile_data *data, pid_t pid, pid_t tid, const char *name);
uint32_t xc_profile_data_add_wait(struct xc_profile_data *data, const char *text, bool event_loop);

/* Add samples to the sum of these. Returns its number. */
uint32_t xc_profile_data_add_sum(struct xc_profile_data *data, const struct xc_profile_sum *sum);

/* Add samples of a sum in a slice; in any order, xc_profile_data_sort follows. */
void xc_profile_data_add_part(struct xc_profile_data *data, const struct xc_profile_part *part);
void xc_profile_data_sort(struct xc_profile_data *data);

/* Samples of all sums; of those that wait. */
uint64_t xc_profile_data_samples(const struct xc_profile_data *data);
uint64_t xc_profile_data_waiting(const struct xc_profile_data *data);

#endif
