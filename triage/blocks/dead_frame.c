/* dead_frame: a stack grows downward, so that what is below the stack pointer belongs to nobody, except for the 128
 * bytes that a function which calls nothing may use (x86-64 psABI 3.2.2). Above it are the frames of functions that
 * run: where one of them keeps its return address, or a variable of another type, nothing else can live. */
#include "triage/blocks/dead_frame.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "heap/query/stackword.h"
#include "triage/code/body_cache.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum { RED_ZONE = 128, FS_BASE = 58, LARGEST = 1 << 16, MOST_WORDS = 16, CALLERS = 4 };

static uint64_t size_of(const struct xc_type *type)
{
	uint64_t size;
	return type && xc_type_size(xc_type_complete(xc_type_strip(type)), &size) && size && size < LARGEST ? size : 1;
}

static const struct xc_regs *regs_of(const struct xc_crash_context *crash, const struct xc_thread *thread)
{
	return thread == crash->faulted && crash->fault.frame_known ? &crash->fault.frame.regs : &thread->regs;
}

/* The lowest byte below the stack pointer that the thread's innermost function uses itself: one that calls others uses
 * none. */
static uint64_t lowest_used(const struct xc_crash_context *crash, const struct xc_thread *thread, uint64_t sp)
{
	const struct xc_arch *arch = crash->process->arch;
	const struct xc_regs *regs = regs_of(crash, thread);
	uint64_t lowest = sp, fp, pc;
	const struct xc_body *body = xc_regs_get(regs, arch->pc, &pc) ? xc_body_cache_get(crash->bodies, pc) : NULL;
	if (!body || body->incomplete || !xc_regs_get(regs, arch->fp, &fp))
		return sp - RED_ZONE;
	for (size_t i = 0; i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		const struct xc_insn_memory *m = &insn->memory;
		if (insn->kind == XC_INSN_CALL)
			return sp;
		if (!insn->has_memory || (m->base != arch->sp && m->base != arch->fp))
			continue;
		if (m->index >= 0 || m->complex)
			return sp - RED_ZONE;
		uint64_t at = (m->base == arch->sp ? sp : fp) + (uint64_t)m->displacement;
		if (at < lowest && sp - at <= RED_ZONE)
			lowest = at;
	}
	return lowest;
}

/* Is the stack pointer in the stack that the kernel made for the main thread, or that glibc made for another one, with
 * its own data above and a guard below? A coroutine's stack may be one of many in a mapping. */
static bool is_whole_stack(const struct xc_crash_context *crash, const struct xc_thread *thread,
			   const struct xc_mapping *m, uint64_t sp)
{
	uint64_t fs, random;
	if (thread->tid == crash->process->pid)
		return xc_process_auxv(crash->process, AT_RANDOM, &random) && random >= m->lo && random <= m->hi;
	return xc_regs_get(&thread->regs, FS_BASE, &fs) && fs > sp && fs <= m->hi;
}

/* The thread whose stack pointer is nearest above the address, within one mapping. */
static const struct xc_thread *find_below(const struct xc_crash_context *crash, const struct xc_mapping *m,
					  xc_addr addr, uint64_t *sp_out)
{
	const struct xc_process *p = crash->process;
	const struct xc_thread *found = NULL;
	for (size_t i = 0; i < p->thread_count; i++) {
		uint64_t sp;
		const struct xc_thread *thread = &p->threads[i];
		if (!xc_regs_get(regs_of(crash, thread), p->arch->sp, &sp) || sp <= addr || sp < m->lo || sp > m->hi ||
		    (found && sp >= *sp_out))
			continue;
		found = thread;
		*sp_out = sp;
	}
	return found;
}

static bool is_below(const struct xc_crash_context *crash, const struct xc_mapping *m, xc_addr addr, uint64_t size,
		     const char **why)
{
	uint64_t sp = 0;
	const struct xc_thread *thread = find_below(crash, m, addr, &sp);
	if (!thread || !is_whole_stack(crash, thread, m, sp))
		return false;
	if (addr + size > lowest_used(crash, thread, sp))
		return false;
	*why = xc_arena_printf(&crash->report->arena,
			       "0x%" PRIx64 " is 0x%" PRIx64
			       " bytes below the stack pointer of thread %d: the function "
			       "whose frame it was in has returned",
			       addr, sp - addr, (int)thread->tid);
	return true;
}

