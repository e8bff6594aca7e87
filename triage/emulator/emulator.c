/* emulator: state, memory and the flow from one instruction to the next.
 *
 * A thread that was sampled in a system call is after its instruction, and what the call returns is not known yet. The
 * C library loads the number just before: "mov $0x18,%eax; syscall". So such a call is made again. */
#include "triage/emulator/emulator_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 15, FS_BASE = 58, FLAGS = 49, SCHED_YIELD = 24, RCX = 1, RDI = 7, R11 = 11 };

static void call_again(struct xc_emulator *e)
{
	enum { MOV_EAX = 0xb8, NUMBER = 1, CALL = 5, LENGTH = 7 };
	static const uint8_t zero[] = {0x31, 0xc0, 0x0f, 0x05}; /* xor %eax,%eax; syscall */
	uint8_t code[LENGTH];
	uint32_t number = 0;
	struct xc_emulated *rax = &e->state.regs[0];
	bool unanswered = (rax->marks & XC_EMULATOR_DATA) || (int64_t)rax->bits == -ENOSYS;
	if (!unanswered || xc_space_peek(e->process->space, e->state.pc - LENGTH, code, LENGTH) != LENGTH)
		return;
	if (code[0] == MOV_EAX && memcmp(code + CALL, zero + 2, 2) == 0)
		memcpy(&number, code + NUMBER, sizeof number);
	else if (memcmp(code + LENGTH - sizeof zero, zero, sizeof zero) != 0)
		return;
	*rax = (struct xc_emulated){number, 0};
	e->state.pc -= 2;
}

