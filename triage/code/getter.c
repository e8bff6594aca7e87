/* getter: a machine of sixteen registers, each known or not, and a few words of private stack.
 *
 *	what():  push %rbp; mov %rsp,%rbp; sub $16,%rsp; mov %rdi,-8(%rbp)      unoptimized: `this` through its slot
 *	         mov -8(%rbp),%rax; add $8,%rax; mov %rax,%rdi; call c_str      std::string begins with its pointer
 *	         leave; ret
 *	what():  mov 8(%rdi),%rax; ret                                          optimized
 *	what():  lea text(%rip),%rax; ret                                       constant
 *
 * The stack is at addresses where no process has memory, so that an address identifies what it points to. */
#include "triage/code/getter.h"

#include <elf.h>
#include <string.h>

#include "triage/code/body.h"

enum { STEPS = 64, SLOTS = 16, REGISTERS = 17, RAX = 0, RDI = 5, RBP = 6, RSP = 7, CODE = 15 };
static const uint64_t STACK = UINT64_C(0xa5a5000000000000), STACK_SIZE = 1 << 16;

struct machine {
	const struct xc_process *process;
	uint64_t value[REGISTERS];
	bool known[REGISTERS];
	struct {
		uint64_t addr, value;
	} slots[SLOTS];
	size_t slot_count;
	xc_addr pc;
};

static bool on_stack(uint64_t addr)
{
	return addr - (STACK - STACK_SIZE) < STACK_SIZE;
}

static bool get(const struct machine *m, int number, uint64_t *value_out)
{
	if (number < 0 || number >= REGISTERS || !m->known[number])
		return false;
	*value_out = m->value[number];
	return true;
}

static void set(struct machine *m, int number, uint64_t value)
{
	if (number < 0 || number >= REGISTERS)
		return;
	m->value[number] = value;
	m->known[number] = true;
}

static bool address_of(const struct machine *m, const struct xc_insn_memory *at, uint64_t *addr_out)
{
	uint64_t base = 0, index = 0;
	if (at->complex || at->segment >= 0 || (at->base >= 0 && !get(m, at->base, &base)) ||
	    (at->index >= 0 && !get(m, at->index, &index)))
		return false;
	*addr_out = base + index * at->scale + (uint64_t)at->displacement;
	return true;
}

static bool load(const struct machine *m, uint64_t addr, uint64_t *value_out)
{
	for (size_t i = m->slot_count; on_stack(addr) && i-- > 0;)
		if (m->slots[i].addr == addr) {
			*value_out = m->slots[i].value;
			return true;
		}
	return !on_stack(addr) && xc_space_peek_uint(m->process->space, addr, 8, value_out);
}

static bool store(struct machine *m, const struct xc_insn *insn)
{
	uint64_t addr, value;
	if (!address_of(m, &insn->memory, &addr) || !on_stack(addr) || m->slot_count == SLOTS)
		return false;
	if (get(m, insn->from, &value)) {
		m->slots[m->slot_count].addr = addr;
		m->slots[m->slot_count++].value = value;
	}
	return true;
}

/* A call whose answer is known: the text of a std::string (libstdc++ with the C++11 ABI). */
static bool call(struct machine *m, const struct xc_insn *insn)
{
	static const char *const names[] = {"::c_str", "::data"};
	const struct xc_body body = {.process = m->process};
	const char *name = xc_body_callee(&body, insn, NULL);
	uint64_t string, text;
	if (!name || !strstr(name, "basic_string<char,") || !get(m, RDI, &string) || !load(m, string, &text))
		return false;
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		const char *at = strstr(name, names[i]);
		if (!at || at[strlen(names[i])])
			continue;
		set(m, RAX, text);
		return true;
	}
	return false;
}

/* Evaluate one instruction. False when it is not supported. */
static bool step(struct machine *m, const struct xc_insn *insn)
{
	uint64_t value, addr;
	m->pc += insn->length;
	switch (insn->part ? XC_INSN_OTHER : insn->kind) {
	case XC_INSN_MOVE:
		if (!get(m, insn->from, &value))
			return false;
		set(m, insn->to, value);
		return true;
	case XC_INSN_CONSTANT:
		set(m, insn->to, (uint64_t)insn->constant);
		return true;
	case XC_INSN_ADDRESS:
		if (!address_of(m, &insn->memory, &addr))
			return false;
		set(m, insn->to, addr);
		return true;
	case XC_INSN_LOAD:
		if (insn->memory.size != 8 || !address_of(m, &insn->memory, &addr) || !load(m, addr, &value))
			return false;
		set(m, insn->to, value);
		return true;
	case XC_INSN_ADD:
		if (!get(m, insn->to, &value))
			return false;
		set(m, insn->to, value + (uint64_t)insn->constant);
		return true;
	case XC_INSN_STORE:
		return store(m, insn);
	case XC_INSN_PUSH:
		m->value[RSP] -= 8;
		return true;
	case XC_INSN_JUMP:
		m->pc = insn->target;
		return insn->has_target;
	case XC_INSN_CALL:
		return call(m, insn);
	default: /* endbr64, nop, leave, pop %rbp: a return follows */
		return !insn->writes_memory && !(insn->writes & (UINT64_C(1) << RAX | UINT64_C(1) << RDI));
	}
}

bool xc_getter_value(const struct xc_process *process, xc_addr function, xc_addr object, uint64_t *value_out)
{
	struct machine m = {.process = process, .pc = function};
	if (process->arch->machine != EM_X86_64 || process->arch->word != 8)
		return false;
	set(&m, RDI, object);
	set(&m, RSP, STACK - 8);
	set(&m, RBP, STACK - 16);
	for (int i = 0; i < STEPS; i++) {
		uint8_t code[CODE];
		struct xc_insn insn;
		size_t got = xc_space_peek(process->space, m.pc, code, sizeof code);
		if (!got || !xc_insn_decode(process, code, got, m.pc, &insn) || !insn.length)
			return false;
		if (insn.kind == XC_INSN_RETURN)
			return get(&m, RAX, value_out);
		if (insn.kind == XC_INSN_JUMP && insn.has_target && call(&m, &insn)) /* a tail call */
			return get(&m, RAX, value_out);
		if (!step(&m, &insn))
			return false;
	}
	return false;
}
