/* predicate: the loop is that around the call, in the program's function or in one of C++'s library that was made for
 * it (std::condition_variable::wait<F>). The code after the call is run: it comes to the call again, or leaves the
 * loop. */
#include "triage/loop/predicate.h"

#include <string.h>

#include "triage/emulator/emulator.h"
#include "triage/code/loop.h"
#include "triage/loop/busy_loop.h"
#include "triage/loop/thread_view.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { FRAMES = 24, STEPS = 20000, BUDGET = 200, BRANCHES = 3 };

struct search {
	const struct xc_crash_context *view;
	struct xc_frame_code code;
	struct xc_loop loop;
	size_t frame;
	xc_addr call, sp;          /* where the loop's function waits */
	xc_addr kernel, kernel_sp; /* where the thread entered the kernel */
	xc_addr tested;            /* in a function of the program that the loop calls */
	xc_addr branches[BRANCHES];
	size_t branch_count;
	const struct xc_mapping *stack;
	size_t seen; /* words that were looked at */
};

/* ---- the loop ---- */

static bool is_before(const char *name, const char *const *prefixes)
{
	for (; name && *prefixes; prefixes++)
		if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

static bool is_of_library(const struct xc_crash_context *view, size_t frame)
{
	const struct xc_place *place = xc_crash_context_place(view, frame), *first = xc_crash_context_place(view, 0);
	return place->module && place->module == first->module;
}

/* Functions that wait have loops of their own. */
static bool is_waiting_function(const struct xc_crash_context *view, size_t frame)
{
	static const char *const names[] = {"std::sys::", "std::sys_common::", "std::condition_variable::wait(",
					    "std::__atomic_futex_unsigned_base::", NULL};
	const struct xc_place *place = xc_crash_context_place(view, frame);
	const char *name = place->level_count ? place->levels[place->level_count - 1].function : place->symbol;
	return is_of_library(view, frame) || is_before(name && *name == '<' ? name + 1 : name, names);
}

static bool find_loop(struct search *s, const struct xc_wait *wait, unsigned *budget)
{
	size_t i = 0;
	while (i < s->view->frame_count && is_waiting_function(s->view, i))
		i++;
	for (; i < s->view->frame_count; i++) {
		s->frame = i;
		if (xc_frame_code_init(s->view, i, budget, &s->code) &&
		    xc_loop_around(s->code.body, s->code.at, NULL, &s->loop))
			return true;
		if (s->view->frames[i].pc == wait->frame.pc)
			break;
	}
	return false;
}

/* ---- what would happen ---- */

/* The branches of the loop's function on the way, and the first function of the program that it calls. */
static void note(struct search *s, const struct xc_emulated_state *state, const struct xc_emulated_branch *branch)
{
	size_t level;
	uint64_t sp = state->regs[XC_EMULATOR_SP].bits;
	if (branch->pc && sp == s->sp && s->branch_count < BRANCHES)
		s->branches[s->branch_count++] = branch->pc;
	const struct xc_place *place =
		!branch->pc && !s->tested && sp < s->sp ? xc_debuginfo_place(s->view->process, state->pc) : NULL;
	if (place && place->level_count && xc_user_code_level(place, &level) && xc_place_function(place, level))
		s->tested = state->pc;
}

/* A lock that is kept while the condition is tested is given back: by a call, or by one of the loop's function that was
 * not bound yet. */
static bool unlocks(const struct search *s, const struct xc_emulated_state *state, uint64_t sp_before)
{
	uint64_t sp = state->regs[XC_EMULATOR_SP].bits;
	const char *name = NULL;
	if (sp < sp_before) {
		const struct xc_place *place = xc_debuginfo_place(s->view->process, state->pc);
		name = place->symbol && !place->symbol_offset ? place->symbol : NULL;
	} else if (sp == s->sp) {
		long at = xc_body_at(s->code.body, state->pc);
		const struct xc_insn *insn = at >= 0 ? &s->code.body->insns[at] : NULL;
		name = insn && insn->kind == XC_INSN_CALL ? xc_body_callee(s->code.body, insn, NULL) : NULL;
	}
	return name && strstr(name, "pthread_mutex_unlock");
}

/* A test writes nothing but the thread's own stack. */
static bool has_written(struct search *s, const struct xc_emulated_state *state)
{
	for (; s->seen < state->word_count; s->seen++) {
		xc_addr at = state->words[s->seen].addr;
		if (!s->stack || at < s->stack->lo || at > s->stack->hi)
			return true;
	}
	return false;
}

static enum xc_predicate_state run(struct search *s, struct xc_emulator *e, bool condition)
{
	const struct xc_emulated_state *state = xc_emulator_state(e);
	for (unsigned i = 0; i < STEPS; i++) {
		struct xc_emulated_branch branch;
		uint64_t before = state->regs[XC_EMULATOR_SP].bits, after;
		if (!xc_emulator_step(e, &branch))
			return state->pc == s->kernel && before == s->kernel_sp ? XC_PREDICATE_FALSE
										: XC_PREDICATE_UNKNOWN;
		after = state->regs[XC_EMULATOR_SP].bits;
		if (after == s->sp && state->pc == s->call)
			return XC_PREDICATE_FALSE;
		if (after > s->sp)
			return XC_PREDICATE_TRUE;
		if (condition && unlocks(s, state, before))
			return s->branch_count ? XC_PREDICATE_TRUE : XC_PREDICATE_NO_LOOP;
		if (condition && has_written(s, state) && s->branch_count)
			return XC_PREDICATE_TRUE;
		note(s, state, &branch);
	}
	return XC_PREDICATE_UNKNOWN;
}

/* glibc's functions that wait for a condition return 0 when they were woken. They cannot be run: their own state says
 * that they were not. Others go on when the kernel does. */
static enum xc_predicate_state wake(struct search *s, const struct xc_wait *wait)
{
	enum { SYSCALL = 2 };
	const struct xc_process *p = s->view->process;
	size_t start = 0;
	while (wait->kind == XC_WAIT_CONDITION && start < s->frame && is_of_library(s->view, start))
		start++;
	struct xc_regs regs = s->view->frames[start].regs;
	xc_regs_set(&regs, p->arch->pc, s->view->frames[start].pc);
	xc_regs_set(&regs, p->arch->sp, regs.value[p->arch->sp]);
	xc_regs_set(&regs, 0, 0);
	struct xc_emulator *e = xc_emulator_new(p, &regs);
	if (!e || !xc_regs_get(&s->view->frames[s->frame].regs, p->arch->sp, &s->sp)) {
		xc_emulator_free(e);
		return XC_PREDICATE_UNKNOWN;
	}
	s->call = s->code.body->insns[s->code.at].addr;
	s->kernel = start ? 0 : s->view->frames[0].pc - SYSCALL;
	s->kernel_sp = regs.value[p->arch->sp];
	s->stack = xc_process_mapping(p, s->kernel_sp);
	enum xc_predicate_state result = run(s, e, wait->kind == XC_WAIT_CONDITION);
	xc_emulator_free(e);
	return result;
}

static const char *where_of(const struct search *s)
{
	struct xc_text text = {0};
	const struct xc_place *place = s->tested ? xc_debuginfo_place(s->view->process, s->tested) : NULL;
	size_t level;
	if (!place || !xc_user_code_level(place, &level))
		return NULL;
	xc_text_name(&text, xc_place_function(place, level));
	if (xc_sourceline(place, level, " (", &text))
		xc_text_add(&text, ")");
	const char *words = xc_arena_strdup(&s->view->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return words;
}

struct xc_predicate xc_predicate_look(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct xc_predicate out = {.state = XC_PREDICATE_UNKNOWN};
	struct xc_crash_context view;
	struct xc_busy_loop busy;
	unsigned budget = BUDGET;
	bool condition = wait->kind == XC_WAIT_CONDITION || wait->kind == XC_WAIT_RUST_CONDITION;
	if ((!condition && wait->kind != XC_WAIT_FUTURE && wait->kind != XC_WAIT_ATOMIC) || wait->handler ||
	    !wait->has_place)
		return out;
	xc_thread_view(crash, wait->thread, FRAMES, &view);
	struct search s = {.view = &view};
	if (!view.frame_count)
		return out;
	if (!find_loop(&s, wait, &budget)) {
		out.state = condition ? XC_PREDICATE_NO_LOOP : XC_PREDICATE_UNKNOWN;
		return out;
	}
	out.state = wake(&s, wait);
	xc_busy_loop_look(&s.code, &s.loop, s.branches, s.branch_count, &busy);
	out.ends = busy.ends;
	out.where = where_of(&s);
	return out;
}
