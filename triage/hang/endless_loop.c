/* endless_loop: each thread that runs, from its innermost function of the program outward, and in each function from
 * the innermost loop outward. What is likely comes first, then what is a guess. */
#include "triage/hang/endless_loop.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "core/live/live.h"
#include "core/text/threadlabel.h"
#include "triage/hang/hang.h"
#include "triage/waits/waits.h"
#include "triage/loop/busy_loop.h"
#include "triage/loop/forecast.h"
#include "triage/loop/linked_loop.h"
#include "triage/loop/tested.h"
#include "triage/loop/thread_view.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { THREADS = 64, FRAMES = 8, FUNCTIONS = 3, LOOPS = 4, STEPS = 200, PURSE = 1000000 /* 0.1 s */ };

/* What is known of a thread that runs; in a loop, or only in a function. */
struct found {
	enum xc_endless_loop certainty;
	bool in_loop;
	bool guessed; /* a scan of the stack led to it */
	const struct xc_thread *thread;
	const struct xc_place *place;
	size_t level;
	struct xc_frame frame;
	struct xc_busy_loop busy;
	struct xc_forecast forecast;
};

/* ---- the threads ---- */

static bool runs(struct xc_process *process, size_t index)
{
	const struct xc_thread *t = &process->threads[index];
	return t->has_regs && t->syscall < 0 && xc_waits_of(process)->items[index].kind == XC_WAIT_NONE;
}

/* Nothing is left that could end it: no other thread, or none that is not waiting for another. */
static bool is_alone(const struct xc_crash_context *crash, const struct xc_thread *thread)
{
	return crash->process->thread_count == 1 || xc_hang_without(crash->process, thread) == XC_HANG_LIKELY;
}

/* ---- the loops ---- */

static enum xc_endless_loop certainty_of(const struct xc_crash_context *view, const struct found *f)
{
	bool foreseen = f->forecast.kind != XC_FORECAST_NONE;
	if (f->busy.endless)
		return is_alone(view, view->thread) ? XC_ENDLESS_LOOP_LIKELY : XC_ENDLESS_LOOP_GUESS;
	if (!foreseen && !f->busy.still)
		return XC_ENDLESS_LOOP_BUSY;
	if (foreseen && f->forecast.call >= 0)
		return f->forecast.seen ? XC_ENDLESS_LOOP_GUESS : XC_ENDLESS_LOOP_BUSY;
	bool own = foreseen && !f->forecast.shared;
	bool later = f->forecast.kind == XC_FORECAST_FAR ||
		     (f->forecast.kind == XC_FORECAST_AWAY && f->forecast.rounds < XC_FORECAST_FOREVER);
	if (later || f->forecast.called || (!own && (f->busy.shared || !is_alone(view, view->thread))))
		return XC_ENDLESS_LOOP_GUESS;
	return XC_ENDLESS_LOOP_LIKELY;
}

static void look_at_loops(const struct xc_crash_context *view, size_t frame, struct found *one, struct found *best,
			  uint64_t *purse)
{
	unsigned budget = STEPS;
	struct xc_frame_code code;
	struct xc_loop loop, inner;
	one->frame = view->frames[frame];
	if (!xc_frame_code_init(view, frame, &budget, &code))
		return;
	for (size_t i = 0; i < LOOPS && xc_loop_around(code.body, code.at, i ? &inner : NULL, &loop); i++) {
		one->in_loop = true;
		one->forecast = (struct xc_forecast){.kind = XC_FORECAST_NONE, .call = -1};
		xc_busy_loop_look(&code, &loop, NULL, 0, &one->busy);
		if (one->busy.has_end)
			one->forecast = xc_forecast_loop(&code, &loop, purse);
		one->certainty = certainty_of(view, one);
		if (one->guessed && one->certainty == XC_ENDLESS_LOOP_LIKELY)
			one->certainty = XC_ENDLESS_LOOP_GUESS;
		if (one->certainty > best->certainty || !best->in_loop)
			*best = *one;
		inner = loop;
	}
}

