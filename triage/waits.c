/* waits: the futex call's own arguments tell most: which word, and what was expected to stand there. What kind of thing the word is part
 * of is told by the functions that sleep (glibc, nptl/, checked with 2.36; those inlined are named by debug information only):
 *
 *	function                  sleeps on                                   expects
 *	pthread_mutex_lock        mutex + 0                                   2, or the owner's id (PI, robust)
 *	pthread_rwlock_rdlock     rwlock + 8 __wrphase_futex, + 0 __readers   1 | 2; the readers' word
 *	pthread_rwlock_wrlock     rwlock + 12 __writers_futex, + 8            1 | 2; 2 (bit 1: somebody sleeps)
 *	pthread_cond_wait         cond + 40 or + 44 (up to 2.40), + 32 or + 36 __g_signals
 *	sem_wait                  sem + 0, or + 4 on machines of the other byte order
 *	pthread_join              struct pthread's tid                        the id of the thread
 *	pthread_mutex_lock_full   a variable of its own, forever              0: the kernel would not wait for this PI mutex (EDEADLK, ESRCH)
 *	RwLock::write_contended   rwlock + 4 writer_notify (Rust)
 *
 * nptl/pthread_rwlock_common.c, sysdeps/nptl/bits/thread-shared-types.h, nptl/pthread_join_common.c. */
#include "waits.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../core/module.h"
#include "../core/sandbox.h"
#include "own.h"
#include "roles.h"
#include "waitkind.h"

enum {
	INNER = 16,   /* frames in which the waiting function is looked for */
	KIND_64 = 16, /* of a mutex */
	KIND_32 = 12,
};

static void by_place(struct xc_wait *wait, const struct xc_place *place)
{
	for (size_t l = 0; l < place->level_count; l++)
		xc_waitkind_tell(wait, place->levels[l].function);
	if (!place->level_count || !place->levels[place->level_count - 1].function)
		xc_waitkind_tell(wait, place->symbol);
}

/* ---- the stack ---- */

struct walk {
	struct xc_process *process;
	const struct xc_waits *waits; /* only its threads are known yet */
	struct xc_unwinder *unwinder;
	struct xc_frame *frames; /* of the thread that is looked at */
	size_t count, base;      /* frames[base] is where it was before any signal, or in the handler that waits */
	size_t signal;           /* the innermost trampoline; count when there is none */
	bool is_static;
};

static void unwind(struct walk *w, const struct xc_thread *thread)
{
	const char *stop;
	w->count = w->base = 0;
	if (!w->process->arch->unwinds || !xc_unwind_first(w->unwinder, thread, &w->frames[0]))
		return;
	for (w->count = 1; w->count < XC_WAIT_FRAMES; w->count++)
		if (!xc_unwind_step(w->unwinder, &w->frames[w->count - 1], &w->frames[w->count], &stop))
			break;
	w->signal = w->count;
	for (size_t i = 0; i + 1 < w->count; i++) {
		if (!w->frames[i].signal)
			continue;
		w->base = i + 1;
		w->signal = w->signal < i ? w->signal : i;
	}
}

static const struct xc_place *place_of(const struct walk *w, size_t index)
{
	return xc_debuginfo_place(w->process, xc_frame_lookup(&w->frames[index]));
}

/* The C library, or what stands in its place: in a static program it is told by having no debug information, in most. */
static bool is_runtime(const struct walk *w, const struct xc_place *place)
{
	size_t level;
	return (w->is_static && !place->level_count) || !xc_own_level(place, &level);
}

static const char *outer_function(const struct xc_place *place)
{
	return xc_place_function(place, place->level_count ? place->level_count - 1 : 0);
}

/* The functions from `base` outward, up to the program's own, or to one that is only guessed to be a caller. */
static void find_kind(const struct walk *w, struct xc_wait *wait)
{
	size_t end = w->count - w->base < INNER ? w->count : w->base + INNER;
	for (size_t i = w->base; i < end && is_runtime(w, place_of(w, i)); i++) {
		if (w->frames[i].trust == XC_TRUST_SCAN || w->frames[i].signal)
			break;
		by_place(wait, place_of(w, i));
		wait->through = outer_function(place_of(w, i));
	}
}

/* ---- handlers ---- */

/* What the signal came in: a library's function, and who had called it. */
static void find_interrupted(const struct walk *w, struct xc_wait *wait)
{
	size_t i = w->signal + 1, level;
	for (; i < w->count && is_runtime(w, place_of(w, i)); i++)
		wait->interrupted = outer_function(place_of(w, i));
	if (i < w->count && xc_own_level(place_of(w, i), &level))
		wait->interrupted_own = xc_place_function(place_of(w, i), level);
}

