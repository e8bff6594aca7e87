/* prologue: the instructions with which compilers begin functions, by machine; the first other instruction ends the
 * reading.
 *
 * x86-64 and i386: the frame pointer is set up by push %rbp; mov %rsp,%rbp near the start: after endbr, or after
 * the instructions that realign the stack. These instructions change the depth, or are skipped (Intel SDM vol. 2;
 * without REX on i386):
 *
 *     f3 0f 1e fa/fb endbr            REX.W 83 /5 ib   sub $imm8,%rsp
 *     [41] 50+r      push             REX.W 81 /5 id   sub $imm32,%rsp
 *     [REX] 89 /r    mov reg,reg      [REX] 31 /r      xor reg,reg       (moved between them by compilers)
 *
 * Machines with a link register: instructions that move sp, that store the link register, and that come between:
 * other stores to the stack, moves, paciasp. Encodings: Arm ARM DDI 0487 C6.2, DDI 0406C A8; RISC-V unprivileged ISA
 * 20191213, 2.6, 16.3; Power ISA 3.1, 3.3.3. */
#include "dwarf/unwind/prologue.h"

#include <elf.h>
#include <string.h>

#include "core/base/cursor.h"

enum { READ = 64, NEAR = 32 };

struct code {
	const uint8_t *at;
	size_t left;
};

static bool starts(const struct code *c, const void *bytes, size_t count)
{
	return c->left >= count && memcmp(c->at, bytes, count) == 0;
}

/* ---- x86 ---- */

/* sub $imm,%rsp behind its REX prefix, if it has one: its length, or 0. */
static size_t x86_sub(const struct code *c, size_t rex, uint64_t *depth)
{
	if (c->left >= rex + 3 && c->at[rex] == 0x83 && c->at[rex + 1] == 0xec) {
		*depth += xc_sign_extend(c->at[rex + 2], 8);
		return rex + 3;
	}
	if (c->left >= rex + 6 && c->at[rex] == 0x81 && c->at[rex + 1] == 0xec) {
		*depth += xc_sign_extend(xc_load_uint(c->at + rex + 2, 4, false), 32);
		return rex + 6;
	}
	return 0;
}

/* One instruction of a prologue: its length, or 0; its effect on the stack is added to *depth. */
static size_t x86_instruction(const struct code *c, bool wide, uint64_t *depth)
{
	size_t rex = wide && c->left > 1 && (c->at[0] & 0xf0) == 0x40;
	if (starts(c, wide ? "\xf3\x0f\x1e\xfa" : "\xf3\x0f\x1e\xfb", 4))
		return 4;
	if (c->left > rex && c->at[rex] >= 0x50 && c->at[rex] <= 0x57) {
		*depth += wide ? 8 : 4;
		return rex + 1;
	}
	size_t sub = !wide || (rex && c->at[0] == 0x48) ? x86_sub(c, rex, depth) : 0;
	if (sub)
		return sub;
	/* between registers, and not into rsp */
	bool moves = c->left >= rex + 2 && (c->at[rex] == 0x89 || c->at[rex] == 0x31) && c->at[rex + 1] >= 0xc0;
	return moves && ((c->at[rex + 1] & 7) != 4 || (rex && (c->at[0] & 1))) ? rex + 2 : 0;
}

static void read_x86(const struct xc_process *process, const uint8_t *bytes, size_t got, size_t done,
		     struct xc_prologue *p)
{
	static const uint8_t push_mov[] = {0x55, 0x48, 0x89, 0xe5}, push_mov_32[] = {0x55, 0x89, 0xe5};
	bool wide = process->arch->machine == EM_X86_64;
	size_t size = wide ? sizeof push_mov : sizeof push_mov_32;
	const uint8_t *found = memmem(bytes, got < NEAR ? got : NEAR, wide ? push_mov : push_mov_32, size);
	p->frame_pointer = found && done >= (size_t)(found - bytes) + size;
	struct code c = {.at = bytes, .left = done < got ? done : got};
	for (size_t length; (length = x86_instruction(&c, wide, &p->depth)) > 0; c.left -= length)
		c.at += length;
	p->whole = c.left == 0 && done <= got;
}

/* ---- machines with a link register ---- */

/* sp went down by `by` bytes. */
static void lower(struct xc_prologue *p, uint64_t by)
{
	p->depth += by;
}

