#include "heapfacts.h"

#include <ctype.h>
#include <string.h>
#include <signal.h>

#include "../core/text.h"
#include "../dwarf/unwind.h"
#include "../heap/audit.h"
#include "../heap/overrun.h"
#include "../heap/typing.h"
#include "../heap/whatis.h"
#include "blame.h"
#include "fault.h"

enum { TEXT_LEAST = 5, FREED_MOST = 3, ABORT_DEPTH = 40 };

struct teller {
	struct xc_report *report;
	struct xc_heap *heap;
	const struct xc_fault *fault;
	struct xc_unwinder *unwinder;
};

/* The bytes of a pointer as they lie in memory, when they are characters: strings that overwrote it. At most two NULs at the end. */
static bool pointer_text(uint64_t value, struct xc_text *text)
{
	unsigned len = 8;
	while (len > 0 && (value >> (8 * (len - 1)) & 255) == 0)
		len--;
	if (len < TEXT_LEAST)
		return false;
	for (unsigned i = 0; i < len; i++) {
		int c = (int)(value >> (8 * i) & 255);
		if (!isascii(c) || (!isprint(c) && c != '\n' && c != '\t'))
			return false;
	}
	for (unsigned i = 0; i < len; i++)
		xc_text_char(text, (char)(value >> (8 * i)));
	return true;
}

static void tell_text(const struct teller *t, const char *who, uint64_t value)
{
	struct xc_text raw = {0}, shown = {0}, redacted = {0};
	if (pointer_text(value, &raw)) {
		xc_text_escaped(&shown, raw.bytes, raw.len);
		xc_verdict_evidence(t->report, "the bytes of %s are text, \"%s\": a string was written over it", who,
				    shown.bytes);
		xc_text_printf(&redacted, "the bytes of %s are text: a string was written over it", who);
		xc_verdict_redact(t->report, xc_text_string(&redacted));
	}
	xc_text_fini(&redacted);
	xc_text_fini(&raw);
	xc_text_fini(&shown);
}

/* Types for the words about a block; without them they say less. */
static void want_types(const struct teller *t)
{
	struct xc_typing *typing;
	if (t->heap->blocks.count <= XC_HEAP_FACTS_TYPED)
		xc_error_free(xc_typing_of(t->heap, &typing));
}

static void tell_block(const struct teller *t, const char *who, uint64_t value)
{
	const struct xc_blocks *blocks = &t->heap->blocks;
	if (xc_blocks_find(blocks, value) == XC_NO_BLOCK)
		return;
	want_types(t); /* claims give blocks other numbers */
	struct xc_what what = xc_what(t->heap->process, t->heap, value);
	if (what.kind != XC_WHAT_BLOCK)
		return;
	enum xc_block_state state = xc_block_state(blocks, what.block);
	struct xc_text text = {0};
	xc_what_text(t->heap->process, t->heap, &what, &text);
	xc_verdict_evidence(t->report, xc_block_is_free(state) ? "%s points into freed memory: %s" : "%s points to: %s",
			    who, xc_text_string(&text));
	xc_text_fini(&text);
}

static void tell_value(const struct teller *t, const char *who, uint64_t value)
{
	tell_text(t, who, value);
	tell_block(t, who, value);
}

static void tell_register(const struct teller *t, int number)
{
	const struct xc_arch *arch = t->heap->process->arch;
	const char *name = xc_arch_reg_name(arch, number);
	uint64_t value;
	if (name && xc_regs_get(&t->fault->frame.regs, number, &value))
		tell_value(t, name, value);
}

static void tell_operand(const struct teller *t)
{
	const struct xc_fault *f = t->fault;
	bool by_register = f->frame_known && f->operand_known && f->operand.base >= 0;
	if (by_register)
		tell_register(t, f->operand.base);
	if (f->frame_known && f->operand_known && f->operand.index >= 0)
		tell_register(t, f->operand.index);
	if (!by_register && f->addr_known)
		tell_value(t, "the address", f->addr);
}

static void redact_damage(const struct teller *t, const struct xc_damage *damage)
{
	struct xc_text text = {0};
	xc_text_printf(&text, "the heap is damaged at 0x%llx", (unsigned long long)damage->addr);
	xc_verdict_redact(t->report, xc_text_string(&text));
	xc_text_fini(&text);
}