/* A handler that only sleeps, or lets others write the core, tells nothing; one that waits for what another thread, or the
 * function that it interrupted, has to do is where the thread is. */
static void enter_handler(struct walk *w, struct xc_wait *wait)
{
	const struct xc_thread *thread = wait->thread;
	struct xc_wait inside = *wait;
	size_t base = w->base;
	if (w->signal == w->count || !w->signal || !thread->call_known || !wait->call ||
	    strncmp(wait->call, "futex", 5) != 0)
		return;
	w->base = 0;
	find_kind(w, &inside);
	if (inside.kind == XC_WAIT_NONE) {
		w->base = base;
		return;
	}
	*wait = inside;
	wait->handler = outer_function(place_of(w, w->signal - 1));
	find_interrupted(w, wait);
}

static void find_place(const struct walk *w, struct xc_wait *wait)
{
	size_t at = w->base;
	while (at < w->count && is_runtime(w, place_of(w, at)))
		at++;
	if (at == w->count) {
		at = w->base;
		wait->frame = w->frames[at];
		wait->place = place_of(w, at);
		return;
	}
	wait->frame = w->frames[at];
	wait->place = place_of(w, at);
	wait->has_place = xc_own_level(wait->place, &wait->level);
}

/* ---- the call ---- */

static bool is_x86(const struct xc_process *p)
{
	return p->arch->machine == EM_X86_64 || p->arch->machine == EM_386;
}

/* Did a signal interrupt a call? Then pc is behind its instruction, or on it when it is to be done again. */
static bool interrupted_call(const struct walk *w, uint64_t args[6])
{
	static const int numbers[6] = {5, 4, 1, 10, 8, 9};
	uint8_t code[4];
	const struct xc_frame *frame = &w->frames[w->base];
	if (!w->base || w->process->arch->machine != EM_X86_64 || frame->pc < 2 ||
	    xc_space_peek(w->process->space, frame->pc - 2, code, 4) != 4 ||
	    (memcmp(code, "\x0f\x05", 2) != 0 && memcmp(code + 2, "\x0f\x05", 2) != 0))
		return false;
	for (size_t i = 0; i < 6; i++)
		if (!xc_regs_get(&frame->regs, numbers[i], &args[i]))
			return false;
	return true;
}

static const char *call_name(struct walk *w, const struct xc_thread *thread)
{
	if (thread->syscall < 0)
		return NULL;
	char *name = xc_sandbox_call_name(w->process->arch->machine, thread->syscall);
	const char *kept = xc_arena_strdup(&w->process->arena, name);
	free(name);
	return kept;
}

/* What the word is part of. */
static xc_addr object_at(const struct xc_wait *wait, xc_addr word, uint32_t expected)
{
	enum { SLEEPERS = 2, BOTH = 3 };
	switch (wait->kind) {
	case XC_WAIT_MUTEX:
	case XC_WAIT_SEMAPHORE:
	case XC_WAIT_BARRIER:
	case XC_WAIT_ONCE:
	case XC_WAIT_LIBRARY_LOCK:
	case XC_WAIT_FUTEX:
		return word;
	case XC_WAIT_RUST_MUTEX:
	case XC_WAIT_RUST_READ:
	case XC_WAIT_RUST_CONDITION:
		return word;
	case XC_WAIT_RUST_WRITE:
		return word - 4;
	case XC_WAIT_READ_LOCK:
		return expected == BOTH ? word - 8 : word;
	case XC_WAIT_WRITE_LOCK:
		return expected == BOTH ? word - 12 : expected == SLEEPERS ? word - 8 : 0;
	default:
		return 0;
	}
}

/* Where no function has a name: a word that somebody sleeps for, and behind it a thread of the process as its owner, one user, and a kind:
 * struct __pthread_mutex_s of 64 bits (locks.c). */
static bool looks_like_mutex(const struct walk *w, xc_addr word, uint32_t expected)
{
	const struct xc_process *p = w->process;
	enum { OWNER = 8, USERS = 12, KIND = 16, KINDS = 0x3ff, CONTENDED = 2 };
	uint64_t now, owner, users, kind;
	return p->arch->word == 8 && expected == CONTENDED && xc_space_peek_uint(p->space, word, 4, &now) &&
	       now == CONTENDED && xc_space_peek_uint(p->space, word + OWNER, 4, &owner) && owner <= INT32_MAX &&
	       xc_waits_thread(w->waits, (pid_t)owner) && xc_space_peek_uint(p->space, word + USERS, 4, &users) &&
	       users == 1 && xc_space_peek_uint(p->space, word + KIND, 4, &kind) && kind <= KINDS;
}

