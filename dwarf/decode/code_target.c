/* code_target: direct calls and jumps, read backwards from where they end, and stubs of the linkage table.
 *
 * x86 instructions have no fixed length, so several may end at one place:
 *
 *     e8 rel32             call                       e9 rel32     jmp           e9 rel32 90   as linkers relax ff 25
 *     ff 15 disp32         call through a slot        ff 25 disp32 jmp through a slot
 *     0f 80…8f rel32       jcc                        eb, 70…7f rel8
 *
 * Encodings: Intel SDM volume 2; Arm ARM DDI 0487 C6.2. Stubs: x86-64 psABI 1.0, 5.2; what GNU ld writes with and
 * without -z ibtplt, on AArch64 with and without BTI. */
#include <elf.h>

#include "core/base/cursor.h"
#include "dwarf/decode/code.h"

enum { BEFORE = 6, STUB = 16 };

static bool is_x86(const struct xc_process *p)
{
	return p->arch->machine == EM_X86_64 || p->arch->machine == EM_386;
}

struct target_list {
	const struct xc_process *process;
	xc_addr *targets;
	size_t count;
};

static void add(struct target_list *g, xc_addr target)
{
	if (target && g->count < XC_CODE_TARGETS)
		g->targets[g->count++] = xc_arch_wrap(g->process->arch, target);
}

/* Add the content of the slot of `ff 15 disp32` or `ff 25 disp32`; the displacement counts from the next instruction,
 * in 32-bit code it is absolute. */
static void add_slot(struct target_list *g, const uint8_t *disp, xc_addr next)
{
	const struct xc_arch *arch = g->process->arch;
	uint64_t target,
		at = xc_sign_extend(xc_load_uint(disp, 4, false), 32) + (arch->machine == EM_X86_64 ? next : 0);
	if (xc_space_peek_uint(g->process->space, xc_arch_wrap(arch, at), arch->word, &target))
		add(g, target);
}

static xc_addr relative(const uint8_t *rel, xc_addr next)
{
	return next + xc_sign_extend(xc_load_uint(rel, 4, false), 32);
}

static void x86_goes(struct target_list *g, const uint8_t code[BEFORE], xc_addr end, bool jump, bool named)
{
	if (code[1] == (jump ? 0xe9 : 0xe8))
		add(g, relative(code + 2, end));
	if (!named)
		return;
	if (code[0] == 0xff && code[1] == (jump ? 0x25 : 0x15))
		add_slot(g, code + 2, end);
	if (jump && code[0] == 0xe9 && code[5] == 0x90)
		add(g, relative(code + 1, end - 1));
	if (jump && code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		add(g, relative(code + 2, end));
	if (jump && (code[4] == 0xeb || (code[4] & 0xf0) == 0x70))
		add(g, end + xc_sign_extend(code[5], 8));
}

size_t xc_code_targets(const struct xc_process *p, xc_addr end, bool jump, bool named, xc_addr targets[XC_CODE_TARGETS])
{
	struct target_list g = {.process = p, .targets = targets};
	uint8_t code[BEFORE];
	size_t size = is_x86(p) ? BEFORE : 4;
	if ((!is_x86(p) && p->arch->machine != EM_AARCH64) || end < size ||
	    xc_space_peek(p->space, end - size, code, size) != size)
		return 0;
	uint32_t word = (uint32_t)xc_load_uint(code, 4, false);
	if (is_x86(p))
		x86_goes(&g, code, end, jump, named);
	else if ((word & 0xfc000000) == (jump ? 0x14000000 : 0x94000000)) /* b, bl */
		add(&g, end - 4 + xc_sign_extend((uint64_t)(word & 0x3ffffff) << 2, 28));
	return g.count;
}

/* endbr64 or endbr32, a bnd prefix, jmp through a slot */
static void x86_stub(struct target_list *g, const uint8_t code[STUB], xc_addr at)
{
	size_t i = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && (code[3] & 0xfe) == 0xfa ? 4 : 0;
	i += code[i] == 0xf2;
	if (code[i] == 0xff && code[i + 1] == 0x25)
		add_slot(g, code + i + 2, at + i + 6);
}

/* bti c; adrp x16, page; ldr x17, [x16, offset] */
static void aarch64_stub(struct target_list *g, const uint8_t code[STUB], xc_addr at)
{
	uint64_t target;
	size_t i = xc_load_uint(code, 4, false) == 0xd503245f ? 4 : 0;
	uint64_t adrp = xc_load_uint(code + i, 4, false), ldr = xc_load_uint(code + i + 4, 4, false);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return;
	uint64_t page = xc_sign_extend((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3), 21) << 12;
	xc_addr slot = ((at + i) & ~UINT64_C(0xfff)) + page + (ldr >> 10 & 0xfff) * 8;
	if (xc_space_peek_uint(g->process->space, slot, 8, &target))
		add(g, target);
}

xc_addr xc_code_stub(const struct xc_process *p, xc_addr addr)
{
	xc_addr targets[XC_CODE_TARGETS] = {0};
	struct target_list g = {.process = p, .targets = targets};
	uint8_t code[STUB];
	if (xc_space_peek(p->space, addr, code, sizeof code) != sizeof code)
		return 0;
	if (is_x86(p))
		x86_stub(&g, code, addr);
	else if (p->arch->machine == EM_AARCH64)
		aarch64_stub(&g, code, addr);
	return targets[0];
}
