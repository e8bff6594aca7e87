/* forecast: does a loop ever end? Its instructions are run on a copy of what the thread has. */
#ifndef XC_FORECAST_H
#define XC_FORECAST_H

#include "core/base/text.h"
#include "triage/code/loop.h"
#include "triage/dataflow/frame_code.h"
#include "triage/emulator/emulator.h"

#define XC_FORECAST_FOREVER (UINT64_C(1) << 46) /* rounds: a day, at a nanosecond for each */

enum xc_forecast_kind {
	XC_FORECAST_NONE,    /* it ends, goes on in a way that cannot be foreseen, or makes system calls */
	XC_FORECAST_REPEATS, /* nothing that decides in it changes any more */
	XC_FORECAST_NEVER,   /* what it compares changes by the same amount in each round, and never meets */
	XC_FORECAST_FAR,     /* it meets, after XC_FORECAST_FOREVER or more */
	XC_FORECAST_AWAY,    /* it moves away, and meets when it has gone round, past the largest number or 0 */
};

struct xc_forecast {
	enum xc_forecast_kind kind;
	bool shared; /* what decides was read from memory that another thread may change */
	/* It makes a system call, and what is said holds while the kernel answers so; call -1: none. `seen`: what the
	 * program keeps of the answer is in its memory now. */
	long call;
	int fd, answer;
	bool seen;
	uint64_t period;             /* REPEATS: so many rounds are the same again and again */
	struct xc_emulated_sum lost; /* REPEATS: a sum in it that changes nothing */
	const char *idle; /* REPEATS: what is added, and is 0, to a number that decides (idle_step.h); or NULL */
	uint64_t rounds;  /* FAR, AWAY */
	/* NEVER, FAR, AWAY: the comparison, with what changes in `value`. */
	uint64_t value, bound;
	int64_t step;
	uint32_t size;
	bool is_signed;  /* they are compared as signed numbers */
	bool called;     /* NEVER: what the loop calls may change the bound */
	uint32_t narrow; /* NEVER, of which only the bound is known: bytes of a number that is too small for it; or 0 */
};

/* Of a loop of frames[frame] of the context; the thread must be in it, or in what it calls. What holds if nobody else
 * changes what it reads, and no signal comes. A call that reads or writes is taken to return 0, or -EAGAIN. Runs
 * 200,000 instructions at most, and as many again for each of the two answers: 20 ms each. `purse`: instructions that
 * may be run beyond that, of which 1,000,000 at once; what is used of it is taken. */
struct xc_forecast xc_forecast_loop(const struct xc_frame_code *code, const struct xc_loop *loop, uint64_t *purse);

/* Append ": nothing that decides in it changes any more", ": a number that changes by -2 in each round (it will soon be
 * 7) is compared with 0, and never gets there". Nothing for NONE. */
void xc_forecast_describe(const struct xc_forecast *forecast, struct xc_text *text);

#endif
