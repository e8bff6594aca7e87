/* emulator: what a thread would do next: its instructions, one after the other, on a copy of its registers and of the
 * memory that it writes. The target is only read.
 *
 * x86-64: general registers, and floating-point numbers in the low 8 bytes of vector registers. What other instructions
 * write is not known: it is marked. A caller may mark more, to see
 * what depends on it: marks go from operands to results. A step is not taken that would need what is not known to
 * decide where to go, or what changes to know where to read or write. */
#ifndef XC_EMULATOR_H
#define XC_EMULATOR_H

#include "core/process/process.h"

enum {
	XC_EMULATOR_COUNTS = 1, /* it changed by a sum or a difference */
	XC_EMULATOR_DATA = 2,   /* in another way, or it is not known */
	XC_EMULATOR_HIGH = 16,  /* it changed by a sum or a difference, but for its lowest byte */
	XC_EMULATOR_CHANGES = XC_EMULATOR_COUNTS | XC_EMULATOR_DATA | XC_EMULATOR_HIGH,
	XC_EMULATOR_OTHERS = 4, /* read from memory that other threads may write, or an answer of the kernel */
	XC_EMULATOR_ANSWER = 8, /* an answer of the kernel, or made of one */
	XC_EMULATOR_OUTSIDE = XC_EMULATOR_OTHERS | XC_EMULATOR_ANSWER,
};

struct xc_emulated {
	uint64_t bits;
	uint8_t marks;
};

/* Eight bytes that the thread has written. The marks have a bit for each byte. */
struct xc_emulated_word {
	xc_addr addr;
	uint64_t bits;
	uint8_t counts, data, others, answers;
};

/* The flags, and what was compared. */
struct xc_emulated_flags {
	bool carry, zero, sign, overflow, parity;
	uint8_t marks;
	uint64_t left, right;
	uint32_t size; /* bytes of the two */
	bool result;   /* left is the result of an operation: it says nothing of the carry */
};

enum { XC_EMULATOR_SP = 4, XC_EMULATOR_WORDS = 512, XC_EMULATOR_SLOTS = 2 * XC_EMULATOR_WORDS };

/* May be copied as a whole. */
struct xc_emulated_state {
	struct xc_emulated regs[16];    /* as instructions number them: rax rcx rdx rbx rsp rbp rsi rdi r8 … */
	struct xc_emulated vectors[16]; /* xmm0 …: the low 8 bytes */
	xc_addr pc;
	struct xc_emulated_flags flags;
	struct xc_emulated_word words[XC_EMULATOR_WORDS];
	uint16_t slots[XC_EMULATOR_SLOTS]; /* a hash table of indexes + 1; 0: none */
	size_t word_count;
};

/* A conditional jump. */
struct xc_emulated_branch {
	xc_addr pc;
	struct xc_emulated_flags flags;
	unsigned condition; /* as in its code, 0 to 15: 4 equal, 5 not equal, 2 below, 12 less … */
	bool taken;
};

struct xc_emulator;

/* Begin with these registers. NULL where it cannot: another machine, or no program counter or stack pointer. */
struct xc_emulator *xc_emulator_new(const struct xc_process *process, const struct xc_regs *regs);
void xc_emulator_free(struct xc_emulator *emulator);

/* What the next step changes; may be written between steps. */
struct xc_emulated_state *xc_emulator_state(struct xc_emulator *emulator);

/* From now on the kernel's answer to calls that read from or write to a descriptor is this one: 0 at the end of a file,
 * or -EAGAIN; they transfer nothing. It is marked as an answer, and as of others. */
void xc_emulator_answer(struct xc_emulator *emulator, int answer);

/* A sum or difference of floating-point numbers that was the first of them again, since the other one, which is not 0,
 * is too small beside it. */
struct xc_emulated_sum {
	bool known;
	uint32_t size; /* bytes */
	double value, step;
};

/* The last such sum since it was asked for before. */
struct xc_emulated_sum xc_emulator_lost_sum(struct xc_emulator *emulator);

/* The additions of the last steps of which one part was 0, from a register or memory: their addresses, each once.
 * Returns how many. */
enum { XC_EMULATED_IDLE = 8 };
size_t xc_emulator_idle_sums(const struct xc_emulator *emulator, xc_addr out[XC_EMULATED_IDLE]);

/* From now on the addition at this address gives 1 more; 0: none does. Returns whether the one before added, at least
 * once, to what it had given the time before. */
bool xc_emulator_nudge(struct xc_emulator *emulator, xc_addr pc);

/* The last such call, answered or not; its number is -1 when there was none. */
struct xc_emulated_call {
	long number;
	int fd;
};
struct xc_emulated_call xc_emulator_call(const struct xc_emulator *emulator);

/* What the last step read of the memory; its size is 0 when it read nothing. Of several reads the last one. */
struct xc_emulated_read {
	xc_addr addr;
	uint32_t size; /* bytes */
	uint64_t bits;
};
struct xc_emulated_read xc_emulator_read_last(const struct xc_emulator *emulator);

/* One instruction. False when that is not possible: it makes a system call other than sched_yield and those that are
 * answered, needs a value that is marked, what it reads is missing, or too much has been written. The state is of no
 * use then. branch_out->pc is not 0 after a conditional jump. Cost: 100 ns. */
bool xc_emulator_step(struct xc_emulator *emulator, struct xc_emulated_branch *branch_out);

/* The word at an address that is a multiple of 8, as of this state. False when it is missing. */
bool xc_emulator_word(const struct xc_emulator *emulator, const struct xc_emulated_state *state, xc_addr addr,
		      struct xc_emulated_word *out);

/* Mark bytes of a word, a bit for each, in the current state. False when too much has been written. */
bool xc_emulator_mark(struct xc_emulator *emulator, xc_addr addr, uint8_t counts, uint8_t data);

/* Does a condition hold? */
bool xc_emulator_holds(const struct xc_emulated_flags *flags, unsigned condition);

#endif