/* A register was stored at sp + at. */
static void save(struct xc_prologue *p, int reg, int link, uint64_t at)
{
	if (p->depth > INT32_MAX || at > INT32_MAX)
		return;
	int32_t below = (int32_t)p->depth - (int32_t)at;
	if (reg == link) {
		p->link_saved = true;
		p->link_below = below;
	} else if (!(p->saved >> reg & 1)) { /* a register stored again is an argument or a local variable */
		p->saved |= UINT32_C(1) << reg;
		p->below[reg] = below;
	}
}

static bool aarch64_instruction(uint32_t w, struct xc_prologue *p)
{
	uint32_t base = w >> 5 & 31, first = w & 31, second = w >> 10 & 31;
	if ((w & 0xff0003ff) == 0xd10003ff) { /* sub sp, sp, #imm {lsl #12} */
		lower(p, (uint64_t)(w >> 10 & 0xfff) << (w & 0x400000 ? 12 : 0));
		return true;
	}
	if ((w & 0x7e400000) == 0x28000000 && base == 31) { /* stp: general registers, sp */
		uint64_t offset = xc_sign_extend(w >> 15 & 127, 7) * 8;
		bool before = (w & 0x03800000) == 0x01800000;
		if (!(w & 0x80000000) || (w & 0x03800000) == 0x00800000)
			return false; /* 32-bit, post-indexed: not part of a prologue */
		if (before)
			lower(p, -offset);
		save(p, (int)first, 30, before ? 0 : offset);
		save(p, (int)second, 30, (before ? 0 : offset) + 8);
		return true;
	}
	if ((w & 0xffe00c00) == 0xf8000c00 && base == 31) { /* str x, [sp, #imm]! */
		lower(p, -xc_sign_extend(w >> 12 & 511, 9));
		save(p, (int)first, 30, 0);
		return true;
	}
	if ((w & 0xffc00000) == 0xf9000000 && base == 31) { /* str x, [sp, #imm] */
		save(p, (int)first, 30, (uint64_t)(w >> 10 & 0xfff) * 8);
		return true;
	}
	if (w == 0x910003fd || (w & 0xffc003ff) == 0x910003fd) { /* mov x29, sp; add x29, sp, #imm */
		p->frame_pointer = p->link_saved;
		return true;
	}
	return w == 0xd503233f || w == 0xd503245f || w == 0xd503201f ||            /* paciasp, bti c, nop */
	       (w & 0xffe0ffe0) == 0xaa0003e0 || (w & 0x7f800000) == 0x52800000 || /* mov reg, reg; mov reg, #imm */
	       ((w & 0xbfc00000) == 0xb9000000 && base == 31) || (w & 0x9f000000) == 0x90000000; /* str to sp; adrp */
}

/* Registers of a push, bit by bit, the lowest number at the lowest address. */
static void arm_push(uint32_t registers, struct xc_prologue *p)
{
	uint64_t at = 0;
	lower(p, 4 * (uint64_t)__builtin_popcount(registers));
	for (int reg = 0; reg < 16; reg++)
		if (registers >> reg & 1) {
			save(p, reg, 14, at);
			at += 4;
		}
}

static uint32_t arm_immediate(uint32_t w)
{
	uint32_t value = w & 0xff, turn = (w >> 8 & 15) * 2;
	return turn ? value >> turn | value << (32 - turn) : value;
}

static bool arm_instruction(uint32_t w, struct xc_prologue *p)
{
	if ((w & 0xffff0000) == 0xe92d0000) { /* push {…} */
		arm_push(w & 0xffff, p);
		return true;
	}
	if ((w & 0xffff0fff) == 0xe52d0004) { /* push {reg} */
		arm_push(1u << (w >> 12 & 15), p);
		return true;
	}
	if ((w & 0xfffff000) == 0xe24dd000) { /* sub sp, sp, #imm */
		lower(p, arm_immediate(w));
		return true;
	}
	if ((w & 0xfffff000) == 0xe28db000) { /* add fp, sp, #imm */
		p->frame_pointer = p->link_saved;
		return true;
	}
	return (w & 0xfff00ff0) == 0xe1a00000 || (w & 0xffff0000) == 0xe50b0000 || /* mov; str reg, [fp, #-imm] */
	       (w & 0xffff0000) == 0xe58d0000;                                     /* str reg, [sp, #imm] */
}

