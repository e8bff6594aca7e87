/* pointer_diagnosis: see pointer_diagnosis.h. Ordered by strength of proof: first what the heap knows, then what the
 * value itself shows. */
#include "triage/memory/pointer_diagnosis.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "triage/explain/array_bounds.h"
#include "triage/memory/bit_flip.h"
#include "triage/memory/stale_pointer.h"
#include "triage/blocks/value_place.h"
#include "triage/memory/wild_index.h"
#include "triage/util/odd_number.h"
#include "triage/util/names.h"
#include "triage/util/poison.h"
#include "triage/util/producer.h"
#include "triage/util/severity.h"

enum { LEAST = 64 << 10 };

static void suspect(struct xc_pointer_diagnosis *s, const char *who, uint64_t value, int reg)
{
	if (value < LEAST || s->suspect_count >= XC_SUSPECTS)
		return;
	s->suspects[s->suspect_count++] = (struct xc_suspect){.who = who, .value = value, .reg = reg};
}

static void suspect_register(struct xc_pointer_diagnosis *s, int number)
{
	const struct xc_arch *arch = s->crash->process->arch;
	const char *name = xc_arch_reg_name(arch, number);
	uint64_t value;
	if (name && number != arch->pc && number != arch->sp && number != arch->fp &&
	    xc_regs_get(&s->crash->fault.frame.regs, number, &value))
		suspect(s, name, value, number);
}

static void collect_suspects(struct xc_pointer_diagnosis *s)
{
	const struct xc_fault *f = &s->crash->fault;
	if (!f->frame_known)
		return;
	if (f->access == XC_ACCESS_EXECUTE) {
		suspect(s, "the target", f->addr_known ? f->addr : f->frame.pc, -1);
		return;
	}
	if (f->operand_known) {
		suspect_register(s, f->operand.base);
		if (f->operand.index != f->operand.base)
			suspect_register(s, f->operand.index);
	}
	if (!s->suspect_count && f->addr_known)
		suspect(s, "the address", f->addr, -1);
	for (size_t i = 0; i < s->suspect_count; i++)
		s->suspects[i].inside = s->crash->blame.through != NULL;
}

void xc_pointer_diagnosis_explain(struct xc_pointer_diagnosis *s, const char *format, ...)
{
	struct xc_verdict *v = s->crash->verdict;
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	struct xc_arena *arena = &s->crash->report->arena;
	v->cause = v->cause ? xc_arena_printf(arena, "%s; %s", v->cause, text) : xc_arena_strdup(arena, text);
}

const char *xc_pointer_diagnosis_cause(const struct xc_crash_context *crash)
{
	return crash->verdict->cause && strchr(crash->verdict->cause, '`') ? crash->verdict->cause : NULL;
}

void xc_pointer_diagnosis_raise(struct xc_pointer_diagnosis *s)
{
	struct xc_verdict *v = s->crash->verdict;
	if (v->severity)
		v->severity = xc_severity_name(xc_severity_rank(v->severity) + 1);
}

/* ---- what the value shows ---- */

static void report_poison(struct xc_pointer_diagnosis *s, const struct xc_suspect *it, const struct xc_poison *poison)
{
	static const char *const meanings[] = {[XC_POISON_EITHER] = "likely never set, or no longer to be used",
					       [XC_POISON_FREED] = "likely used after it was freed",
					       [XC_POISON_UNSET] = "likely never set"};
	if (poison->whose) {
		xc_verdict_evidence(s->crash->report, "%s = 0x%" PRIx64 " is the pattern 0x%" PRIx64 " %s", it->who,
				    it->value, poison->pattern, poison->whose);
		xc_pointer_diagnosis_explain(s, "the value is a pattern %s: %s", poison->whose,
					     meanings[poison->meaning]);
	} else {
		xc_verdict_evidence(s->crash->report,
				    "%s = 0x%" PRIx64 " is the byte 0x%02x, repeated: a fill pattern, which no known "
				    "allocator of this process writes",
				    it->who, it->value, (unsigned)(poison->pattern & 0xff));
		xc_pointer_diagnosis_explain(s, "the value is one byte repeated: memory that was filled, because it "
						"was freed, never set, or by the program itself");
	}
	xc_pointer_diagnosis_raise(s);
}

static bool diagnose_poison(struct xc_pointer_diagnosis *s)
{
	const struct xc_crash_context *crash = s->crash;
	const struct xc_poison_owners owners = {.process = crash->process,
						.heap = crash->heap,
						.producer =
							crash->blame.place ? xc_producer(crash->blame.place) : NULL};
	for (size_t i = 0; i < s->suspect_count; i++) {
		struct xc_poison poison;
		if (!xc_poison_find(&owners, s->suspects[i].value, &poison))
			continue;
		report_poison(s, &s->suspects[i], &poison);
		return true;
	}
	return false;
}

/* An int that overflowed by 2^31, as an index of elements up to 32 bytes, has the same effect. */
static bool is_overflow(unsigned bit)
{
	return bit >= 31 && bit <= 36;
}

