/* emulator_impl: shared by emulator*.c: a decoded instruction, its operands and the memory. */
#ifndef XC_EMULATOR_IMPL_H
#define XC_EMULATOR_IMPL_H

#include <Zydis/Zydis.h>

#include "triage/emulator/emulator.h"

/* A decoded instruction. */
struct xc_emulated_insn {
	xc_addr pc; /* 0: none */
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

enum { XC_EMULATOR_DECODED = 512 };

/* The addition that gives 1 more. */
struct xc_emulated_nudge {
	xc_addr pc; /* 0: none */
	bool seen, carried;
	uint64_t last; /* what it gave, once seen */
};

struct xc_emulator {
	const struct xc_process *process;
	ZydisDecoder decoder;
	struct xc_emulated_state state;
	xc_addr stack_lo, stack_hi, sp; /* of the thread's own stack, inclusive; where it began */
	uint64_t fs_base;
	bool has_fs_base, answers;
	int answer;
	struct xc_emulated_call call;
	struct xc_emulated_sum lost;
	xc_addr idle[XC_EMULATED_IDLE]; /* a ring of additions of 0 */
	size_t idle_count;
	struct xc_emulated_nudge nudge;
	struct xc_emulated_read read;
	struct xc_emulated_insn decoded[XC_EMULATOR_DECODED];
};

static inline uint64_t xc_emulator_mask(uint32_t size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

/* Memory of 1 to 8 bytes (emulator.c). */
bool xc_emulator_read(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated *out);
bool xc_emulator_write(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated value);

/* The effect of an instruction that does not jump (emulator_insn.c). False: it is not possible. */
bool xc_emulator_run(struct xc_emulator *e, const struct xc_emulated_insn *d);

/* The same for vector registers (emulator_float.c). *good_out is false where it is not possible. False: it is no such
 * instruction. */
bool xc_emulator_run_float(struct xc_emulator *e, const struct xc_emulated_insn *d, bool *good_out);

/* Operands (emulator_operand.c). An address that changes is none. */
bool xc_emulator_address(const struct xc_emulator *e, const struct xc_emulated_insn *d, const ZydisDecodedOperand *o,
			 xc_addr *out, uint8_t *marks_out);
bool xc_emulator_get(struct xc_emulator *e, const struct xc_emulated_insn *d, unsigned operand,
		     struct xc_emulated *out);
struct xc_emulated *xc_emulator_vector(struct xc_emulator *e, const ZydisDecodedOperand *o); /* NULL: it is none */
bool xc_emulator_put(struct xc_emulator *e, const struct xc_emulated_insn *d, unsigned operand,
		     struct xc_emulated value);
bool xc_emulator_push(struct xc_emulator *e, struct xc_emulated value);
bool xc_emulator_pop(struct xc_emulator *e, struct xc_emulated *out);

#endif
