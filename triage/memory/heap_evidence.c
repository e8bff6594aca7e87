#include "triage/memory/heap_evidence.h"

#include <string.h>
#include <signal.h>

#include "core/base/text.h"
#include "heap/report/audit.h"
#include "heap/report/overrun.h"
#include "heap/query/whatis.h"
#include "triage/blocks/referrers.h"
#include "triage/waits/wait_kind.h"
#include "triage/waits/waits.h"
#include "triage/dataflow/pointers.h"
#include "triage/util/same_type.h"
#include "triage/blocks/block_types.h"
#include "triage/blocks/wrapped_size.h"
#include "triage/util/names.h"
#include "dwarf/types/type.h"

enum { FREED_MOST = 3, OUTWARD = 3 /* frames, from the blamed one on */, ROUNDING = 24 /* bytes that malloc adds */ };

static void report_block(const struct xc_crash_context *crash, const char *who, uint64_t value)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	const uint32_t found = xc_blocks_find(blocks, value);
	if (found == XC_NO_BLOCK)
		return;
	const bool may_have_type = !xc_block_is_free(xc_block_state(blocks, found));
	if (may_have_type)
		xc_block_types_infer(crash); /* claims may renumber the blocks */
	struct xc_what what = xc_what(crash->heap->process, crash->heap, value);
	if (what.kind != XC_WHAT_BLOCK)
		return;
	enum xc_block_state state = xc_block_state(blocks, what.block);
	struct xc_text text = {0};
	xc_what_text(crash->heap->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report,
			    xc_block_is_free(state) ? "%s points into freed memory: %s%s" : "%s points to: %s%s", who,
			    xc_text_string(&text), may_have_type ? xc_block_types_only_by(crash, value) : "");
	xc_text_fini(&text);
}

static void report_register(const struct xc_crash_context *crash, int number)
{
	const struct xc_arch *arch = crash->heap->process->arch;
	const char *name = xc_arch_reg_name(arch, number);
	uint64_t value;
	if (name && xc_regs_get(&crash->fault.frame.regs, number, &value))
		report_block(crash, name, value);
}

static void report_operand(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	bool by_register = f->frame_known && f->operand_known && f->operand.base >= 0;
	if (by_register)
		report_register(crash, f->operand.base);
	if (f->frame_known && f->operand_known && f->operand.index >= 0)
		report_register(crash, f->operand.index);
	if (!by_register && f->addr_known)
		report_block(crash, "the address", f->addr);
}

static void redact_damage(const struct xc_crash_context *crash, const struct xc_damage *damage)
{
	struct xc_text text = {0};
	xc_text_printf(&text, "the heap is damaged at 0x%llx", (unsigned long long)damage->addr);
	xc_verdict_redact(crash->report, xc_text_string(&text));
	xc_text_fini(&text);
}

/* The other registers of the frame that point into freed blocks: what was loaded from there may have faulted. */
static void report_freed(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_arch *arch = crash->heap->process->arch;
	unsigned told = 0;
	const char *kind = crash->verdict->kind;
	if (xc_crash_context_is(crash, "stack-overflow") || (kind && strcmp(kind, "ret") == 0))
		return; /* no pointer that was loaded is at fault */
	if (f->access == XC_ACCESS_EXECUTE && crash->derefs)
		return; /* nothing was loaded; the pointers on the way to the target have been examined */
	for (int number = 0; f->frame_known && number < arch->frame_regs && told < FREED_MOST; number++) {
		uint64_t value;
		if (number == arch->pc || number == arch->sp ||
		    (f->operand_known && (number == f->operand.base || number == f->operand.index)) ||
		    !xc_regs_get(&f->frame.regs, number, &value))
			continue;
		uint32_t block = xc_blocks_find(&crash->heap->blocks, value);
		enum xc_block_state state =
			block == XC_NO_BLOCK ? XC_BLOCK_LIVE : xc_block_state(&crash->heap->blocks, block);
		const char *name = xc_arch_reg_name(arch, number);
		if (!name || !xc_block_is_freed(state))
			continue;
		report_block(crash, name, value);
		told++;
	}
}

