/* predicate: the loop is that around the call, in the program's function or in one of C++'s library that was made for
 * it (std::condition_variable::wait<F>). The code after the call is run: it comes to the call again, or leaves the
 * loop. */
#include "triage/loop/predicate.h"

#include <string.h>

#include "triage/emulator/emulator.h"
#include "triage/code/loop.h"
#include "triage/loop/busy_loop.h"
#include "triage/loop/thread_view.h"
#include "triage/util/names.h"
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
	xc_addr called;            /* in a function of the program that the loop calls */
	xc_addr branches[BRANCHES];
	size_t branch_count;
	const struct xc_mapping *stack;
	size_t seen; /* words that were looked at */
	struct xc_tested tested;
	size_t decided; /* reads before the last branch */
	bool left;      /* it has left the loop, */
	bool nested;    /* which is in another one */
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

bool xc_predicate_sleeps(const struct xc_wait *wait)
{
	static const char *const calls[] = {"nanosleep", "clock_nanosleep", NULL};
	return wait->kind == XC_WAIT_CALL && wait->call && xc_names_find(calls, wait->call);
}

/* A sleep has loops of its own around the call: the outermost one of the program's function. */
static bool find_outermost(struct search *s, const struct xc_wait *wait, unsigned *budget)
{
	enum { NESTED = 4 };
	struct xc_loop inner;
	bool found = false;
	while (s->frame < s->view->frame_count && s->view->frames[s->frame].pc != wait->frame.pc)
		s->frame++;
	if (!xc_frame_code_init(s->view, s->frame, budget, &s->code))
		return false;
	for (size_t i = 0; i < NESTED; i++) {
		inner = s->loop;
		if (!xc_loop_around(s->code.body, s->code.at, i ? &inner : NULL, &s->loop))
			break;
		found = true;
	}
	s->loop = found ? inner : s->loop;
	return found;
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
		!branch->pc && !s->called && sp < s->sp ? xc_debuginfo_place(s->view->process, state->pc) : NULL;
	if (place && place->level_count && xc_user_code_level(place, &level) && xc_place_function(place, level))
		s->called = state->pc;
}

/* Not a variable: what the C library reads, a slot through which the code jumps, the word that guards a stack, and the
 * variables of the functions that are called, below the loop's own frame. */
static bool is_variable(const struct search *s, xc_addr pc, const struct xc_emulated_read *read, xc_addr now)
{
	enum { FS_BASE = 58, GUARD = 0x28 };
	const struct xc_process *p = s->view->process;
	uint64_t fs;
	return read->size && read->bits != now &&
	       xc_process_module(p, pc) != xc_process_module(p, s->view->frames[0].pc) &&
	       !(s->stack && read->addr >= s->stack->lo && read->addr < s->sp) &&
	       !(xc_regs_get(&s->view->frames[0].regs, FS_BASE, &fs) && read->addr == fs + GUARD);
}

/* What the test reads. */
static void note_read(struct search *s, const struct xc_emulator *e, xc_addr pc,
		      const struct xc_emulated_branch *branch)
{
	const struct xc_emulated_state *state = xc_emulator_state((struct xc_emulator *)e);
	const struct xc_emulated_read read = xc_emulator_read_last(e);
	long at = state->regs[XC_EMULATOR_SP].bits == s->sp ? xc_body_at(s->code.body, state->pc) : (long)s->loop.first;
	if (s->left)
		return;
	if (branch->pc)
		s->decided = s->tested.count;
	if (is_variable(s, pc, &read, state->pc))
		xc_tested_add(&s->tested, read.addr, read.size, read.bits);
	s->left = at < 0 || !xc_loop_has(&s->loop, (size_t)at);
}

/* A lock that is kept while the condition is tested is given back: by a call, or by one of the loop's function that was
 * not bound yet. */
static bool unlocks(const struct search *s, const struct xc_emulated_state *state, uint64_t sp_before)
{
	uint64_t sp = state->regs[XC_EMULATOR_SP].bits;
	const char *name = NULL;
	if (sp < sp_before) {
		const struct xc_place *place = xc_debuginfo_place(s->view->process, state->pc);
		name = place->symbol && !place->symbol_offset ? place->symbol : place->stub;
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
		const xc_addr pc = state->pc;
		if (!xc_emulator_step(e, &branch))
			return state->pc == s->kernel && before == s->kernel_sp ? XC_PREDICATE_FALSE
			       : s->left && s->decided && !s->nested            ? XC_PREDICATE_TRUE
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
		note_read(s, e, pc, &branch);
	}
	return XC_PREDICATE_UNKNOWN;
}

/* Nothing was written but what was there before, and the registers that functions keep are the same. The emulator takes
 * one that is not known for 0, marked: counting would show. */
