/* disas_capstone: machines other than x86.
 *
 * For ARM and AArch64 capstone tells what an instruction accesses; for PowerPC and the rest only explicit registers
 * and memory are known, not whether they are read. Register names are mapped by xc_disas_register. */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/decode/disas_impl.h"

#define TEXT_OF(number)  #number
#define LIBRARY(version) "libcapstone.so." TEXT_OF(version)

static struct {
	bool tried, loaded;
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_reg_name) *reg_name;
} library;

struct state {
	csh plain, thumb; /* thumb: ARM only */
	cs_insn *insn;
};

static bool find(void *handle, void *function, const char *name)
{
	/* ISO C has no cast from object to function pointer; POSIX guarantees that this works */
	*(void **)function = dlsym(handle, name);
	return *(void **)function != NULL;
}

/* Loaded at run time, since its tables take 77,000 relocations and few runs need them. */
static bool load(void)
{
	if (library.tried)
		return library.loaded;
	library.tried = true;
	void *handle = dlopen(LIBRARY(CS_API_MAJOR), RTLD_LAZY | RTLD_LOCAL);
	library.loaded = handle && find(handle, &library.open, "cs_open") && find(handle, &library.close, "cs_close") &&
			 find(handle, &library.option, "cs_option") && find(handle, &library.malloc, "cs_malloc") &&
			 find(handle, &library.free, "cs_free") &&
			 find(handle, &library.disasm_iter, "cs_disasm_iter") &&
			 find(handle, &library.reg_name, "cs_reg_name");
	return library.loaded;
}

static csh handle_of(const struct xc_disas *disas)
{
	const struct state *state = disas->state;
	return disas->thumb ? state->thumb : state->plain;
}

static void add_register(const struct xc_disas *disas, unsigned reg, bool read, bool written, struct xc_code *out)
{
	const char *name = library.reg_name(handle_of(disas), reg);
	struct xc_code_operand *to = name && reg ? xc_disas_operand(out, XC_CODE_REGISTER) : NULL;
	if (!to)
		return;
	to->reg = xc_disas_register(disas, name);
	to->read = read;
	to->written = written;
	snprintf(to->name, sizeof to->name, "%s", name);
}

static struct xc_code_operand *add_memory(const struct xc_disas *disas, unsigned base, unsigned index, int64_t disp,
					  struct xc_code *out)
{
	struct xc_code_operand *to = xc_disas_operand(out, XC_CODE_MEMORY);
	if (!to)
		return NULL;
	to->displacement = disp;
	if (base) {
		to->base = xc_disas_register(disas, library.reg_name(handle_of(disas), base));
		to->complex |= to->base < 0;
	}
	if (index) {
		to->index = xc_disas_register(disas, library.reg_name(handle_of(disas), index));
		to->complex |= to->index < 0;
	}
	return to;
}

static void add_arm64(const struct xc_disas *disas, const cs_arm64 *arm, struct xc_code *out)
{
	for (uint8_t i = 0; i < arm->op_count && i < XC_COUNT(arm->operands); i++) {
		const cs_arm64_op *op = &arm->operands[i];
		if (op->type == ARM64_OP_REG) {
			add_register(disas, op->reg, op->access & CS_AC_READ, op->access & CS_AC_WRITE, out);
		} else if (op->type == ARM64_OP_MEM) {
			struct xc_code_operand *to = add_memory(disas, op->mem.base, op->mem.index, op->mem.disp, out);
			if (!to)
				continue;
			to->read = op->access & CS_AC_READ;
			to->written = op->access & CS_AC_WRITE;
			if (op->mem.index && op->shift.type == ARM64_SFT_LSL && op->shift.value < 8)
				to->scale = 1u << op->shift.value;
			to->complex |= op->ext != ARM64_EXT_INVALID; /* half of the index, extended */
		}
	}
}