/* One Thumb instruction: its length, or 0. */
static size_t thumb_instruction(const struct code *c, struct xc_prologue *p)
{
	if (c->left < 2)
		return 0;
	uint32_t w = (uint32_t)xc_load_uint(c->at, 2, false);
	if ((w & 0xfe00) == 0xb400) { /* push {…, lr} */
		arm_push((w & 0xff) | (w & 0x100) << 6, p);
		return 2;
	}
	if ((w & 0xff80) == 0xb080) { /* sub sp, #imm */
		lower(p, (w & 0x7f) * 4);
		return 2;
	}
	if ((w & 0xff00) == 0xaf00 || (w & 0xff00) == 0x4600 || (w & 0xf800) == 0x9000) /* add r7, sp; mov; str to sp */
		return 2;
	if (c->left < 4 || (w & 0xe000) != 0xe000 || (w & 0x1800) == 0)
		return 0;
	uint32_t second = (uint32_t)xc_load_uint(c->at + 2, 2, false);
	if (w == 0xe92d) { /* push.w {…} */
		arm_push(second & 0x5fff, p);
		return 4;
	}
	if (w == 0xf84d && (second & 0xfff) == 0xd04) { /* push.w {reg} */
		arm_push(1u << (second >> 12), p);
		return 4;
	}
	if (w == 0xf2ad && (second & 0x8f00) == 0x0d00) { /* subw sp, sp, #imm12 */
		lower(p, (second & 0xff) | (second >> 12 & 7) << 8);
		return 4;
	}
	return 0;
}

/* It only matters whether the function has its own frame yet, and whether it saved the link register in its caller's:
 * the chain of frames has the rest. So all other instructions are skipped. */
static bool ppc64_instruction(uint32_t w, struct xc_prologue *p)
{
	if ((w & 0xffff0003) == 0xf8210001) /* stdu r1, imm(r1) */
		lower(p, -xc_sign_extend(w & 0xfffc, 16));
	else if (w == 0xf8010010) /* std r0, 16(r1), into the caller's frame */
		save(p, 0, 0, 16);
	return true;
}

static bool riscv_wide(uint32_t w, struct xc_prologue *p)
{
	if ((w & 0xfffff) == 0x10113) { /* addi sp, sp, imm */
		uint64_t by = -xc_sign_extend(w >> 20, 12);
		lower(p, (int64_t)by > 0 ? by : 0);
		return (int64_t)by > 0;
	}
	if ((w & 0xff07f) == 0x13023) { /* sd reg, imm(sp) */
		save(p, (int)(w >> 20 & 31), 1, xc_sign_extend((w >> 25 << 5) | (w >> 7 & 31), 12));
		return true;
	}
	if ((w & 0xfffff) == 0x10413) { /* addi s0, sp, imm */
		p->frame_pointer = p->link_saved;
		return true;
	}
	return false;
}

/* One RISC-V instruction: its length, or 0. */
static size_t riscv_instruction(const struct code *c, struct xc_prologue *p)
{
	if (c->left < 2)
		return 0;
	uint32_t w = (uint32_t)xc_load_uint(c->at, 2, false);
	if ((w & 3) == 3)
		return c->left >= 4 && riscv_wide((uint32_t)xc_load_uint(c->at, 4, false), p) ? 4 : 0;
	if ((w & 0xef83) == 0x6101 && w & 0x1000) { /* c.addi16sp, downwards */
		lower(p, -xc_sign_extend((w >> 12 & 1) << 9 | (w >> 3 & 3) << 7 | (w >> 5 & 1) << 6 |
						 (w >> 2 & 1) << 5 | (w >> 6 & 1) << 4,
					 10));
		return 2;
	}
	if ((w & 0xef83) == 0x0101) { /* c.addi sp, imm */
		uint64_t by = -xc_sign_extend((w >> 12 & 1) << 5 | (w >> 2 & 31), 6);
		lower(p, (int64_t)by > 0 ? by : 0);
		return (int64_t)by > 0 ? 2 : 0;
	}
	if ((w & 0xe003) == 0xe002) { /* c.sdsp */
		save(p, (int)(w >> 2 & 31), 1, (w >> 10 & 7) << 3 | (w >> 7 & 7) << 6);
		return 2;
	}
	if ((w & 0xe01f) == 0) { /* c.addi4spn s0, sp, imm */
		p->frame_pointer = p->link_saved;
		return w ? 2 : 0;
	}
	return (w & 0xf003) == 0x8002 && (w & 0x7c) ? 2 : 0; /* c.mv */
}

/* ---- instructions outside of prologues ---- */

/* Compilers move the first instructions of the body between those of the prologue, and may return before it. So
 * others are skipped, conditional branches too, up to the first that calls or that always branches. */

static bool aarch64_leads_on(uint32_t w)
{
	bool branch = (w & 0x7c000000) == 0x14000000 || (w & 0xfe000000) == 0xd6000000; /* b, bl; br, blr, ret */
	return !branch && (w & 0xff000000) != 0xd4000000;                               /* svc */
}