/* The program noticed that something was not as it should be. */
static bool is_symptom(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"assertion", "uncaught-exception", "terminate", "panic", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

static void raise_symptom(struct xc_crash_context *crash, const char *damage)
{
	struct xc_verdict *v = crash->verdict;
	v->severity = "high";
	v->cause = xc_arena_printf(&crash->report->arena, "%s%sperhaps because the heap is damaged: %s",
				   v->cause ? v->cause : "", v->cause ? "; " : "", damage);
}

/* An abort without a message may be the allocator's own. A program that calls abort() with a damaged heap has
 * written out of bounds before. */
static void classify_abort(struct xc_crash_context *crash, const struct xc_damage *first)
{
	static const char *const frames[] = {"malloc_printerr", "malloc",         "free",
					     "realloc",         "calloc",         "__libc_free",
					     "__libc_malloc",   "__libc_realloc", "__libc_calloc",
					     "cfree",           "_int_free",      "_int_malloc",
					     "operator delete", "operator new",   NULL};
	static const struct {
		const char *kind, *cause;
	} kinds[] = {
		[XC_DAMAGE_BOOKS] = {"list damage", "the allocator's own state is damaged"},
		[XC_DAMAGE_HEADER] = {"overrun", "the header of a heap block was overwritten"},
		[XC_DAMAGE_LINK] = {"list damage", "a block was written to after it was freed"},
		[XC_DAMAGE_TWICE] = {"double free", "a block was freed a second time"},
	};
	if (is_symptom(crash))
		raise_symptom(crash, kinds[first->kind].cause);
	if (!xc_crash_context_is(crash, "abort"))
		return;
	bool by_allocator = xc_crash_context_find_name(crash, frames);
	xc_auto(xc_freep) char *cause = xc_asprintf("%s: %s",
						    by_allocator ? "the C library aborted the program"
								 : "the program aborted, and its heap is damaged",
						    kinds[first->kind].cause);
	xc_crash_context_classify(crash, by_allocator ? "heap-corruption" : "abort",
				  by_allocator ? kinds[first->kind].kind : NULL, "high", "likely", cause);
}

/* The block after a damaged header, written before its beginning. */
static void report_behind(const struct xc_crash_context *crash, xc_addr at)
{
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, at);
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report,
			    "the block after the damage, 0x%llx, was likely written before its beginning: %s",
			    (unsigned long long)at, xc_text_string(&text));
	xc_text_fini(&text);
	if (what.kind == XC_WHAT_BLOCK)
		xc_referrers_report(crash, what.block, true, "that block is");
}

/* Could a loop or a copy run over the end of an object of this type? One of a record's members is the last; what has
 * no members, or is followed by more than padding, is counted as an array. */
static bool ends_in_array(const struct xc_type *type, uint64_t block_size)
{
	enum { STEPS = 32, PADDING = 16 };
	uint64_t size;
	for (unsigned i = 0; i < STEPS; i++) {
		type = xc_type_complete(xc_type_strip(type));
		bool record = type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS;
		size_t count = 0;
		const struct xc_member *last = NULL, *members = record ? xc_type_members(type, &count) : NULL;
		bool fills = xc_type_size(type, &size) && size <= block_size && block_size - size < PADDING;
		if (!record || !count || (i == 0 && !fills))
			return i == 0 || type->kind == XC_TYPE_ARRAY || type->kind == XC_TYPE_UNION;
		for (size_t k = 0; k < count; k++)
			if (!last || members[k].offset >= last->offset)
				last = &members[k];
		type = last->type;
	}
	return true;
}

/* Why the block before a damage is no likely writer; NULL when it is one. Bytes that begin in it are proof. */
static const char *why_unlikely(const struct xc_crash_context *crash, const struct xc_overrun *overrun,
				const struct xc_what *what, const char *text)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	if (overrun->certain)
		return NULL;
	if (strstr(text, "tcache_perthread_struct")) /* glibc itself writes there */
		return "belongs to the C library";
	if (xc_block_is_free(xc_block_state(blocks, overrun->block)))
		return "is free";
	uint32_t block;
	const struct xc_typed *typed = xc_block_types_at(crash, what->addr, &block);
	bool one = typed && !typed->offset && typed->shape == XC_TYPED_ONE;
	return one && !ends_in_array(typed->type, xc_block_size(blocks, block)) ? "has no array at its end" : NULL;
}