static void add_arm(const struct xc_disas *disas, const cs_arm *arm, struct xc_code *out)
{
	for (uint8_t i = 0; i < arm->op_count && i < XC_COUNT(arm->operands); i++) {
		const cs_arm_op *op = &arm->operands[i];
		if (op->type == ARM_OP_REG) {
			add_register(disas, (unsigned)op->reg, op->access & CS_AC_READ, op->access & CS_AC_WRITE, out);
		} else if (op->type == ARM_OP_MEM) {
			bool pc = op->mem.base == ARM_REG_PC;
			struct xc_code_operand *to =
				add_memory(disas, pc ? 0 : op->mem.base, op->mem.index, op->mem.disp, out);
			if (!to)
				continue;
			/* ARM architecture manual, A2.3: pc reads as the instruction's address + 8, + 4 in Thumb code,
			 * where loads align it down */
			to->pc_relative = pc;
			to->displacement += pc ? (int64_t)((out->addr + (disas->thumb ? 4u : 8u)) & ~(xc_addr)3) : 0;
			to->read = op->access & CS_AC_READ;
			to->written = op->access & CS_AC_WRITE;
			to->complex |=
				op->mem.index && (op->subtracted || op->mem.scale < 0 ||
						  (op->shift.type != ARM_SFT_INVALID && op->shift.type != ARM_SFT_LSL));
			if (op->shift.type == ARM_SFT_LSL && op->shift.value < 8)
				to->scale = 1u << op->shift.value;
		}
	}
}

static void add_ppc_memory(const struct xc_disas *disas, const cs_ppc_op *op, bool stores, struct xc_code *out)
{
	unsigned base = op->mem.base == PPC_REG_R0 ? 0 : op->mem.base; /* r0 as a base is zero */
	struct xc_code_operand *to = add_memory(disas, base, 0, op->mem.disp, out);
	if (!to)
		return;
	to->written = stores;
	to->read = !stores;
}

/* Power ISA 3.3: names of stores begin with st. */
static void add_ppc(const struct xc_disas *disas, const cs_insn *insn, struct xc_code *out)
{
	const cs_ppc *ppc = &insn->detail->ppc;
	bool stores = strncmp(insn->mnemonic, "st", 2) == 0;
	for (uint8_t i = 0; i < ppc->op_count && i < XC_COUNT(ppc->operands); i++) {
		const cs_ppc_op *op = &ppc->operands[i];
		if (op->type == PPC_OP_REG)
			add_register(disas, op->reg, true, false, out);
		else if (op->type == PPC_OP_MEM)
			add_ppc_memory(disas, op, stores, out);
	}
}

/* The last immediate operand: the target of a direct jump. */
static bool last_immediate(const struct xc_disas *disas, const cs_detail *detail, uint64_t *value_out)
{
	switch (disas->arch->machine) {
	case EM_AARCH64:
		if (!detail->arm64.op_count || detail->arm64.operands[detail->arm64.op_count - 1].type != ARM64_OP_IMM)
			return false;
		*value_out = (uint64_t)detail->arm64.operands[detail->arm64.op_count - 1].imm;
		return true;
	case EM_ARM:
		if (!detail->arm.op_count || detail->arm.operands[detail->arm.op_count - 1].type != ARM_OP_IMM)
			return false;
		*value_out = (uint32_t)detail->arm.operands[detail->arm.op_count - 1].imm;
		return true;
	case EM_PPC64:
	case EM_PPC:
		if (!detail->ppc.op_count || detail->ppc.operands[detail->ppc.op_count - 1].type != PPC_OP_IMM)
			return false;
		*value_out = (uint64_t)detail->ppc.operands[detail->ppc.op_count - 1].imm;
		return true;
	default:
		return false;
	}
}

/* capstone 4 puts hardly any instruction of these machines into its groups of jumps and calls, so their names decide.
 */
struct flow_name {
	const char *name;
	enum xc_flow flow;
};

static const struct flow_name arm64_flows[] = {
	{"b", XC_FLOW_JUMP},      {"bl", XC_FLOW_CALL},      {"br", XC_FLOW_JUMP},      {"braa", XC_FLOW_JUMP},
	{"brab", XC_FLOW_JUMP},   {"blr", XC_FLOW_CALL},     {"blraa", XC_FLOW_CALL},   {"blrab", XC_FLOW_CALL},
	{"ret", XC_FLOW_RETURN},  {"retaa", XC_FLOW_RETURN}, {"retab", XC_FLOW_RETURN}, {"cbz", XC_FLOW_BRANCH},
	{"cbnz", XC_FLOW_BRANCH}, {"tbz", XC_FLOW_BRANCH},   {"tbnz", XC_FLOW_BRANCH},  {NULL, XC_FLOW_ON},
};