/* A PI mutex (locks.c); 0: it is none, or nobody has it. */
static pid_t inherited_owner(const struct xc_process *p, xc_addr addr)
{
	enum { INHERIT = 32, KINDS = 0x3ff, IDS = 0x3fffffff };
	uint64_t word, kind;
	bool good = addr && addr % 4 == 0 && xc_space_peek_uint(p->space, addr, 4, &word) &&
		    xc_space_peek_uint(p->space, addr + (p->arch->word == 8 ? KIND_64 : KIND_32), 4, &kind) &&
		    kind <= KINDS && (kind & INHERIT);
	return good ? (pid_t)(word & IDS) : 0;
}

/* One that the thread has itself is it only when there is no other. */
static void try_inherited(const struct walk *w, xc_addr addr, pid_t self, xc_addr *found)
{
	xc_addr begins[] = {addr, addr - (w->process->arch->word == 8 ? KIND_64 : KIND_32)};
	for (size_t i = 0; i < XC_COUNT(begins); i++) {
		pid_t owner = inherited_owner(w->process, begins[i]);
		if (owner && (!*found || owner != self))
			*found = begins[i];
	}
}

/* The mutex that pthread_mutex_lock has got, or its kind: in its frame, or in a register that calls preserve. */
static xc_addr find_inherited(const struct walk *w, pid_t self)
{
	enum { REGISTERS = 16, WORDS = 64 };
	const struct xc_process *p = w->process;
	size_t end = w->count - w->base < INNER ? w->count : w->base + INNER;
	uint64_t sp, above, value;
	xc_addr found = 0;
	for (size_t i = w->base; i + 1 < end && is_runtime(w, place_of(w, i)); i++) {
		for (int r = 0; r < REGISTERS; r++)
			if ((p->arch->preserved[0] >> r & 1) && xc_regs_get(&w->frames[i].regs, r, &value))
				try_inherited(w, value, self, &found);
		if (!xc_regs_get(&w->frames[i].regs, p->arch->sp, &sp) ||
		    !xc_regs_get(&w->frames[i + 1].regs, p->arch->sp, &above))
			continue;
		for (unsigned k = 0; k < WORDS && sp < above; k++, sp += p->arch->word)
			if (xc_space_peek_uint(p->space, sp, p->arch->word, &value))
				try_inherited(w, value, self, &found);
	}
	return found;
}

/* Does it sleep on a variable of pthread_mutex_lock's own? */
static bool sleeps_forever(const struct walk *w, const struct xc_wait *wait, const uint64_t args[6])
{
	enum { NEAR = 512 };
	uint64_t sp;
	return w->count && wait->kind == XC_WAIT_MUTEX && !(uint32_t)args[2] && !args[3] &&
	       xc_regs_get(&w->frames[w->base].regs, w->process->arch->sp, &sp) && args[0] >= sp && args[0] - sp < NEAR;
}

static void by_futex(const struct walk *w, struct xc_wait *wait, const uint64_t args[6])
{
	enum { COMMANDS = 0x7f, WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, REQUEUE_PI = 11, LOCK_PI2 = 13 };
	uint64_t command = args[1] & COMMANDS;
	if (command != WAIT && command != LOCK_PI && command != WAIT_BITSET && command != REQUEUE_PI &&
	    command != LOCK_PI2)
		return;
	if (wait->kind == XC_WAIT_NONE)
		wait->kind = XC_WAIT_FUTEX;
	wait->word = args[0];
	if (wait->kind == XC_WAIT_FUTEX && looks_like_mutex(w, wait->word, (uint32_t)args[2])) {
		wait->kind = XC_WAIT_MUTEX;
		wait->guessed = true;
	}
	wait->refused = sleeps_forever(w, wait, args);
	wait->object =
		wait->refused ? find_inherited(w, wait->thread->tid) : object_at(wait, wait->word, (uint32_t)args[2]);
	wait->timed |= args[3] != 0;
	if (wait->kind == XC_WAIT_THREAD)
		wait->target = (pid_t)(uint32_t)args[2];
}

static void find_call(struct walk *w, struct xc_wait *wait)
{
	const struct xc_thread *thread = wait->thread;
	uint64_t args[6];
	wait->call = w->base ? NULL : wait->call;
	if (!w->base && thread->call_known && wait->call && strncmp(wait->call, "futex", 5) == 0) {
		by_futex(w, wait, thread->call_args);
	} else if (!w->base && thread->syscall >= 0) {
		wait->kind = XC_WAIT_CALL;
	} else if (wait->kind != XC_WAIT_NONE && interrupted_call(w, args)) {
		by_futex(w, wait, args);
	} else if (is_x86(w->process)) { /* it was on its way, and does not sleep */
		wait->kind = XC_WAIT_NONE;
	}
}