/* A pointer to the end of an array is meant to be there. */
static bool is_end(const char *name)
{
	static const char *const words[] = {"end", "finish", "stop", "limit", "last", "sentinel", NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	while (!found && xc_names_next_word(&name, word))
		found = xc_names_find(words, word);
	return found;
}

/* A variable that points to the element after the last one that the block has room for: what was written there is
 * likely such an element. */
static void report_beyond(const struct xc_crash_context *crash, uint32_t block)
{
	const struct xc_blocks *blocks = &crash->heap->blocks;
	xc_addr begin = xc_block_addr(blocks, block);
	uint64_t room = xc_block_size(blocks, block), size;
	struct xc_pointers pointers;
	xc_pointers_variables(crash, crash->blame.place ? crash->blamed + OUTWARD : 1, &pointers);
	for (size_t i = 0; i < pointers.count; i++) {
		const struct xc_pointer *one = &pointers.items[i];
		const struct xc_type *type = xc_same_type_pointed(one->type);
		if (!one->name || is_end(one->name) || !type || !xc_same_type_is_record(type) ||
		    !xc_type_size(type, &size) || !size || room / size < 2 || room % size >= ROUNDING ||
		    one->value != begin + room / size * size)
			continue;
		struct xc_text text = {0};
		xc_pointers_text(crash, one, &text);
		xc_verdict_evidence(
			crash->report,
			"%s points right behind the last of the %llu elements that have room in that block: "
			"likely what was written there",
			xc_text_string(&text), (unsigned long long)(room / size));
		xc_text_fini(&text);
		return;
	}
}

/* The block that ends where the damage begins. */
static void report_before(struct xc_crash_context *crash, const struct xc_overrun *overrun)
{
	struct xc_heap *heap = crash->heap;
	struct xc_text text = {0};
	struct xc_what what = xc_what(heap->process, heap, xc_block_addr(&heap->blocks, overrun->block));
	xc_what_text(heap->process, heap, &what, &text);
	const char *why = why_unlikely(crash, overrun, &what, xc_text_string(&text));
	if (why)
		xc_verdict_evidence(crash->report,
				    "the block before the damage, at 0x%llx, %s; the code that wrote past its end, or "
				    "before the beginning of a later block, is not known: %s",
				    (unsigned long long)what.addr, why, xc_text_string(&text));
	else
		xc_verdict_evidence(crash->report,
				    "the block before the damage, 0x%llx, was likely written past its "
				    "end: %s%s",
				    (unsigned long long)what.addr, xc_text_string(&text),
				    overrun->certain ? ""
						     : "; a write before the beginning of a block after it is "
						       "possible, too");
	xc_text_fini(&text);
	if (why)
		return;
	xc_overrun_bytes_report(crash, overrun);
	xc_referrers_report(crash, overrun->block, true, "that block is");
	report_beyond(crash, xc_blocks_find(&heap->blocks, what.addr));
	xc_wrapped_size_report(crash, what.addr);
}

/* The first damage to report, and the block that ends where it begins. */
void xc_heap_evidence_damage(struct xc_crash_context *crash)
{
	struct xc_heap *heap = crash->heap;
	if (crash->fault.signal == SIGABRT) /* the allocator may have seen the damage of its lists */
		xc_audit_lists(heap);
	const struct xc_damage *first = xc_audit_first(heap);
	struct xc_overrun overrun;
	if (!first)
		return;
	xc_verdict_evidence(crash->report, "the heap is damaged at 0x%llx: %s%s", (unsigned long long)first->addr,
			    first->what, heap->damage_count > 1 ? " (and elsewhere: xcore heap check)" : "");
	if (strstr(first->what, "0x")) /* such a number may be what overwrote a link: user data */
		redact_damage(crash, first);
	classify_abort(crash, first);
	if (first->kind != XC_DAMAGE_HEADER)
		return;
	xc_block_types_infer(crash);
	xc_overrun_find(heap, first, &overrun);
	if (overrun.behind != XC_NO_BLOCK) {
		report_behind(crash, xc_block_addr(&heap->blocks, overrun.behind));
		return;
	}
	if (overrun.block == XC_NO_BLOCK)
		return; /* none ends there */
	report_before(crash, &overrun);
}

/* A signal interrupted malloc, and its handler never returned: apparent damage is likely an unfinished update,
 * unless the allocator itself complained. Returns the interrupted function; else NULL. */
static const char *unfinished(const struct xc_crash_context *crash)
{
	static const char *const complains[] = {"malloc_printerr", NULL};
	const struct xc_wait *wait = xc_waits_thread(xc_waits_of(crash->process), crash->thread->tid);
	bool inside = wait && wait->handler && xc_wait_kind_allocates(wait->interrupted);
	return inside && !xc_crash_context_find_name(crash, complains) ? xc_wait_kind_plain(wait->interrupted) : NULL;
}

static void report_unfinished(const struct xc_crash_context *crash, const char *function)
{
	const struct xc_damage *first = xc_audit_first(crash->heap);
	if (first)
		xc_verdict_evidence(crash->report,
				    "missing: whether the heap is damaged: it looks damaged at 0x%llx, but a signal "
				    "interrupted %s(), which may have been at work there",
				    (unsigned long long)first->addr, function);
}

void xc_heap_evidence_add(struct xc_crash_context *crash)
{
	bool told = xc_crash_context_is(crash, "use-after-free") ||
		    xc_crash_context_is(crash, "heap-overrun"); /* pointer_diagnosis.h */
	if (!crash->fault.sent && !told) {
		report_operand(crash);
		report_freed(crash);
	}
	const char *function = unfinished(crash);
	if (function)
		report_unfinished(crash, function);
	else
		xc_heap_evidence_damage(crash);
}