/* The other registers of the instruction's frame that point into freed blocks: what was loaded from there may be what faulted. */
static void tell_freed(const struct teller *t)
{
	const struct xc_fault *f = t->fault;
	const struct xc_arch *arch = t->heap->process->arch;
	unsigned told = 0;
	for (int number = 0; f->frame_known && number < arch->frame_regs && told < FREED_MOST; number++) {
		uint64_t value;
		if (number == arch->pc || number == arch->sp ||
		    (f->operand_known && (number == f->operand.base || number == f->operand.index)) ||
		    !xc_regs_get(&f->frame.regs, number, &value))
			continue;
		uint32_t block = xc_blocks_find(&t->heap->blocks, value);
		enum xc_block_state state =
			block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(&t->heap->blocks, block);
		const char *name = xc_arch_reg_name(arch, number);
		if (!name || !xc_block_is_free(state) || state == XC_BLOCK_TOP)
			continue;
		tell_block(t, name, value);
		told++;
	}
}

/* An abort without last words that were kept may be the allocator's own; and whoever calls abort() in a damaged heap does so in a
 * program that wrote where it must not. */
static void judge_abort(const struct teller *t, const struct xc_damage *first)
{
	static const char *const frames[] = {"malloc_printerr", "malloc",         "free",
					     "realloc",         "calloc",         "__libc_free",
					     "__libc_malloc",   "__libc_realloc", "__libc_calloc",
					     "cfree",           "_int_free",      "_int_malloc",
					     "operator delete", "operator new",   NULL};
	static const struct {
		const char *class_name, *cause;
	} kinds[] = {
		[XC_DAMAGE_BOOKS] = {"heap-corruption (list damage)", "the allocator's own state is damaged"},
		[XC_DAMAGE_HEADER] = {"heap-corruption (overrun)", "the header of a heap block was overwritten"},
		[XC_DAMAGE_LINK] = {"heap-corruption (list damage)", "a block was written to after it was freed"},
		[XC_DAMAGE_TWICE] = {"heap-corruption (double free)", "a block was freed a second time"},
	};
	struct xc_verdict *verdict = t->report->verdict;
	if (!verdict->class_name || strcmp(verdict->class_name, "abort") != 0)
		return;
	bool by_allocator = t->fault->frame_known &&
			    xc_blame_passes(t->heap->process, t->unwinder, &t->fault->frame, frames, ABORT_DEPTH);
	verdict->severity = "high";
	if (by_allocator)
		verdict->class_name = kinds[first->kind].class_name;
	verdict->confidence = "likely";
	verdict->cause = xc_arena_printf(&t->report->arena, "%s: %s",
					 by_allocator ? "the C library aborted the program"
						      : "the program aborted, and its heap is damaged",
					 kinds[first->kind].cause);
}

/* The damage to tell first, and the block that ends where it begins. */
static void tell_damage(const struct teller *t)
{
	struct xc_heap *heap = t->heap;
	if (t->fault->signal == SIGABRT) /* the allocator may have seen what its lists show */
		xc_audit_lists(heap);
	const struct xc_damage *first = xc_audit_first(heap);
	struct xc_overrun overrun;
	if (!first)
		return;
	xc_verdict_evidence(t->report, "the heap is damaged at 0x%llx: %s%s", (unsigned long long)first->addr,
			    first->what, heap->damage_count > 1 ? " (and elsewhere: xcore heap check)" : "");
	if (strstr(first->what, "0x")) /* such a number can be what overwrote a link: the user's data */
		redact_damage(t, first);
	judge_abort(t, first);
	if (first->kind != XC_DAMAGE_HEADER)
		return;
	want_types(t);
	xc_overrun_find(heap, first, &overrun);
	if (overrun.block == XC_NO_BLOCK)
		return; /* none ends there */
	struct xc_text text = {0};
	struct xc_what what = xc_what(heap->process, heap, xc_block_addr(&heap->blocks, overrun.block));
	xc_what_text(heap->process, heap, &what, &text);
	xc_verdict_evidence(t->report, "the block before the damage, 0x%llx, was likely written past its end: %s",
			    (unsigned long long)what.addr, xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_heap_facts(struct xc_report *report, struct xc_heap *heap)
{
	struct xc_fault fault;
	if (!report->verdict)
		return;
	struct xc_unwinder *unwinder = xc_unwinder_new(heap->process);
	const struct teller teller = {report, heap, &fault, unwinder};
	if (xc_fault_find(heap->process, unwinder, &fault)) {
		if (!fault.sent) {
			tell_operand(&teller);
			tell_freed(&teller);
		}
		tell_damage(&teller);
	}
	xc_unwinder_free(unwinder);
}