struct xc_emulator *xc_emulator_new(const struct xc_process *process, const struct xc_regs *regs)
{
	static const int numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
	uint64_t pc, sp, flags;
	if (!xc_arch_is_x86_64(process->arch) || process->arch->word != 8 ||
	    !xc_regs_get(regs, process->arch->pc, &pc) || !xc_regs_get(regs, process->arch->sp, &sp))
		return NULL;
	struct xc_emulator *e = xc_alloc(sizeof *e);
	e->process = process;
	e->state.pc = pc;
	for (size_t i = 0; i < XC_COUNT(numbers); i++)
		if (!xc_regs_get(regs, numbers[i], &e->state.regs[i].bits))
			e->state.regs[i].marks = XC_EMULATOR_DATA;
	for (size_t i = 0; i < XC_COUNT(e->state.vectors); i++)
		if (regs->vector && i < regs->vector->xmm_count)
			memcpy(&e->state.vectors[i].bits, regs->vector->xmm[i], sizeof e->state.vectors[i].bits);
		else
			e->state.vectors[i].marks = XC_EMULATOR_DATA;
	e->has_fs_base = xc_regs_get(regs, FS_BASE, &e->fs_base);
	e->state.flags.marks = XC_EMULATOR_DATA;
	if (xc_regs_get(regs, FLAGS, &flags))
		e->state.flags = (struct xc_emulated_flags){.carry = flags & 1,
							    .parity = flags >> 2 & 1,
							    .zero = flags >> 6 & 1,
							    .sign = flags >> 7 & 1,
							    .overflow = flags >> 11 & 1};
	e->call.number = -1;
	call_again(e);
	const struct xc_mapping *stack = xc_process_mapping(process, sp);
	e->sp = sp;
	e->stack_lo = stack ? stack->lo : sp;
	e->stack_hi = stack ? stack->hi : sp;
	ZydisDecoderInit(&e->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return e;
}

void xc_emulator_free(struct xc_emulator *emulator)
{
	free(emulator);
}

struct xc_emulated_state *xc_emulator_state(struct xc_emulator *emulator)
{
	return &emulator->state;
}

void xc_emulator_answer(struct xc_emulator *emulator, int answer)
{
	emulator->answers = true;
	emulator->answer = answer;
}

struct xc_emulated_sum xc_emulator_lost_sum(struct xc_emulator *emulator)
{
	struct xc_emulated_sum lost = emulator->lost;
	emulator->lost.known = false;
	return lost;
}

size_t xc_emulator_idle_sums(const struct xc_emulator *emulator, xc_addr out[XC_EMULATED_IDLE])
{
	size_t count = 0;
	for (size_t i = 0; i < XC_EMULATED_IDLE && i < emulator->idle_count; i++) {
		bool again = false;
		for (size_t k = 0; k < count; k++)
			again |= out[k] == emulator->idle[i];
		if (!again)
			out[count++] = emulator->idle[i];
	}
	return count;
}

bool xc_emulator_nudge(struct xc_emulator *emulator, xc_addr pc)
{
	const bool carried = emulator->nudge.carried;
	emulator->nudge = (struct xc_emulated_nudge){.pc = pc};
	return carried;
}

struct xc_emulated_call xc_emulator_call(const struct xc_emulator *emulator)
{
	return emulator->call;
}

/* ---- memory ---- */

static size_t slot_of(const struct xc_emulated_state *state, xc_addr addr)
{
	size_t slot = (size_t)((addr >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % XC_EMULATOR_SLOTS;
	while (state->slots[slot] && state->words[state->slots[slot] - 1].addr != addr)
		slot = (slot + 1) % XC_EMULATOR_SLOTS;
	return slot;
}

bool xc_emulator_word(const struct xc_emulator *e, const struct xc_emulated_state *state, xc_addr addr,
		      struct xc_emulated_word *out)
{
	size_t slot = slot_of(state, addr);
	if (state->slots[slot]) {
		*out = state->words[state->slots[slot] - 1];
		return true;
	}
	*out = (struct xc_emulated_word){.addr = addr};
	return xc_space_peek_uint(e->process->space, addr, 8, &out->bits);
}

/* The word as one that is written; NULL: it is missing, or there is no room. */
static struct xc_emulated_word *own_word(struct xc_emulator *e, xc_addr addr)
{
	struct xc_emulated_state *s = &e->state;
	size_t slot = slot_of(s, addr);
	struct xc_emulated_word word;
	if (s->slots[slot])
		return &s->words[s->slots[slot] - 1];
	if (s->word_count == XC_EMULATOR_WORDS)
		return NULL;
	if (!xc_emulator_word(e, s, addr, &word)) {
		if (addr < e->stack_lo || addr >= e->sp) /* what a live thread has not used yet is not copied */
			return NULL;
		word = (struct xc_emulated_word){.addr = addr, .data = UINT8_MAX};
	}
	s->words[s->word_count] = word;
	s->slots[slot] = (uint16_t)++s->word_count;
	return &s->words[s->word_count - 1];
}

bool xc_emulator_mark(struct xc_emulator *e, xc_addr addr, uint8_t counts, uint8_t data)
{
	struct xc_emulated_word *word = own_word(e, addr);
	if (!word)
		return false;
	word->counts = (uint8_t)((word->counts | counts) & ~data);
	word->data |= data;
	return true;
}

/* Is it not the thread's own stack, and may be written? */
static bool is_of_others(const struct xc_emulator *e, xc_addr addr)
{
	if (addr >= e->stack_lo && addr <= e->stack_hi)
		return false;
	const struct xc_mapping *m = xc_process_mapping(e->process, addr);
	return !m || m->writable || m->shared;
}

/* Bytes of one word. */
static bool read_part(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated *out)
{
	struct xc_emulated_word word;
	unsigned at = addr & 7, bytes = ((1u << size) - 1) << at;
	if (!xc_emulator_word(e, &e->state, addr - at, &word))
		return false;
	out->bits = word.bits >> (8 * at) & xc_emulator_mask(size);
	out->marks = (word.data & bytes)          ? XC_EMULATOR_DATA
		     : (word.counts & (1u << at)) ? XC_EMULATOR_COUNTS
		     : (word.counts & bytes)      ? XC_EMULATOR_HIGH
						  : 0;
	if ((word.others & bytes) || is_of_others(e, addr))
		out->marks |= XC_EMULATOR_OTHERS;
	if (word.answers & bytes)
		out->marks |= XC_EMULATOR_ANSWER;
	return true;
}

static bool read(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated *out)
{
	uint32_t first = 8 - (addr & 7);
	struct xc_emulated high;
	if (!size || size > 8)
		return false;
	if (size <= first)
		return read_part(e, addr, size, out);
	if (!read_part(e, addr, first, out) || !read_part(e, addr + first, size - first, &high))
		return false;
	out->bits |= high.bits << (8 * first);
	if (high.marks & XC_EMULATOR_COUNTS)
		high.marks ^= XC_EMULATOR_COUNTS | (high.marks & XC_EMULATOR_HIGH ? 0 : XC_EMULATOR_HIGH);
	out->marks |= high.marks;
	return true;
}

bool xc_emulator_read(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated *out)
{
	if (!read(e, addr, size, out))
		return false;
	e->read = (struct xc_emulated_read){.addr = addr, .size = size, .bits = out->bits};
	return true;
}

struct xc_emulated_read xc_emulator_read_last(const struct xc_emulator *e)
{
	return e->read;
}

static bool write_part(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated value)
{
	unsigned at = addr & 7;
	uint8_t bytes = (uint8_t)(((1u << size) - 1) << at);
	uint64_t mask = xc_emulator_mask(size) << (8 * at);
	struct xc_emulated_word *word = own_word(e, addr - at);
	if (!word)
		return false;
	word->bits = (word->bits & ~mask) | ((value.bits << (8 * at)) & mask);
	word->counts &= (uint8_t)~bytes;
	word->data &= (uint8_t)~bytes;
	word->others &= (uint8_t)~bytes;
	word->answers &= (uint8_t)~bytes;
	if (value.marks & XC_EMULATOR_OTHERS)
		word->others |= bytes;
	if (value.marks & XC_EMULATOR_ANSWER)
		word->answers |= bytes;
	if (value.marks & XC_EMULATOR_DATA)
		word->data |= bytes;
	else if (value.marks & XC_EMULATOR_COUNTS)
		word->counts |= bytes;
	else if (value.marks & XC_EMULATOR_HIGH)
		word->counts |= (uint8_t)(bytes & ~(1u << at));
	return true;
}

bool xc_emulator_write(struct xc_emulator *e, xc_addr addr, uint32_t size, struct xc_emulated value)
{
	uint32_t first = 8 - (addr & 7);
	if (!size || size > 8)
		return false;
	if (size <= first)
		return write_part(e, addr, size, value);
	struct xc_emulated high = {value.bits >> (8 * first), value.marks};
	if (high.marks & XC_EMULATOR_HIGH)
		high.marks |= XC_EMULATOR_COUNTS;
	return write_part(e, addr, first, value) && write_part(e, addr + first, size - first, high);
}

/* ---- the flow ---- */

static const struct xc_emulated_insn *decode(struct xc_emulator *e)
{
	uint8_t code[LONGEST];
	struct xc_emulated_insn *d = &e->decoded[e->state.pc * 0x9e3779b1 % XC_EMULATOR_DECODED];
	if (d->pc == e->state.pc)
		return d;
	size_t got = xc_space_peek(e->process->space, e->state.pc, code, sizeof code);
	d->pc = 0;
	if (!got || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&e->decoder, code, got, &d->insn, d->operands)))
		return NULL;
	d->pc = e->state.pc;
	return d;
}

bool xc_emulator_holds(const struct xc_emulated_flags *f, unsigned condition)
{
	bool holds;
	switch (condition >> 1) {
	case 0:
		holds = f->overflow;
		break;
	case 1:
		holds = f->carry;
		break;
	case 2:
		holds = f->zero;
		break;
	case 3:
		holds = f->carry || f->zero;
		break;
	case 4:
		holds = f->sign;
		break;
	case 5:
		holds = f->parity;
		break;
	case 6:
		holds = f->sign != f->overflow;
		break;
	default:
		holds = f->zero || f->sign != f->overflow;
	}
	return holds != (condition & 1);
}

static bool branch(struct xc_emulator *e, const struct xc_emulated_insn *d, xc_addr next,
		   struct xc_emulated_branch *out)
{
	struct xc_emulated_state *s = &e->state;
	ZyanU64 target;
	bool counter = d->insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && d->insn.opcode >= 0xe0; /* loop, jrcxz */
	if (counter || (s->flags.marks & XC_EMULATOR_DATA) ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&d->insn, &d->operands[0], d->pc, &target)))
		return false;
	*out = (struct xc_emulated_branch){.pc = d->pc, .flags = s->flags, .condition = d->insn.opcode & 15};
	out->taken = xc_emulator_holds(&s->flags, out->condition);
	s->pc = out->taken ? target : next;
	return true;
}