static void look_at(struct walk *w, struct xc_wait *wait)
{
	unwind(w, wait->thread);
	wait->call = call_name(w, wait->thread);
	if (!w->count) {
		w->base = 0;
		find_call(w, wait);
		return;
	}
	enter_handler(w, wait);
	if (!wait->handler)
		find_kind(w, wait);
	find_place(w, wait);
	find_call(w, wait);
	xc_roles_find(w->process, w->frames, w->count, &wait->routine, &wait->role);
}

/* ---- */

static int by_tid(const void *a, const void *b)
{
	const struct xc_wait_id *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void list_threads(const struct xc_process *p, struct xc_waits *waits)
{
	for (size_t i = 0; i < waits->count; i++) {
		waits->items[i].thread = &p->threads[i];
		waits->ids[i] = (struct xc_wait_id){.tid = p->threads[i].tid, .index = i};
	}
	if (waits->count)
		qsort(waits->ids, waits->count, sizeof *waits->ids, by_tid);
}

const struct xc_waits *xc_waits_of(struct xc_process *process)
{
	if (process->waits)
		return process->waits;
	struct xc_waits *waits = xc_arena_alloc(&process->arena, sizeof *waits);
	struct walk w = {.process = process, .waits = waits, .unwinder = xc_unwinder_new(process)};
	w.is_static = xc_modules_are_static(process);
	w.frames = xc_alloc(XC_WAIT_FRAMES * sizeof *w.frames);
	waits->count = process->thread_count;
	waits->items = xc_arena_alloc(&process->arena, waits->count * sizeof *waits->items);
	waits->ids = xc_arena_alloc(&process->arena, waits->count * sizeof *waits->ids);
	list_threads(process, waits);
	for (size_t i = 0; i < waits->count; i++)
		look_at(&w, &waits->items[i]);
	free(w.frames);
	xc_unwinder_free(w.unwinder);
	process->waits = waits;
	return waits;
}

const struct xc_wait *xc_waits_thread(const struct xc_waits *waits, pid_t tid)
{
	size_t lo = 0, hi = waits->count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (waits->ids[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < waits->count && waits->ids[lo].tid == tid ? &waits->items[waits->ids[lo].index] : NULL;
}

const char *xc_wait_function(const struct xc_wait *wait)
{
	const struct xc_place *place = wait->place;
	const char *name = place && wait->level < place->level_count ? place->levels[wait->level].function : NULL;
	return name || !place ? name : place->symbol;
}

static void add_place(const struct xc_place *place, size_t number, xc_addr pc, struct xc_text *text)
{
	const struct xc_level *level = number < place->level_count ? &place->levels[number] : NULL;
	const char *function = level && level->function ? level->function : place->symbol;
	const char *slash = level && level->file ? strrchr(level->file, '/') : NULL;
	if (function)
		xc_text_name(text, function);
	else if (place->module)
		xc_text_name(text, place->module->name);
	else
		xc_text_printf(text, "0x%llx", (unsigned long long)pc);
	if (level && level->file && level->line) {
		xc_text_add(text, " (");
		xc_text_name(text, slash ? slash + 1 : level->file);
		xc_text_printf(text, ":%u)", level->line);
	}
}

void xc_wait_where(const struct xc_wait *wait, struct xc_text *text)
{
	if (wait->place)
		add_place(wait->place, wait->level, wait->frame.pc, text);
	else
		xc_text_add(text, "a place that is not known");
}

/* The own functions of a place from `level` on; false behind main, which nobody calls that one would want to see. */
static bool add_callers(const struct xc_place *place, size_t level, xc_addr pc, size_t *told, struct xc_text *text)
{
	size_t count = place->level_count ? place->level_count : 1;
	for (; level < count && *told < XC_WAIT_CALLERS; level++) {
		const char *function = xc_place_function(place, level);
		if (!xc_own_is(place, level))
			continue;
		xc_text_add(text, *told ? " ← " : "");
		add_place(place, level, pc, text);
		++*told;
		if (function && strcmp(function, "main") == 0)
			return false;
	}
	return *told < XC_WAIT_CALLERS;
}

void xc_wait_callers(const struct xc_process *process, const struct xc_wait *wait, struct xc_text *text)
{
	struct xc_frame frame = wait->frame;
	struct xc_unwinder *unwinder;
	const char *stop;
	size_t told = 0, level = wait->level;
	if (!wait->has_place) {
		xc_wait_where(wait, text);
		return;
	}
	if (!add_callers(wait->place, level, frame.pc, &told, text))
		return;
	unwinder = xc_unwinder_new(process);
	for (size_t n = 0; n < XC_WAIT_FRAMES && xc_unwind_step(unwinder, &frame, &frame, &stop); n++) {
		const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(&frame));
		if (xc_own_level(place, &level) && !add_callers(place, level, frame.pc, &told, text))
			break;
	}
	xc_unwinder_free(unwinder);
}
