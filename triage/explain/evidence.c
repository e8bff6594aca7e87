/* evidence: see evidence.h. The reader needs one register, not all: the one of the faulting operand, and the
 * program's name for its value. */
#include "triage/explain/evidence.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "core/facts/facts.h"
#include "dwarf/stack/variable.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/frame_code.h"
#include "triage/dataflow/libcall.h"
#include "triage/dataflow/origin.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/util/gap.h"
#include "triage/util/names.h"

enum { FIRST_PAGES = 64 << 10, NEAR = 4096 };

/* ---- the instruction ---- */

/* "rax = 0x0 is session": the variable is in the register; "the value of": it only has the same value. */
static void add_register(const struct xc_crash_context *crash, int number, struct xc_text *text)
{
	const struct xc_fault *f = &crash->fault;
	const char *name = xc_arch_reg_name(crash->process->arch, number);
	uint64_t value;
	if (!name || number == crash->process->arch->pc || !xc_regs_get(&f->frame.regs, number, &value))
		return;
	xc_text_printf(text, "%s%s = 0x%" PRIx64, text->len ? ", " : "", name, value);
	const struct xc_frame_context context = xc_crash_context_frame(crash, 0);
	const struct xc_place *place = context.place;
	bool located;
	const char *variable = place->level_count && !place->line_only
				       ? xc_variables_in_register(&context, 0, number, value, &located)
				       : NULL;
	if (variable)
		xc_text_printf(text, "%s%s", located ? " is " : ", the value of ", variable);
}

static void relate_instruction(const struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	struct xc_text text = {0};
	if (f->operand_known) {
		add_register(crash, f->operand.base, &text);
		if (f->operand.index != f->operand.base)
			add_register(crash, f->operand.index, &text);
		if (f->operand.count)
			xc_text_printf(&text, ", %s = 0x%" PRIx64 " left",
				       crash->process->arch->machine == EM_386 ? "ecx" : "rcx", f->operand.count);
	}
	if (f->decoded && f->instruction.text[0])
		xc_verdict_evidence(crash->report, "instruction: %s%s%s", f->instruction.text,
				    text.len ? "   with " : "", xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- the address ---- */

/* "libc.so.6+0x1234", "[heap]". */
static const char *place_of(const struct xc_process *p, xc_addr addr, char *place, size_t size)
{
	return xc_facts_place(p, addr, place, size) ? place : "an anonymous mapping";
}

static void relate_gap(const struct xc_crash_context *crash, xc_addr addr, const struct xc_mapping_gap *gap)
{
	const struct xc_process *p = crash->process;
	char below[256], above[256];
	struct xc_text size = {0};
	if (xc_gap_size(gap)) {
		xc_text_size(&size, xc_gap_size(gap));
		xc_verdict_evidence(crash->report, "0x%" PRIx64 " is not mapped: it is in a gap of %s, from %s to %s",
				    addr, xc_text_string(&size), place_of(p, gap->below->hi, below, sizeof below),
				    place_of(p, gap->above->lo, above, sizeof above));
	} else {
		xc_verdict_evidence(crash->report, "0x%" PRIx64 " is not mapped", addr);
	}
	xc_text_fini(&size);
}

static void relate_unmapped(const struct xc_crash_context *crash, xc_addr addr)
{
	const struct xc_process *p = crash->process;
	const struct xc_mapping_gap gap = xc_gap_at(p, addr);
	const struct xc_mapping *below = gap.below, *above = gap.above;
	char place[256];
	if (below && addr - below->hi <= NEAR)
		xc_verdict_evidence(crash->report, "0x%" PRIx64 " is not mapped: %" PRIu64 " bytes past the end of %s",
				    addr, addr - below->hi - 1, place_of(p, below->hi, place, sizeof place));
	else if (above && above->lo - addr <= NEAR)
		xc_verdict_evidence(crash->report, "0x%" PRIx64 " is not mapped: %" PRIu64 " bytes below %s", addr,
				    above->lo - addr, place_of(p, above->lo, place, sizeof place));
	else
		relate_gap(crash, addr, &gap);
}

/* Only where the pointer is known to be NULL, or nothing is known of it. */
static const char *offset_words(const struct xc_crash_context *crash)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	uint64_t base;
	if (crash->number || crash->pointer || crash->fault.access == XC_ACCESS_EXECUTE)
		return "";
	bool known =
		crash->fault.operand_known && o->base >= 0 && xc_regs_get(&crash->fault.frame.regs, o->base, &base);
	return known && base && crash->verdict->confidence && strcmp(crash->verdict->confidence, "certain") != 0
		       ? ": likely a null pointer plus an offset"
		       : ": a null pointer plus an offset";
}

/* Where the code tests a pointer and goes on with NULL, a compiler writes the address into the instruction. */
static bool is_constant(const struct xc_crash_context *crash)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	return crash->fault.operand_known && !o->stack && o->base < 0 && o->index < 0;
}

static void relate_address(const struct xc_crash_context *crash, xc_addr addr)
{
	char place[256];
	const struct xc_mapping *m = xc_process_mapping(crash->process, addr);
	if (m)
		xc_verdict_evidence(crash->report, "0x%" PRIx64 " lies in %s, mapped %c%c%c", addr,
				    place_of(crash->process, addr, place, sizeof place), m->readable ? 'r' : '-',
				    m->writable ? 'w' : '-', m->executable ? 'x' : '-');
	else if (addr < FIRST_PAGES && is_constant(crash))
		xc_verdict_evidence(crash->report,
				    "the instruction has the address 0x%" PRIx64 " in itself: on this way through the "
				    "code the pointer is always NULL, as the compiler saw",
				    addr);
	else if (!addr)
		xc_verdict_evidence(crash->report, "nothing is ever mapped at 0x0");
	else if (addr < FIRST_PAGES)
		xc_verdict_evidence(crash->report, "nothing is ever mapped at 0x%" PRIx64 "%s", addr,
				    offset_words(crash));
	else if (!xc_operand_canonical(addr))
		xc_verdict_evidence(crash->report,
				    "0x%" PRIx64 " is not canonical: no pointer of this machine has these upper bits",
				    addr);
	else
		relate_unmapped(crash, addr);
}

/* ---- a length ---- */

void xc_evidence_add(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	if (f->in_handler)
		xc_verdict_evidence(crash->report, "seen through a signal handler: the core itself was made by %s",
				    xc_signal_name(f->outer_signal));
	if (f->first_signal && !f->resent)
		xc_verdict_evidence(crash->report, "it died in its handler of %s, which %s %d (user %u) had sent",
				    xc_signal_name(f->first_signal),
				    f->first_sender == crash->process->pid ? "the process itself," : "process",
				    (int)f->first_sender, (unsigned)f->first_user);
	relate_instruction(crash);
	if (f->addr_known && (f->signal == SIGSEGV || f->signal == SIGBUS))
		relate_address(crash, f->addr);
}
