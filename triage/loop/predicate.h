/* predicate: what a thread waits for that waits in a loop: `while (!ready) pthread_cond_wait(…);`. */
#ifndef XC_PREDICATE_H
#define XC_PREDICATE_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"
#include "triage/loop/tested.h"

enum xc_predicate_state {
	XC_PREDICATE_UNKNOWN,
	XC_PREDICATE_NO_LOOP, /* the program's function that waits tests nothing afterwards */
	XC_PREDICATE_FALSE,   /* if it were woken now, it would wait again */
	XC_PREDICATE_TRUE,    /* it would go on: what it waits for is there, and nobody woke it since */
};

struct xc_predicate {
	enum xc_predicate_state state;
	const char *ends; /* "`pool.queued` (0) and `pool.stop` (0)": what the loop compares; NULL: not known */
	struct xc_written variables[XC_TESTED_VARIABLES]; /* of `ends`: those that are numbers */
	size_t variable_count;
	bool shared;       /* it is in memory that other processes may have, too */
	const char *where; /* "operator() (pool.cc:13)": the program's function that tests it; NULL: the loop itself */
};

/* Does the thread sleep for a time, as one does that asks again and again? */
bool xc_predicate_sleeps(const struct xc_wait *wait);

/* Of a wait for a condition, for the result of a future or for an atomic variable, and of a sleep: FALSE is then said
 * only where a round of the loop changes nothing at all. Runs the code after the wait on a copy of what the thread
 * has, at most 20,000 instructions, with the memory as it is now. In the report's arena. */
struct xc_predicate xc_predicate_look(const struct xc_crash_context *crash, const struct xc_wait *wait);

#endif