/* With ARM's conditions cut off. */
static const struct flow_name arm_flows[] = {
	{"b", XC_FLOW_JUMP},     {"bl", XC_FLOW_CALL},     {"blx", XC_FLOW_CALL}, {"bx", XC_FLOW_JUMP},
	{"cbz", XC_FLOW_BRANCH}, {"cbnz", XC_FLOW_BRANCH}, {NULL, XC_FLOW_ON},
};

/* Power ISA 2.4; other names that begin with b are conditional. */
static const struct flow_name ppc_flows[] = {
	{"b", XC_FLOW_JUMP},    {"ba", XC_FLOW_JUMP},    {"bctr", XC_FLOW_JUMP}, {"bl", XC_FLOW_CALL},
	{"bla", XC_FLOW_CALL},  {"bctrl", XC_FLOW_CALL}, {"blrl", XC_FLOW_CALL}, {"blr", XC_FLOW_RETURN},
	{"bpermd", XC_FLOW_ON}, {"brinc", XC_FLOW_ON},   {NULL, XC_FLOW_ON},
};

static const struct flow_name *flow_named(const struct flow_name *table, const char *name, size_t len)
{
	for (; table->name; table++)
		if (strlen(table->name) == len && strncmp(table->name, name, len) == 0)
			return table;
	return NULL;
}

/* "bne", "blxeq": the length without the condition, or 0. */
static size_t without_condition(const char *name, size_t len)
{
	static const char conditions[] = "eqnehslomiplvsvchilsgeltgtlecscc";
	for (size_t i = 0; len > 2 && i + 1 < sizeof conditions; i += 2)
		if (strncmp(name + len - 2, conditions + i, 2) == 0)
			return len - 2;
	return 0;
}

static enum xc_flow arm_flow(const cs_insn *insn, size_t len)
{
	const char *name = insn->mnemonic, *operands = insn->op_str;
	const struct flow_name *flow = flow_named(arm_flows, name, len);
	size_t stem = flow ? 0 : without_condition(name, len);
	bool returns = (strncmp(name, "bx", 2) == 0 && strcmp(operands, "lr") == 0) ||
		       ((strncmp(name, "pop", 3) == 0 || strncmp(name, "ldm", 3) == 0) && strstr(operands, "pc}"));
	if (returns)
		return XC_FLOW_RETURN;
	if (flow)
		return flow->flow;
	flow = stem ? flow_named(arm_flows, name, stem) : NULL;
	return !flow ? XC_FLOW_ON : flow->flow == XC_FLOW_JUMP ? XC_FLOW_BRANCH : flow->flow;
}

static enum xc_flow flow_of(const struct xc_disas *disas, const cs_insn *insn)
{
	size_t len = strcspn(insn->mnemonic, ".+-"); /* b.ne, beq+, bne.w */
	const struct flow_name *flow;
	switch (disas->arch->machine) {
	case EM_AARCH64:
		if (strncmp(insn->mnemonic, "b.", 2) == 0)
			return XC_FLOW_BRANCH;
		flow = flow_named(arm64_flows, insn->mnemonic, len);
		return flow ? flow->flow : XC_FLOW_ON;
	case EM_ARM:
		return arm_flow(insn, len);
	case EM_PPC64:
	case EM_PPC:
		flow = flow_named(ppc_flows, insn->mnemonic, len);
		return flow ? flow->flow : *insn->mnemonic == 'b' ? XC_FLOW_BRANCH : XC_FLOW_ON;
	default:
		return XC_FLOW_ON;
	}
}

/* The size in bytes of the register that is loaded or stored: x0, w0, q0 of AArch64. */
static uint32_t register_size(const char *name)
{
	switch (*name) {
	case 'q':
		return 16;
	case 'w':
	case 's':
		return name[1] == 'p' ? 8 : 4; /* sp */
	case 'h':
		return 2;
	case 'b':
		return 1;
	default:
		return 8;
	}
}