/* A thread that spins in the C library: the variable that it waits for is a lock. */
static bool look_at_spin_lock(const struct xc_crash_context *view, size_t frame, struct found *one)
{
	enum { FIRST_ARGUMENT = 5 /* rdi */, SIZE = 4 };
	const char *name = frame ? xc_place_function(xc_crash_context_place(view, 0), 0) : NULL;
	struct xc_tested lock = {.count = 0};
	xc_addr addr;
	if (!name || !strstr(name, "pthread_spin_lock") || !xc_arch_is_x86_64(view->process->arch) ||
	    !xc_regs_get(&view->frames[0].regs, FIRST_ARGUMENT, &addr))
		return false;
	one->frame = view->frames[frame];
	const struct xc_wait wait = {.thread = view->thread,
				     .has_place = true,
				     .frame = one->frame,
				     .place = one->place,
				     .level = one->level};
	xc_tested_add(&lock, addr, SIZE, 0);
	one->busy = (struct xc_busy_loop){.ends = xc_tested_words(view, &wait, &lock), .has_end = true, .still = true};
	one->forecast = (struct xc_forecast){.kind = XC_FORECAST_NONE, .call = -1};
	if (!one->busy.ends)
		one->busy.ends = "the spin lock";
	one->in_loop = true;
	one->certainty = is_alone(view, view->thread) ? XC_ENDLESS_LOOP_LIKELY : XC_ENDLESS_LOOP_GUESS;
	return true;
}

static void look_at_thread(const struct xc_crash_context *view, struct found *best, uint64_t *purse)
{
	size_t functions = 0;
	bool guessed = false;
	for (size_t i = 0; i < view->frame_count && functions < FUNCTIONS; i++) {
		guessed |= view->frames[i].trust == XC_TRUST_SCAN;
		struct found one = {.certainty = XC_ENDLESS_LOOP_BUSY, .thread = view->thread, .guessed = guessed};
		one.place = xc_crash_context_place(view, i);
		if (!xc_user_code_level(one.place, &one.level))
			continue;
		if (!functions++ && best->certainty == XC_ENDLESS_LOOP_NONE) {
			*best = one;
			best->frame = view->frames[i];
		}
		if (functions == 1 && look_at_spin_lock(view, i, &one) && one.certainty > best->certainty)
			*best = one;
		if (best->certainty < XC_ENDLESS_LOOP_LIKELY)
			look_at_loops(view, i, &one, best, purse);
	}
}

/* ---- in words ---- */

static const char *function_of(const struct found *f)
{
	const char *function = xc_place_function(f->place, f->level);
	return function ? function : "a function without a name";
}

/* "wait_for, job.c:8, that ends only by `j->done` (0)" */
static void add_loop(const struct found *f, struct xc_text *text)
{
	struct xc_text ends = {0};
	xc_text_name(text, function_of(f));
	xc_sourceline(f->place, f->level, ", ", text);
	if (f->in_loop && xc_busy_loop_describe(&f->busy, &ends))
		xc_text_printf(text, ", %s", xc_text_string(&ends));
	xc_text_fini(&ends);
	if (f->in_loop && !f->busy.still)
		xc_forecast_describe(&f->forecast, text);
}

/* Who else could end it. */
static void add_others(const struct xc_crash_context *crash, const struct found *f, struct xc_text *text)
{
	bool others = f->busy.still || (f->forecast.shared && f->forecast.call < 0);
	if (f->busy.endless || !others)
		return;
	if (f->certainty == XC_ENDLESS_LOOP_LIKELY)
		xc_text_printf(text, "%s no %sthread is left that could%s, only a signal handler",
			       f->busy.still ? ":" : ", and", crash->process->thread_count == 1 ? "other " : "running ",
			       f->busy.still ? "" : " change that");
	else if (f->busy.still || f->forecast.kind == XC_FORECAST_REPEATS || f->forecast.kind == XC_FORECAST_NEVER)
		xc_text_printf(text, "%s another thread, or a signal handler, would have to",
			       f->busy.still ? ":" : ", and");
}

static const char *kind_of(const struct found *f)
{
	if (f->busy.endless || f->busy.still)
		return "busy wait";
	return f->forecast.kind == XC_FORECAST_REPEATS ? "no progress" : "counter";
}

static void report_time(const struct xc_crash_context *crash, const struct found *f)
{
	uint64_t user, system;
	if (!crash->process->live)
		return;
	if (xc_live_times(crash->process, f->thread->tid, &user, &system))
		xc_verdict_evidence(crash->report, "the thread has used %.1f s of CPU time, %.1f s of it in the kernel",
				    (double)(user + system) / 1e9, (double)system / 1e9);
	if (f->in_loop && f->busy.floats && f->forecast.kind == XC_FORECAST_NONE)
		xc_verdict_evidence(crash->report,
				    "missing: the floating-point numbers that it compares: those of vector registers "
				    "are not known of a process that runs; a core of it has them");
	xc_verdict_evidence(crash->report, "`xcore profile pid:%d` shows where it runs over a time",
			    (int)crash->process->pid);
}

