/* prologue: x86-64 only. A frame pointer is push %rbp; mov %rsp,%rbp near the start: behind endbr64, or behind
 * what realigns the stack. The depth is counted over the instructions that prologues are made of (Intel SDM vol. 2):
 *
 *     f3 0f 1e fa    endbr64              REX.W 83 /5 ib   sub $imm8,%rsp
 *     [41] 50+r      push                 REX.W 81 /5 id   sub $imm32,%rsp
 *     [REX] 89 /r    mov reg,reg          [REX] 31 /r      xor reg,reg       (moved between them by compilers) */
#include "prologue.h"

#include <elf.h>
#include <string.h>

enum { READ = 64, NEAR = 32 };

struct code {
	const uint8_t *at;
	size_t left;
};

static bool starts(const struct code *c, const void *bytes, size_t count)
{
	return c->left >= count && memcmp(c->at, bytes, count) == 0;
}

/* One instruction of a prologue: its length, or 0; what it takes from the stack is added. */
static size_t instruction(const struct code *c, uint64_t *depth)
{
	size_t rex = c->left > 1 && (c->at[0] & 0xf0) == 0x40;
	int32_t amount;
	if (starts(c, "\xf3\x0f\x1e\xfa", 4))
		return 4;
	if (c->left > rex && c->at[rex] >= 0x50 && c->at[rex] <= 0x57) {
		*depth += 8;
		return rex + 1;
	}
	if (starts(c, "\x48\x83\xec", 3) && c->left >= 4) {
		*depth += (uint64_t)(int64_t)(int8_t)c->at[3];
		return 4;
	}
	if (starts(c, "\x48\x81\xec", 3) && c->left >= 7) {
		memcpy(&amount, c->at + 3, sizeof amount);
		*depth += (uint64_t)(int64_t)amount;
		return 7;
	}
	/* between registers, and not into rsp */
	bool moves = c->left >= rex + 2 && (c->at[rex] == 0x89 || c->at[rex] == 0x31) && c->at[rex + 1] >= 0xc0;
	return moves && ((c->at[rex + 1] & 7) != 4 || (rex && (c->at[0] & 1))) ? rex + 2 : 0;
}

struct xc_prologue xc_prologue_read(const struct xc_process *process, xc_addr start, xc_addr pc)
{
	static const uint8_t push_mov[] = {0x55, 0x48, 0x89, 0xe5};
	struct xc_prologue p = {.known = false};
	uint8_t bytes[READ];
	if (!start || pc < start || process->arch->machine != EM_X86_64)
		return p;
	size_t got = xc_space_peek(process->space, start, bytes, sizeof bytes);
	const uint8_t *found = memmem(bytes, got < NEAR ? got : NEAR, push_mov, sizeof push_mov);
	p.known = got > 0;
	p.frame_pointer = found && pc - start >= (size_t)(found - bytes) + sizeof push_mov;
	struct code c = {.at = bytes, .left = pc - start < got ? (size_t)(pc - start) : got};
	for (size_t length; (length = instruction(&c, &p.depth)) > 0; c.left -= length)
		c.at += length;
	return p;
}