/* The size in bytes of one load or store, by its name; 0 for other instructions. */
static uint32_t access_size(const struct xc_disas *disas, const cs_insn *insn, const struct xc_code *out)
{
	const char *m = insn->mnemonic;
	size_t len = strcspn(m, ".");
	bool loads = strncmp(m, "ld", 2) == 0 || strncmp(m, "st", 2) == 0;
	char last = len ? m[len - 1] : 0;
	switch (disas->arch->machine) {
	case EM_AARCH64:
		if (!loads)
			return 0;
		if (strncmp(m + 2, "p", 1) == 0)
			return 2 * register_size(out->operands[0].name);
		return last == 'b'                  ? 1
		       : last == 'h'                ? 2
		       : last == 'w' && m[2] == 'r' ? 4
						    : register_size(out->operands[0].name);
	case EM_ARM:
		return !loads || m[2] != 'r' ? 0 : last == 'b' ? 1 : last == 'h' ? 2 : last == 'd' ? 8 : 4;
	case EM_PPC64:
	case EM_PPC:
		m += strncmp(m, "st", 2) == 0 ? 2 : *m == 'l' ? 1 : 0;
		return m == insn->mnemonic        ? 0
		       : *m == 'd'                ? 8
		       : *m == 'w'                ? 4
		       : *m == 'h'                ? 2
		       : *m == 'b'                ? 1
		       : strncmp(m, "fd", 2) == 0 ? 8
		       : strncmp(m, "fs", 2) == 0 ? 4
						  : 0;
	default:
		return 0;
	}
}

static void add_sizes(const struct xc_disas *disas, const cs_insn *insn, struct xc_code *out)
{
	uint32_t size = out->operand_count ? access_size(disas, insn, out) : 0;
	for (size_t i = 0; i < out->operand_count; i++)
		if (out->operands[i].kind == XC_CODE_MEMORY && !out->operands[i].address_only)
			out->operands[i].size = size;
}

static void add_operands(const struct xc_disas *disas, const cs_insn *insn, struct xc_code *out)
{
	switch (disas->arch->machine) {
	case EM_AARCH64:
		add_arm64(disas, &insn->detail->arm64, out);
		break;
	case EM_ARM:
		add_arm(disas, &insn->detail->arm, out);
		break;
	case EM_PPC64:
	case EM_PPC:
		add_ppc(disas, insn, out);
		break;
	default:
		break;
	}
}

/* `add x0, x1, #8` of AArch64: the second half of an address whose page an earlier instruction gave. */
static void add_sum(const struct xc_disas *disas, const cs_insn *insn, struct xc_code *out)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	if (disas->arch->machine != EM_AARCH64 || strcmp(insn->mnemonic, "add") != 0 || arm->op_count != 3 ||
	    arm->operands[1].type != ARM64_OP_REG || arm->operands[2].type != ARM64_OP_IMM ||
	    arm->operands[2].shift.type != ARM64_SFT_INVALID)
		return;
	struct xc_code_operand *to = add_memory(disas, arm->operands[1].reg, 0, arm->operands[2].imm, out);
	if (to)
		to->address_only = true;
}

/* `adr x0, …` and `ldr x0, …` of AArch64 have an address as their last operand. */
static void add_literal(const struct xc_disas *disas, const cs_insn *insn, struct xc_code *out)
{
	uint64_t addr;
	bool computes = strcmp(insn->mnemonic, "adr") == 0 || strcmp(insn->mnemonic, "adrp") == 0;
	if (disas->arch->machine != EM_AARCH64 || (!computes && strncmp(insn->mnemonic, "ldr", 3) != 0) ||
	    !last_immediate(disas, insn->detail, &addr) || insn->detail->arm64.op_count != 2)
		return;
	struct xc_code_operand *to = add_memory(disas, 0, 0, (int64_t)addr, out);
	if (!to)
		return;
	to->pc_relative = true;
	to->address_only = computes;
	to->read = !computes;
}