static bool jump(struct xc_emulator *e, const struct xc_emulated_insn *d, xc_addr next)
{
	ZyanU64 target;
	struct xc_emulated to;
	if (d->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&d->insn, &d->operands[0], d->pc, &target)))
			return false;
		to = (struct xc_emulated){target, 0};
	} else if (!xc_emulator_get(e, d, 0, &to) || (to.marks & XC_EMULATOR_CHANGES)) {
		return false;
	}
	if (d->insn.meta.category == ZYDIS_CATEGORY_CALL && !xc_emulator_push(e, (struct xc_emulated){next, 0}))
		return false;
	e->state.pc = to.bits;
	return true;
}

static bool go_back(struct xc_emulator *e, const struct xc_emulated_insn *d)
{
	struct xc_emulated to;
	if (d->insn.operand_count_visible || !xc_emulator_pop(e, &to) || (to.marks & XC_EMULATOR_CHANGES))
		return false;
	e->state.pc = to.bits;
	return true;
}

static bool moves_data(uint64_t number)
{
	static const uint8_t numbers[] = {0, 1, 17, 18, 19, 20, 44, 45, 46, 47}; /* read … writev, sendto … recvmsg */
	return number < 64 && memchr(numbers, (int)number, sizeof numbers);
}

/* The kernel's answer to sched_yield is always 0. */
static bool call_kernel(struct xc_emulator *e)
{
	struct xc_emulated *rax = &e->state.regs[0], *rdi = &e->state.regs[RDI];
	uint64_t number = rax->bits;
	if (rax->marks & XC_EMULATOR_CHANGES)
		return false;
	if (moves_data(number))
		e->call =
			(struct xc_emulated_call){(long)number, rdi->marks & XC_EMULATOR_CHANGES ? -1 : (int)rdi->bits};
	if (number != SCHED_YIELD && !(e->answers && moves_data(number)))
		return false;
	if (number == SCHED_YIELD)
		*rax = (struct xc_emulated){0, 0};
	else
		*rax = (struct xc_emulated){(uint64_t)(int64_t)e->answer, XC_EMULATOR_OUTSIDE};
	e->state.regs[RCX].marks = e->state.regs[R11].marks = XC_EMULATOR_DATA;
	return true;
}

bool xc_emulator_step(struct xc_emulator *e, struct xc_emulated_branch *branch_out)
{
	const struct xc_emulated_insn *d = decode(e);
	*branch_out = (struct xc_emulated_branch){.pc = 0};
	e->read = (struct xc_emulated_read){.size = 0};
	if (!d)
		return false;
	xc_addr next = d->pc + d->insn.length;
	switch (d->insn.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return branch(e, d, next, branch_out);
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
		return jump(e, d, next);
	case ZYDIS_CATEGORY_RET:
		return go_back(e, d);
	case ZYDIS_CATEGORY_SYSCALL:
		if (!call_kernel(e))
			return false;
		break;
	default:
		if (!xc_emulator_run(e, d))
			return false;
	}
	e->state.pc = next;
	return true;
}
