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

/* Is the number, or what is left of it, still in rdx or rcx of the innermost frame? */
static bool has_count(const struct xc_crash_context *crash, uint64_t number)
{
	static const int registers[] = {1, 2}; /* rdx, rcx: where memcpy() and memset() keep it */
	uint64_t value;
	for (size_t i = 0; i < XC_COUNT(registers); i++)
		if (xc_regs_get(&crash->fault.frame.regs, registers[i], &value) && number - value <= UINT32_MAX)
			return true;
	return false;
}

/* "n", "len - 12": a sum of one variable and a constant. NULL: it is none. */
static const char *name_of(const struct xc_crash_context *crash, const struct xc_linear_expr *form)
{
	struct xc_arena *arena = &crash->report->arena;
	int64_t more = (int64_t)form->constant;
	if (!form->known || !form->sure || form->count != 1 || form->parts[0].times != 1 || !form->parts[0].term.text)
		return NULL;
	if (!more)
		return form->parts[0].term.text;
	return xc_arena_printf(arena, "%s %c %" PRIu64, form->parts[0].term.text, more < 0 ? '-' : '+',
			       more < 0 ? 0 - (uint64_t)more : (uint64_t)more);
}

/* An argument of the call that has not returned, and the variable that it is, with a constant added perhaps, or NULL.
 * An int is one only if a register agrees: the code may have passed a part of it. x86-64. */
static bool find_argument(const struct xc_crash_context *crash, unsigned number, const char **name_out, uint64_t *value)
{
	enum { BUDGET = 10000 };
	static const int registers[] = {5, 4, 1}; /* rdi, rsi, rdx: psABI x86-64, 3.2.3 */
	unsigned budget = BUDGET;
	uint64_t size;
	struct xc_frame_code code;
	if (!xc_arch_is_x86_64(crash->process->arch) || crash->frames[crash->blamed].interrupted ||
	    !xc_frame_code_init(crash, crash->blamed, &budget, &code))
		return false;
	struct xc_linear_expr form = xc_symbolic_value_register(&code, code.at, registers[number]);
	bool alone = form.known && form.sure && form.count == 1 && form.parts[0].times == 1 && !form.constant;
	const struct xc_type *type = alone && form.parts[0].term.type ? xc_type_strip(form.parts[0].term.type) : NULL;
	*name_out = name_of(crash, &form);
	if (xc_argument_find(crash, crash->blamed, number, value))
		return true;
	if (!form.known || !form.sure || !xc_origin_value(&code, &form, value))
		return false;
	if (!type || !type->is_signed || !xc_type_size(type, &size) || size != sizeof(int32_t))
		return true;
	*value = xc_extend(*value, 8 * (unsigned)size, true);
	return has_count(crash, *value);
}

/* The length is the mistake: which page ended the copy is not. A cause that names no variable says less. */
static void explain_length(struct xc_crash_context *crash, const char *callee, const char *name, int64_t value)
{
	static const char *const names[] = {"wild-read", "wild-write", "wild-access", "heap-overrun", NULL};
	struct xc_verdict *v = crash->verdict;
	if (!xc_names_find(names, v->class_name))
		return;
	const char *cause = xc_arena_printf(&crash->report->arena,
					    "%s() was given a negative length, %" PRId64 "%s%s%s, which it takes for "
					    "nearly all of the memory",
					    callee, value, name ? " (`" : "", name ? name : "", name ? "`)" : "");
	v->cause = v->cause && strchr(v->cause, '`') ? xc_arena_printf(&crash->report->arena, "%s; %s", cause, v->cause)
						     : cause;
}

/* A size_t that was a negative number: the C library's function got nearly all of the memory to work on. */
static void relate_length(struct xc_crash_context *crash)
{
	const char *callee = crash->blame.place ? xc_argument_callee(crash, crash->blamed) : NULL, *name;
	callee = callee ? xc_libcall_name(callee, &crash->report->arena) : NULL;
	int number = xc_libcall_length(callee);
	uint64_t value;
	if (number < 0 || !find_argument(crash, (unsigned)number, &name, &value) || (int64_t)value >= 0)
		return;
	xc_verdict_evidence(crash->report, "the length of %s()%s%s%s is %" PRId64 ": a negative length", callee,
			    name ? ", `" : "", name ? name : "", name ? "`," : "", (int64_t)value);
	explain_length(crash, callee, name, (int64_t)value);
}

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
	relate_length(crash);
	relate_instruction(crash);
	if (f->addr_known && (f->signal == SIGSEGV || f->signal == SIGBUS))
		relate_address(crash, f->addr);
}