/* Does an active call of the crashed stack keep its return address in the object? */
static bool has_return_address(const struct xc_crash_context *crash, xc_addr addr, uint64_t size, const char **why)
{
	unsigned word = crash->process->arch->word;
	for (size_t i = 0; i + 1 < crash->frame_count; i++) {
		uint64_t sp, stored;
		const struct xc_frame *caller = &crash->frames[i + 1];
		if (caller->trust != XC_TRUST_CFI || caller->interrupted || caller->tail_call ||
		    !xc_regs_get(&caller->regs, crash->process->arch->sp, &sp))
			continue;
		xc_addr at = sp - word;
		if (at >= addr + size || addr >= at + word ||
		    !xc_space_peek_uint(crash->process->space, at, word, &stored) || stored != caller->pc)
			continue;
		const struct xc_place *place = xc_crash_context_place(crash, i);
		const char *name = xc_place_outer_function(place);
		*why = xc_arena_printf(&crash->report->arena,
				       "the object at 0x%" PRIx64
				       " would contain the return address of %s, which runs: "
				       "the function whose frame it was in has returned",
				       addr, name ? name : "a function");
		return true;
	}
	return false;
}

/* A variable of another type is in the object; arrays of bytes may hold anything. */
static bool is_other_variable(const struct xc_crash_context *crash, xc_addr addr, const struct xc_type *type,
			      const char **why)
{
	uint64_t sp, word_size = crash->process->arch->word, size = size_of(type);
	const struct xc_thread *thread = crash->faulted;
	bool other = false, unnamed = true; /* up to here no variable has a word of the object */
	if (!type || !xc_same_type_is_record(type) || !xc_regs_get(&thread->regs, crash->process->arch->sp, &sp) ||
	    addr < sp)
		return false;
	size = size < MOST_WORDS * word_size ? size : MOST_WORDS * word_size;
	for (xc_addr at = addr; at < addr + size && unnamed; at += word_size) {
		struct xc_stackword word = xc_stackword_find(crash->process, thread, at);
		unnamed = word.in_frame && !word.type;
		other = word.in_frame && word.type && !xc_same_type_may_hold(word.type, type);
		if (other)
			*why = xc_arena_printf(
				&crash->report->arena,
				"at 0x%" PRIx64 " is the variable `%s` of %s: the object's function has returned", at,
				xc_text_string(&word.variable), word.function ? word.function : "a function");
		xc_stackword_fini(&word);
	}
	return other;
}

/* Is it the method that the frame is in, inlined perhaps, and no other function of the frame? */
static bool is_method(const struct xc_place *place, const char *function)
{
	size_t same = 0;
	for (size_t l = 0; l < place->level_count; l++) {
		const char *name = xc_place_function(place, l);
		same += name && strcmp(name, function) == 0;
		if (!l && !same)
			return false;
	}
	return same == 1;
}

/* `this` is older than the variables of its method, and never changes: what it points to is none of them. */
static bool is_own_local(const struct xc_crash_context *crash, const struct xc_deref *deref, xc_addr addr,
			 const char **why)
{
	uint64_t sp, next;
	const struct xc_arch *arch = crash->process->arch;
	if (!deref->pointer || strcmp(deref->pointer, "this") != 0 || crash->thread != crash->faulted ||
	    deref->frame + 1 >= crash->frame_count || !xc_regs_get(&crash->frames[deref->frame].regs, arch->sp, &sp) ||
	    !xc_regs_get(&crash->frames[deref->frame + 1].regs, arch->sp, &next) || addr < sp || addr >= next)
		return false;
	struct xc_stackword word = xc_stackword_find(crash->process, crash->thread, addr);
	bool own = word.in_frame && word.type && word.function &&
		   is_method(xc_crash_context_place(crash, deref->frame), word.function);
	if (own)
		*why = xc_arena_printf(&crash->report->arena,
				       "`this` is older than the variables of %s, and at 0x%" PRIx64
				       " is now its variable `%s`: the object's function has returned",
				       word.function, addr, xc_text_string(&word.variable));
	xc_stackword_fini(&word);
	return own;
}

/* Does an argument of a function that called this one lead there, to an object of another type? Then one of the two is
 * gone. */