static bool is_unchanged(const struct search *s, const struct xc_emulated_state *state)
{
	const struct xc_regs *before = &s->view->frames[state->pc == s->call ? s->frame : 0].regs;
	static const struct {
		int machine, dwarf;
	} kept[] = {{3, 3}, {5, 6}, {12, 12}, {13, 13}, {14, 14}, {15, 15}}; /* rbx rbp r12 … r15 */
	uint64_t value;
	for (size_t i = 0; i < XC_COUNT(kept); i++) {
		const struct xc_emulated *now = &state->regs[kept[i].machine];
		bool known = xc_regs_get(before, kept[i].dwarf, &value);
		if (known ? now->bits != value : now->bits || !(now->marks & XC_EMULATOR_CHANGES))
			return false;
	}
	for (size_t i = 0; i < state->word_count; i++) {
		const struct xc_emulated_word *word = &state->words[i];
		bool scratch = s->stack && word->addr >= s->stack->lo && word->addr < s->sp;
		if (!scratch &&
		    (!xc_space_peek_uint(s->view->process->space, word->addr, 8, &value) || value != word->bits))
			return false;
	}
	return true;
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
	if (xc_predicate_sleeps(wait) && (result != XC_PREDICATE_FALSE || !is_unchanged(s, xc_emulator_state(e))))
		result = XC_PREDICATE_UNKNOWN;
	xc_emulator_free(e);
	return result;
}

static bool is_shared(const struct search *s)
{
	for (size_t i = 0; i < s->decided; i++) {
		const struct xc_mapping *m = xc_process_mapping(s->view->process, s->tested.reads[i].addr);
		if (m && (m->shared || (m->path && m->path[0] != '[' &&
					!xc_process_module(s->view->process, s->tested.reads[i].addr))))
			return true;
	}
	return false;
}

static const char *where_of(const struct search *s)
{
	struct xc_text text = {0};
	const struct xc_place *place = s->called ? xc_debuginfo_place(s->view->process, s->called) : NULL;
	size_t level;
	if (!place || !xc_user_code_level(place, &level) || !xc_place_function(place, level))
		return NULL;
	xc_text_name(&text, xc_place_function(place, level));
	if (xc_sourceline(place, level, " (", &text))
		xc_text_add(&text, ")");
	const char *words = xc_arena_strdup(&s->view->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return words;
}

/* The variables that were read; of an atomic one the variable itself, which the library waits for. */
static const char *tested_words(struct search *s, const struct xc_wait *wait, enum xc_predicate_state state)
{
	struct xc_tested word = {.count = 0};
	s->tested.count = s->decided;
	const char *words = state != XC_PREDICATE_UNKNOWN ? xc_tested_words(s->view, wait, &s->tested) : NULL;
	if (words || wait->kind != XC_WAIT_ATOMIC)
		return words;
	xc_tested_add(&word, wait->word, 4, 0);
	return xc_tested_words(s->view, wait, &word);
}

struct xc_predicate xc_predicate_look(const struct xc_crash_context *crash, const struct xc_wait *wait)
{
	struct xc_predicate out = {.state = XC_PREDICATE_UNKNOWN};
	struct xc_crash_context view;
	struct xc_busy_loop busy;
	unsigned budget = BUDGET;
	bool condition = wait->kind == XC_WAIT_CONDITION || wait->kind == XC_WAIT_RUST_CONDITION;
	bool sleeps = xc_predicate_sleeps(wait);
	if ((!condition && !sleeps && wait->kind != XC_WAIT_FUTURE && wait->kind != XC_WAIT_ATOMIC) || wait->handler ||
	    !wait->has_place)
		return out;
	xc_thread_view(crash, wait->thread, FRAMES, &view);
	struct search s = {.view = &view};
	if (!view.frame_count)
		return out;
	if (sleeps ? !find_outermost(&s, wait, &budget) : !find_loop(&s, wait, &budget)) {
		out.state = condition ? XC_PREDICATE_NO_LOOP : XC_PREDICATE_UNKNOWN;
		out.ends = condition || sleeps ? NULL : tested_words(&s, wait, out.state);
		return out;
	}
	struct xc_loop outer;
	s.nested = xc_loop_around(s.code.body, s.code.at, &s.loop, &outer);
	out.state = wake(&s, wait);
	xc_busy_loop_look(&s.code, &s.loop, s.branches, s.branch_count, &busy);
	const char *words = tested_words(&s, wait, out.state);
	out.ends = words || wait->kind == XC_WAIT_ATOMIC ? words : busy.ends;
	out.where = where_of(&s);
	out.shared = is_shared(&s);
	out.variable_count = words ? s.tested.variable_count : 0;
	memcpy(out.variables, s.tested.variables, sizeof out.variables);
	if (sleeps)
		out.ends = words;
	return out;
}
