/* cause_jump: control outside of code, and the instruction that transferred it there.
 *
 * The kernel reports where control arrived. On x86 the origin follows from what it left behind. A call has pushed
 * its return address, and the instruction before that address leads, with the current registers, to the place of
 * arrival. A return has left the word that it popped just below the stack pointer. When there was a call that leads
 * elsewhere, the called function has jumped on (a tail call). */
#include "triage/fault/cause_jump.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

enum { NULL_PAGES = 64 << 10, SHORTEST_CALL = 2, LONGEST_CALL = 8 };

static bool executable(const struct xc_process *p, xc_addr addr)
{
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	return m && m->executable;
}

static bool is_x86(const struct xc_process *p)
{
	return xc_arch_is_x86_64(p->arch) || p->arch->machine == EM_386;
}

enum before { NO_CALL, CODE_MISSING, OTHER_CALL, THE_CALL };

static bool leads_to(const struct xc_instruction *call, xc_addr target)
{
	for (size_t i = 0; i < call->operand_count; i++)
		if (call->operands[i].access == XC_ACCESS_EXECUTE && call->operands[i].addr_known &&
		    call->operands[i].addr == target)
			return true;
	return false;
}

/* Is there a call that ends at `after`, and does it lead to `target`? */
static enum before find_call(const struct xc_crash_context *crash, xc_addr after, xc_addr target,
			     struct xc_instruction *out)
{
	const struct xc_arch *arch = crash->process->arch;
	struct xc_regs regs = crash->fault.frame.regs;
	enum before found = NO_CALL;
	uint64_t sp;
	uint8_t last;
	if (!executable(crash->process, after) || !xc_regs_get(&regs, arch->sp, &sp))
		return found;
	if (xc_space_peek(crash->process->space, after - 1, &last, 1) != 1)
		return CODE_MISSING;
	xc_regs_set(&regs, arch->sp, sp + arch->reg_size); /* its value before the call */
	for (xc_addr length = SHORTEST_CALL; length <= LONGEST_CALL; length++) {
		xc_regs_set(&regs, arch->pc, after - length);
		if (!xc_operand_decode(crash->process, &regs, out) || out->length != length ||
		    !strstr(out->text, "call"))
			continue;
		if (leads_to(out, target))
			return THE_CALL;
		found = OTHER_CALL;
	}
	return found;
}

/* "call", "ret" or "jmp", by the instruction's text. */
static const char *word_of(const struct xc_instruction *instruction)
{
	static const char *const words[] = {"call", "ret", "jmp"};
	for (size_t i = 0; i < XC_COUNT(words); i++)
		if (strstr(instruction->text, words[i]))
			return words[i];
	return NULL;
}

/* The instruction that transferred control; NULL when it is not known. */
static const char *find_sender(const struct xc_crash_context *crash, struct xc_instruction *instruction)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_process *p = crash->process;
	uint32_t size = p->arch->reg_size;
	uint64_t sp, word;
	if (f->computed) {
		*instruction = f->instruction;
		return word_of(&f->instruction);
	}
	if (!is_x86(p) || !xc_regs_get(&f->frame.regs, p->arch->sp, &sp))
		return NULL;
	enum before before = NO_CALL;
	if (xc_space_peek_uint(p->space, sp, size, &word))
		before = find_call(crash, word, f->frame.pc, instruction);
	if (before != THE_CALL)
		instruction->text[0] = '\0';
	if (before == CODE_MISSING)
		return NULL; /* calling a null pointer may also leave a zero below the stack pointer */
	if (before != NO_CALL)
		return before == THE_CALL ? "call" : "jmp";
	return xc_space_peek_uint(p->space, sp - size, size, &word) && word == f->frame.pc ? "ret" : NULL;
}

static void report_sender(const struct xc_crash_context *crash, const struct xc_instruction *call)
{
	if (call->text[0] && !crash->fault.computed)
		xc_verdict_evidence(crash->report, "control was transferred there by: %s", call->text);
}

static const char *cause_of_wild_jump(const char *sender)
{
	if (sender && strcmp(sender, "ret") == 0)
		return "a function returned to an address that is not code: its return address on the stack was "
		       "overwritten";
	if (sender && strcmp(sender, "jmp") == 0)
		return "control jumped to an unmapped address: the called address is not a function, or the table of a "
		       "switch or match was read out of its range";
	if (sender)
		return "control jumped to an unmapped address: the called address is not a function";
	return "control jumped to an unmapped address: a bad function pointer, a bad return address, or the table of a "
	       "switch or match that was read out of its range";
}

static const char *cause_of_data_jump(const char *sender)
{
	if (sender && strcmp(sender, "ret") == 0)
		return "a function returned into memory that holds data: its return address on the stack was "
		       "overwritten";
	if (sender && strcmp(sender, "jmp") == 0)
		return "control jumped to data, not code: a function pointer that points there, or the table of a "
		       "switch "
		       "or match that was read out of its range";
	if (sender)
		return "a function pointer was called that points to data, not code";
	return "control jumped to data, not code";
}

/* Code has no members: a small number is no offset from a null pointer. */
static void classify_number(struct xc_crash_context *crash, const char *sender)
{
	crash->number = true;
	xc_crash_context_classify(
		crash, "pc-control", sender, "high", "certain",
		sender && strcmp(sender, "ret") == 0
			? "a function returned to a small number: its return address on the stack was "
			  "overwritten"
			: "control jumped to a small number, which is no address of code");
}

/* A return to NULL is not a null function pointer. */
static void classify_null(struct xc_crash_context *crash, const char *sender)
{
	if (sender && strcmp(sender, "ret") == 0)
		xc_crash_context_classify(
			crash, "pc-control", "ret", "critical", "certain",
			"a function returned to address 0: its return address on the stack was overwritten");
	else
		xc_crash_context_classify(crash, "call-null", NULL, "medium", sender ? "certain" : "likely",
					  "a null function pointer was called");
}

/* Was the fault a fetch? Otherwise pc is in code, whatever the core says of its mapping. */
static bool fetched(const struct xc_fault *f)
{
	return f->access == XC_ACCESS_EXECUTE || !f->addr_known || f->addr == f->frame.pc;
}

bool xc_cause_jump_classify(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	struct xc_instruction instruction = {.length = 0};
	xc_addr target = f->computed ? f->addr : f->frame.pc;
	if (!f->frame_known || !fetched(f) ||
	    (f->computed ? f->access != XC_ACCESS_EXECUTE : executable(crash->process, target)))
		return false;
	const char *sender = find_sender(crash, &instruction);
	if (target && target < NULL_PAGES)
		classify_number(crash, sender);
	else if (!target)
		classify_null(crash, sender);
	else if (xc_process_mapping(crash->process, target))
		xc_crash_context_classify(crash, "exec-data", sender, "critical", "certain",
					  cause_of_data_jump(sender));
	else
		xc_crash_context_classify(crash, "pc-control", sender, "critical", "certain",
					  cause_of_wild_jump(sender));
	report_sender(crash, &instruction);
	return true;
}