static bool is_other_argument(const struct xc_crash_context *crash, const struct xc_deref *deref, xc_addr addr,
			      const struct xc_type *type, const char **why)
{
	uint64_t sp;
	if (!type || !xc_same_type_is_record(type) ||
	    !xc_regs_get(&crash->faulted->regs, crash->process->arch->sp, &sp) || addr < sp)
		return false;
	for (size_t i = deref->frame + 1; i < crash->frame_count && i <= deref->frame + CALLERS; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		struct xc_named_value *values;
		size_t level = context.place->level_count, count = 0;
		if (level-- && !context.place->line_only)
			count = xc_variable_values(&context, level, false, &crash->report->arena, &values);
		for (size_t k = 0; k < count; k++) {
			const struct xc_type *other = xc_same_type_pointed(values[k].value.type);
			uint64_t value;
			const char *function = xc_place_function(context.place, level);
			if (!other || !xc_same_type_is_record(other) || !values[k].name ||
			    !xc_value_load(&values[k].value, &value) || value != addr ||
			    xc_same_type_may_hold(other, type))
				continue;
			*why = xc_arena_printf(
				&crash->report->arena,
				"`%s` of %s, which runs, leads there, too, to an object of another type: "
				"one of the two is gone",
				values[k].name, function ? function : "a function");
			return true;
		}
	}
	return false;
}

/* In a frame that is younger than the pointer. */
static bool is_younger(const struct xc_crash_context *crash, const struct xc_mapping *m, xc_addr addr, size_t holder,
		       const char **why)
{
	uint64_t sp, inner;
	const struct xc_arch *arch = crash->process->arch;
	if (!holder || holder >= crash->frame_count || !xc_regs_get(&crash->fault.frame.regs, arch->sp, &inner) ||
	    !xc_regs_get(&crash->frames[holder].regs, arch->sp, &sp) || !is_whole_stack(crash, crash->faulted, m, sp) ||
	    inner < m->lo || sp > m->hi || addr < inner - RED_ZONE || addr >= sp)
		return false;
	const struct xc_place *place = xc_crash_context_place(crash, holder);
	const char *name = xc_place_function(place, 0);
	*why = xc_arena_printf(&crash->report->arena,
			       "0x%" PRIx64
			       " is below the frame of %s, which had the pointer before it called what runs "
			       "now: the function whose frame it was in has returned",
			       addr, name ? name : "a function");
	return true;
}

/* Does the crashed thread run on its own stack? A fiber's or a signal handler's may lie in a local array, below the
 * frame of a function that is only suspended. Then the stack pointers do not rise up to where threads begin. */
static bool is_on_own_stack(const struct xc_crash_context *crash)
{
	static const char *const begins[] = {"_start",
					     "main",
					     "__libc_start_main_impl",
					     "__libc_start_main",
					     "start_thread",
					     "clone3",
					     "__clone3",
					     "clone",
					     "__clone",
					     "thread_start",
					     NULL};
	uint64_t sp, before = 0;
	for (size_t i = 0; i < crash->frame_count; i++) {
		if (!xc_regs_get(&crash->frames[i].regs, crash->process->arch->sp, &sp) || sp < before ||
		    crash->frames[i].signal)
			return false;
		before = sp;
	}
	if (!crash->frame_count)
		return false;
	const struct xc_place *place = xc_crash_context_place(crash, crash->frame_count - 1);
	const char *name = xc_place_outer_function(place);
	return name && xc_names_find(begins, name);
}

bool xc_dead_frame_at(const struct xc_crash_context *crash, const struct xc_deref *deref, bool *sure_out,
		      const char **why_out)
{
	const xc_addr addr = deref->led;
	const struct xc_type *type = xc_same_type_pointed(deref->pointer_type);
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	if (!m || !m->writable || m->path || !crash->fault.frame_known ||
	    (crash->heap && xc_blocks_find(&crash->heap->blocks, addr) != XC_NO_BLOCK))
		return false;
	bool found =
		is_below(crash, m, addr, size_of(type), why_out) || is_younger(crash, m, addr, deref->holder, why_out);
	*sure_out = found && is_on_own_stack(crash);
	/* The type may be larger than the object: only its first part is read. */
	return found || is_own_local(crash, deref, addr, why_out) ||
	       has_return_address(crash, addr, size_of(type), why_out) ||
	       is_other_variable(crash, addr, type, why_out) || is_other_argument(crash, deref, addr, type, why_out);
}