/* "; the index `i` = 4294967295, that is (unsigned)-1, of elements of 0x30 bytes (struct route)" */
static void add_index(struct xc_pointer_diagnosis *s, const struct xc_wild_index *far, struct xc_text *text)
{
	struct xc_heap *heap = s->crash->heap;
	uint32_t block = heap ? xc_blocks_find(&heap->blocks, far->good) : XC_NO_BLOCK;
	struct xc_text index = {0};
	bool named;
	if (block != XC_NO_BLOCK && xc_block_addr(&heap->blocks, block) == far->good &&
	    xc_element_index_in_block(s->crash, block, &index, &named) && named)
		xc_text_printf(text, "; %s", xc_text_string(&index));
	else if (xc_odd_number_index(far->number, 0, false, &index))
		xc_text_printf(text, "; %" PRId64 "%s", far->number, xc_text_string(&index));
	xc_text_fini(&index);
}

static void explain_wild_index(struct xc_pointer_diagnosis *s, const struct xc_wild_index *far)
{
	static const char why[] = "likely an index that is wrong or has overflowed";
	struct xc_text index = {0};
	add_index(s, far, &index);
	if (far->several)
		xc_pointer_diagnosis_explain(
			s, "the value differs from a valid pointer by a multiple of a number in a register: %s", why);
	else
		xc_pointer_diagnosis_explain(
			s, "the value is %" PRId64 " elements of %" PRIu64 " %s away from a valid pointer: %s%s",
			far->number, far->size, far->size == 1 ? "byte" : "bytes", why, xc_text_string(&index));
	xc_text_fini(&index);
}

static bool diagnose_wild_index(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		const struct xc_suspect *it = &s->suspects[i];
		struct xc_wild_index far;
		if (!xc_wild_index_find(s->crash, it->value, it->reg, &far))
			continue;
		uint64_t count = far.number < 0 ? 0 - (uint64_t)far.number : (uint64_t)far.number;
		xc_verdict_evidence(s->crash->report,
				    "%s = 0x%" PRIx64 " is %" PRIu64 " × %" PRIu64 " bytes %s 0x%" PRIx64
				    ", %s; %s is %" PRId64 "%s",
				    it->who, it->value, count, far.size, far.below ? "below" : "above", far.good,
				    far.what, xc_arch_reg_name(s->crash->process->arch, far.reg), far.number,
				    far.several ? " (other registers or sizes lead there as well)" : "");
		explain_wild_index(s, &far);
		return true;
	}
	return false;
}

/* The expression names the array: "the index `i` is 32768, past the end of `r->slots`, a block of 96 bytes". */
static bool diagnose_element(struct xc_pointer_diagnosis *s)
{
	const struct xc_crash_context *crash = s->crash;
	struct xc_text bounds = {0};
	bool found = crash->heap && crash->fault.addr_known && !crash->blame.through &&
		     xc_array_bounds_report(crash, 0, crash->verdict->expression, crash->fault.addr, true, &bounds);
	if (found)
		xc_pointer_diagnosis_explain(s, "%s", xc_text_string(&bounds));
	xc_text_fini(&bounds);
	return found;
}

static bool diagnose_bit_flip(struct xc_pointer_diagnosis *s)
{
	for (size_t i = 0; i < s->suspect_count; i++) {
		const struct xc_suspect *it = &s->suspects[i];
		struct xc_bit_flip flip;
		if (!xc_bit_flip_find(s->crash, it->value, it->reg, &flip))
			continue;
		xc_verdict_evidence(s->crash->report,
				    "%s = 0x%" PRIx64 " is one bit (bit %u) away from 0x%" PRIx64 ", %s", it->who,
				    it->value, flip.bit, flip.good, flip.what);
		xc_pointer_diagnosis_explain(s,
					     "the value is one bit away from a valid pointer: something set or cleared "
					     "that bit, perhaps bad memory%s",
					     is_overflow(flip.bit) ? "; or an index that overflowed led there" : "");
		return true;
	}
	return false;
}

static bool diagnose_class(struct xc_pointer_diagnosis *s)
{
	struct xc_stale stale = xc_stale_class_find(s->crash);
	return xc_stale_pointer_report(s->crash, &stale, false);
}

/* An object of another class explains more than that its parts are held as something else. */
static bool diagnose_stale(struct xc_pointer_diagnosis *s)
{
	s->stale = xc_stale_pointer_find(s->crash);
	if (s->stale.kind == XC_STALE_REUSED && diagnose_class(s))
		return true;
	return xc_stale_pointer_report(s->crash, &s->stale, false);
}

/* Where the way of the value is not known: the variable that leads to a word with it. */
static bool diagnose_placed(struct xc_pointer_diagnosis *s)
{
	struct xc_deref *place = xc_arena_alloc(&s->crash->report->arena, sizeof *place);
	for (size_t i = 0; i < s->suspect_count && s->crash->heap; i++) {
		struct xc_stale stale;
		if (!xc_value_place_of_variable(s->crash, s->suspects[i].value, place))
			continue;
		stale = xc_stale_pointer_at(s->crash, place);
		if (stale.kind == XC_STALE_REUSED && xc_stale_pointer_report(s->crash, &stale, false))
			return true;
	}
	return false;
}