/* objdump and gdb write addresses without the # of immediates. */
static void plain_target(char *text)
{
	char *mark = strrchr(text, '#');
	if (mark)
		memmove(mark, mark + 1, strlen(mark));
}

static bool decode(struct xc_disas *disas, const uint8_t *bytes, size_t len, struct xc_code *out)
{
	struct state *state = disas->state;
	uint64_t addr = out->addr;
	if (!library.disasm_iter(handle_of(disas), &bytes, &len, &addr, state->insn))
		return false;
	const cs_insn *insn = state->insn;
	out->length = (uint8_t)insn->size;
	snprintf(out->text, sizeof out->text, "%s%s%s", insn->mnemonic, *insn->op_str ? " " : "", insn->op_str);
	out->flow = flow_of(disas, insn);
	add_operands(disas, insn, out);
	if (out->flow == XC_FLOW_ON) {
		add_literal(disas, insn, out);
		add_sum(disas, insn, out);
	} else if (out->flow != XC_FLOW_RETURN) {
		out->has_target = last_immediate(disas, insn->detail, &out->target);
	}
	add_sizes(disas, insn, out);
	if (out->has_target)
		plain_target(out->text);
	return true;
}

static bool length(struct xc_disas *disas, const uint8_t *bytes, size_t len, xc_addr addr, uint8_t *length_out)
{
	struct state *state = disas->state;
	if (!library.disasm_iter(handle_of(disas), &bytes, &len, &addr, state->insn))
		return false;
	*length_out = (uint8_t)state->insn->size;
	return true;
}

static void close_capstone(struct xc_disas *disas)
{
	struct state *state = disas->state;
	if (state->insn)
		library.free(state->insn, 1);
	if (state->plain)
		library.close(&state->plain);
	if (state->thumb)
		library.close(&state->thumb);
	free(state);
}

static bool mode_of(const struct xc_arch *arch, cs_arch *family, unsigned *mode)
{
	*mode = arch->big_endian ? (unsigned)CS_MODE_BIG_ENDIAN : 0;
	switch (arch->machine) {
	case EM_AARCH64:
		*family = CS_ARCH_ARM64;
		return true;
	case EM_ARM:
		*family = CS_ARCH_ARM;
		return true;
	case EM_PPC64:
	case EM_PPC:
		*family = CS_ARCH_PPC;
		*mode |= arch->word == 8 ? CS_MODE_64 : CS_MODE_32;
		return true;
	case EM_MIPS:
		*family = CS_ARCH_MIPS;
		*mode |= arch->word == 8 ? CS_MODE_MIPS64 : CS_MODE_MIPS32;
		return true;
	case EM_S390:
		*family = CS_ARCH_SYSZ;
		return true;
	case EM_SPARCV9:
		*family = CS_ARCH_SPARC;
		*mode |= CS_MODE_V9;
		return true;
#if CS_API_MAJOR >= 5
	case EM_RISCV:
		*family = CS_ARCH_RISCV;
		*mode = (unsigned)(arch->word == 8 ? CS_MODE_RISCV64 : CS_MODE_RISCV32) | CS_MODE_RISCVC;
		return true;
#endif
	default:
		return false;
	}
}

static bool open_handle(cs_arch family, unsigned mode, csh *handle)
{
	return library.open(family, (cs_mode)mode, handle) == CS_ERR_OK &&
	       library.option(*handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
}

bool xc_disas_open_capstone(struct xc_disas *disas)
{
	cs_arch family;
	unsigned mode;
	if (!mode_of(disas->arch, &family, &mode) || !load())
		return false;
	struct state *state = xc_alloc(sizeof *state);
	disas->state = state;
	disas->decode = decode;
	disas->length = length;
	disas->close = close_capstone;
	disas->step = disas->arch->machine == EM_S390 || disas->arch->machine == EM_RISCV ? 2 : 4;
	bool opened = open_handle(family, mode, &state->plain) &&
		      (family != CS_ARCH_ARM || open_handle(family, mode | CS_MODE_THUMB, &state->thumb));
	if (opened && (state->insn = library.malloc(state->plain)))
		return true;
	close_capstone(disas);
	return false;
}