static bool arm_leads_on(uint32_t w)
{
	bool call = (w & 0x0f000000) == 0x0b000000, always = w >> 28 >= 14;
	bool branch = (w & 0x0e000000) == 0x0a000000 || (w & 0x0fffffc0) == 0x012fff00 ||
		      (w & 0x0e108000) == 0x08108000;                          /* b; bx, blx; pop {pc} */
	return !call && !(branch && always) && (w & 0x0f000000) != 0x0f000000; /* svc */
}

static size_t thumb_length(const struct code *c)
{
	uint32_t w = (uint32_t)xc_load_uint(c->at, 2, false);
	if ((w & 0xe000) == 0xe000 && (w & 0x1800) != 0) {
		uint32_t second = c->left >= 4 ? (uint32_t)xc_load_uint(c->at + 2, 2, false) : 0x9000;
		bool branch = (w & 0xf800) == 0xf000 && (second & 0x8000); /* barriers too */
		bool conditional = (second & 0xd000) == 0x8000 && (w & 0x380) != 0x380;
		return branch && !conditional ? 0 : 4;
	}
	bool branch = (w & 0xfe00) == 0xde00 || (w & 0xf800) == 0xe000 || (w & 0xff00) == 0x4700 ||
		      (w & 0xff00) == 0xbd00; /* svc; b; bx, blx; pop {…, pc} */
	return branch ? 0 : 2;
}

static size_t riscv_length(const struct code *c)
{
	uint32_t w = (uint32_t)xc_load_uint(c->at, 2, false), opcode = w & 127;
	if ((w & 3) == 3) /* jal, jalr, ecall */
		return opcode == 0x6f || opcode == 0x67 || opcode == 0x73 || c->left < 4 ? 0 : 4;
	bool jump = (w & 0xe003) == 0xa001 || ((w & 0xe003) == 0x8002 && (w & 0x7c) == 0); /* c.j; c.jr, c.jalr */
	return jump ? 0 : 2;
}

static size_t passed_over(const struct xc_arch *arch, const struct code *c, bool thumb)
{
	if (c->left < 2)
		return 0;
	if (arch->machine == EM_RISCV)
		return riscv_length(c);
	if (thumb)
		return thumb_length(c);
	if (c->left < 4)
		return 0;
	uint32_t word = (uint32_t)xc_load_uint(c->at, 4, false);
	return (arch->machine == EM_ARM ? arm_leads_on(word) : aarch64_leads_on(word)) ? 4 : 0;
}

static size_t link_instruction(const struct xc_arch *arch, const struct code *c, bool thumb, struct xc_prologue *p)
{
	if (arch->machine == EM_RISCV)
		return riscv_instruction(c, p);
	if (thumb)
		return thumb_instruction(c, p);
	if (c->left < 4)
		return 0;
	uint32_t word = (uint32_t)xc_load_uint(c->at, 4, false);
	bool known = arch->machine == EM_ARM     ? arm_instruction(word, p)
		     : arch->machine == EM_PPC64 ? ppc64_instruction(word, p)
						 : aarch64_instruction(word, p);
	return known ? 4 : 0;
}

static void read_link(const struct xc_arch *arch, const uint8_t *bytes, size_t got, size_t done, bool thumb,
		      struct xc_prologue *p)
{
	struct code c = {.at = bytes, .left = done < got ? done : got};
	p->whole = done <= got;
	for (size_t length; c.left > 0; c.left -= length) {
		length = link_instruction(arch, &c, thumb, p);
		if (!length) {
			p->whole = false;
			length = passed_over(arch, &c, thumb);
		}
		if (!length)
			break;
		c.at += length;
	}
}

struct xc_prologue xc_prologue_read(const struct xc_process *process, xc_addr start, xc_addr pc)
{
	struct xc_prologue p = {.known = false};
	const struct xc_arch *arch = process->arch;
	uint8_t bytes[READ];
	bool thumb = arch->machine == EM_ARM && (start & 1);
	start -= thumb;
	if (!start || pc < start || !arch->unwinds)
		return p;
	size_t got = xc_space_peek(process->space, start, bytes, sizeof bytes);
	size_t done = pc - start < READ + 1 ? (size_t)(pc - start) : READ + 1;
	p.known = got > 0;
	if (arch->lr < 0)
		read_x86(process, bytes, got, done, &p);
	else
		read_link(arch, bytes, got, done, thumb, &p);
	return p;
}