static const char *headline(const struct xc_crash_context *crash, const struct found *f)
{
	struct xc_arena *arena = &crash->report->arena;
	struct xc_text text = {0};
	if (f->certainty == XC_ENDLESS_LOOP_LIKELY) {
		xc_text_add(&text, "hang: a loop of ");
		xc_text_name(&text, function_of(f));
		xc_text_add(&text, " likely never ends");
	} else if (f->certainty == XC_ENDLESS_LOOP_GUESS) {
		xc_threadlabel(&text, (int)f->thread->tid, f->thread->name);
		xc_text_add(&text, " runs in a loop of ");
		xc_text_name(&text, function_of(f));
		xc_text_add(&text, f->busy.still ? " that another one must end: perhaps a hang" : ": perhaps a hang");
	} else {
		xc_threadlabel(&text, (int)f->thread->tid, f->thread->name);
		xc_text_add(&text, " is busy in ");
		xc_text_name(&text, function_of(f));
	}
	const char *words = xc_arena_strdup(arena, xc_text_string(&text));
	xc_text_fini(&text);
	return words;
}

static void set_class(struct xc_crash_context *crash, const struct found *f, size_t running)
{
	struct xc_text text = {0};
	xc_text_add(&text, f->in_loop && f->forecast.call >= 0 ? "the thread runs in a loop of "
			   : f->in_loop                        ? "the thread runs, in no system call, in a loop of "
							       : "the thread runs, in no system call, in ");
	add_loop(f, &text);
	if (f->certainty != XC_ENDLESS_LOOP_BUSY)
		add_others(crash, f, &text);
	crash->verdict = xc_report_verdict(crash->report);
	crash->verdict->headline = headline(crash, f);
	if (f->certainty == XC_ENDLESS_LOOP_BUSY)
		xc_crash_context_classify(crash, "busy", NULL, "info", f->guessed ? "guess" : "likely",
					  xc_text_string(&text));
	else
		xc_crash_context_classify(crash, "hang", kind_of(f), "medium",
					  f->certainty == XC_ENDLESS_LOOP_LIKELY ? "likely" : "guess",
					  xc_text_string(&text));
	xc_text_fini(&text);
	crash->thread = f->thread;
	crash->blame = (struct xc_blame){.place = f->place, .level = f->level, .frame = f->frame};
	xc_verdict_involve(crash->report, f->thread->tid);
	if (running > 1)
		xc_verdict_evidence(crash->report, "%zu threads run", running);
	report_time(crash, f);
}

static void report_loop(const struct xc_crash_context *crash, const struct found *f)
{
	struct xc_text text = {0};
	if (!f->in_loop)
		return;
	add_loop(f, &text);
	xc_verdict_evidence(crash->report, "%sthread %d ran%s in a loop of %s",
			    f->certainty == XC_ENDLESS_LOOP_GUESS ? "perhaps it hung: " : "", (int)f->thread->tid,
			    f->forecast.call >= 0 ? "" : ", in no system call,", xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- */

/* Signals that say that a time is over. */
static bool is_timeout(int signal)
{
	return signal == SIGALRM || signal == SIGVTALRM || signal == SIGPROF || signal == SIGXCPU;
}

static bool is_killed(const struct xc_crash_context *crash)
{
	return xc_crash_context_is_signalled(crash) &&
	       (xc_crash_context_sent_by_other(crash) || is_timeout(crash->fault.signal));
}

enum xc_endless_loop xc_endless_loop_classify(struct xc_crash_context *crash, enum xc_endless_loop least)
{
	struct xc_process *p = crash->process;
	bool dead = crash->verdict && crash->verdict->class_name;
	struct found best = {.certainty = XC_ENDLESS_LOOP_NONE};
	size_t running = 0;
	uint64_t purse = PURSE;
	if (dead && !is_killed(crash))
		return XC_ENDLESS_LOOP_NONE;
	for (size_t i = 0; i < p->thread_count && i < THREADS && best.certainty < XC_ENDLESS_LOOP_LIKELY; i++) {
		struct xc_crash_context view;
		if (!runs(p, i))
			continue;
		running++;
		xc_thread_view(crash, &p->threads[i], FRAMES, &view);
		if (xc_linked_loop_classify(crash, &view))
			return XC_ENDLESS_LOOP_LIKELY;
		look_at_thread(&view, &best, &purse);
	}
	if (best.certainty >= least && (!dead || best.certainty == XC_ENDLESS_LOOP_LIKELY)) {
		set_class(crash, &best, running);
		return best.certainty;
	}
	if (dead)
		report_loop(crash, &best);
	return XC_ENDLESS_LOOP_NONE;
}