static bool diagnose_damaged(struct xc_pointer_diagnosis *s)
{
	return xc_damaged_block_report(s->crash);
}

static bool diagnose_argument(struct xc_pointer_diagnosis *s)
{
	struct xc_stale stale = xc_stale_argument_find(s->crash);
	return xc_stale_pointer_report(s->crash, &stale, false);
}

static bool diagnose_member(struct xc_pointer_diagnosis *s)
{
	struct xc_stale stale = xc_stale_member_find(s->crash);
	return xc_stale_pointer_report(s->crash, &stale, false);
}

static bool diagnose_object(struct xc_pointer_diagnosis *s)
{
	return xc_stale_pointer_report(s->crash, &s->stale, true);
}

static bool diagnose_broken(struct xc_pointer_diagnosis *s)
{
	struct xc_stale stale = xc_stale_broken_find(s->crash);
	return xc_stale_pointer_report(s->crash, &stale, true);
}

/* Classes that do not explain the pointer yet. */
static bool is_open(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"wild-read",  "wild-write",       "wild-access",  "pc-control", "exec-data",
					    "misaligned", "protected-access", "write-rodata", NULL};
	return xc_names_find(names, crash->verdict->class_name);
}

/* Ordered by strength of proof. A new explanation is one file and one entry. */
static const struct {
	const char *name;
	bool (*diagnose)(struct xc_pointer_diagnosis *s); /* false: it does not apply */
	bool by_value; /* by what the value looks like: no reason for a value from outside of an array */
} explanations[] = {
	{"member that was never set", xc_unset_member_diagnose, false},
	{"freed block", xc_freed_block_diagnose, false},
	{"unmapped block", xc_unmapped_block_diagnose, false},
	{"stale pointer on the way", diagnose_stale, false},
	{"stale pointer of a variable", diagnose_placed, false},
	{"argument of another class", diagnose_class, false},
	{"unloaded code", xc_unloaded_code_diagnose, false},
	{"past the end of a block", xc_block_overrun_diagnose, false},
	{"poison pattern", diagnose_poison, true},
	{"overwritten by text", xc_text_overwrite_diagnose, true},
	{"in a damaged block", diagnose_damaged, false},
	{"frame that has returned", xc_returned_frame_diagnose, false},
	{"argument into such a frame", diagnose_argument, false},
	{"member of an argument into such a frame", diagnose_member, false},
	{"argument that is no valid object", diagnose_broken, false},
	{"half a pointer", xc_cut_pointer_diagnose, true},
	{"far index", diagnose_wild_index, true},
	{"element that a block does not have", diagnose_element, false},
	{"flipped bit", diagnose_bit_flip, true},
	{"member of a local object that was never set", xc_unset_local_diagnose, false},
	{"no object on the way", diagnose_object, false},
	{"a number", xc_number_overwrite_diagnose, true},
	{"behind an array", xc_neighbour_diagnose, false},
	{"member of a local object that is not always set", xc_unset_local_partly, false},
};

/* A string that ran over a return address has overwritten everything before that. */
static bool diagnose_smash(struct xc_pointer_diagnosis *s)
{
	if (!xc_stack_smash_exists(s->crash))
		return false;
	if (is_open(s->crash))
		collect_suspects(s);
	return xc_text_overwrite_diagnose(s) || xc_stack_smash_diagnose(s, NULL);
}

void xc_pointer_diagnosis_report(struct xc_crash_context *crash)
{
	struct xc_pointer_diagnosis s = {.crash = crash};
	bool memory = crash->fault.signal == SIGSEGV || crash->fault.signal == SIGBUS;
	if (memory && !crash->fault.sent && (is_open(crash) || xc_crash_context_is_null(crash)) && diagnose_smash(&s))
		return;
	/* A value near NULL may have been read through a bad pointer, too. */
	if (memory && !crash->fault.sent && (xc_crash_context_is_null(crash) || crash->number)) {
		s.stale = xc_stale_pointer_find(crash);
		if (s.stale.kind == XC_STALE_NOT)
			s.stale = xc_stale_argument_find(crash);
		if (!xc_stale_pointer_report(crash, &s.stale, false) && !diagnose_class(&s) &&
		    !xc_stale_pointer_report(crash, &s.stale, true) && !xc_damaged_block_report(crash))
			xc_damaged_block_remark(crash);
		return;
	}
	if (!memory || crash->fault.sent || crash->number || !is_open(crash))
		return;
	s.suspect_count = 0;
	collect_suspects(&s);
	if (!s.suspect_count)
		return;
	xc_pointers_collect(crash, &s.pointers);
	for (size_t i = 0; i < XC_COUNT(explanations); i++)
		if (!(crash->outside && explanations[i].by_value) && explanations[i].diagnose(&s))
			return;
}
