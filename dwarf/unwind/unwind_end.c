/* unwind_end: where stacks begin, so that unwinding ends.
 *
 * The kernel starts a program at its entry point (the dynamic linker at its own): the word above is argc, not a return
 * address, and C libraries seldom mark the frame. makecontext() of the C library, boost's make_fcontext() and others
 * write a return address into the new stack by hand: that of a function's first instruction, or of code after a jump
 * or a return. */
#include <elf.h>
#include <string.h>

#include "dwarf/decode/code.h"
#include "dwarf/decode/stackop.h"
#include "dwarf/unwind/unwind_impl.h"

enum { MAX_ENTRY = 32, ENTRY_FIELD = 24 };

/* ---- the entry point ---- */

/* The instructions from the entry point on, up to one that never goes on, or where other code begins: call frame
 * information begins or ends there. */
static struct xc_function_range straight_code(struct xc_unwinder *u, xc_addr entry)
{
	struct xc_function_range range = {.pc = entry, .lo = entry, .hi = entry};
	bool covered = xc_cfi_row(u->cfi, entry)->found;
	struct xc_stackop op;
	for (size_t i = 0; i < MAX_ENTRY; i++) {
		if (xc_cfi_row(u->cfi, range.hi)->found != covered ||
		    !xc_stackop_decode(u->process, range.hi, NULL, &op))
			break;
		range.hi += op.length;
		if (op.flow == XC_STACKOP_JUMP || op.flow == XC_STACKOP_RETURN || op.flow == XC_STACKOP_END)
			break;
	}
	return range;
}

static struct xc_function_range entry_range(struct xc_unwinder *u, xc_addr entry)
{
	struct xc_function_range range = xc_function_range_of(u->process, entry);
	if (!xc_code_executable(u->process, entry))
		return (struct xc_function_range){.pc = 0};
	return range.hi && range.lo == entry ? range : straight_code(u, entry);
}

static void read_entries(struct xc_unwinder *u)
{
	const struct xc_process *p = u->process;
	uint64_t entry, base;
	u->entries_read = true;
	if (xc_process_auxv(p, AT_ENTRY, &entry))
		u->entries[0] = entry_range(u, entry);
	if (xc_process_auxv(p, AT_BASE, &base) && base &&
	    xc_space_peek_uint(p->space, base + ENTRY_FIELD, p->arch->word, &entry) && entry)
		u->entries[1] = entry_range(u, base + entry);
}

bool xc_unwind_at_entry(struct xc_unwinder *u, const struct xc_frame *frame)
{
	xc_addr pc = xc_frame_lookup(frame);
	if (!u->entries_read)
		read_entries(u);
	for (size_t i = 0; i < XC_ENTRIES; i++)
		if (pc >= u->entries[i].lo && pc < u->entries[i].hi)
			return true;
	return false;
}

/* musl 1.2 (src/thread/MACHINE/clone.s): the thread's function returns to the system call exit, with its result. */
bool xc_unwind_ends_thread(const struct xc_unwinder *u, const struct xc_frame *frame)
{
	static const uint8_t x86_64[] = {0x89, 0xc7,               /* mov %eax,%edi */
					 0x31, 0xc0,               /* xor %eax,%eax */
					 0xb0, 0x3c,               /* mov $60,%al: exit */
					 0x0f, 0x05};              /* syscall */
	static const uint8_t aarch64[] = {0xa8, 0x0b, 0x80, 0xd2,  /* mov x8, #93: exit */
					  0x01, 0x00, 0x00, 0xd4}; /* svc #0 */
	const struct xc_arch *arch = u->process->arch;
	const uint8_t *exits = xc_arch_is_x86_64(arch) ? x86_64 : arch->machine == EM_AARCH64 ? aarch64 : NULL;
	uint8_t code[sizeof x86_64];
	return exits && !frame->interrupted &&
	       xc_space_peek(u->process->space, frame->pc, code, sizeof code) == sizeof code &&
	       memcmp(code, exits, sizeof code) == 0;
}

/* ---- stacks begun by hand ---- */

/* Is there a system call among the bytes at pc, as in trampolines that are not recognized? */
static bool enters_kernel(const struct xc_process *p, xc_addr pc)
{
	uint8_t code[16];
	size_t got = xc_space_peek(p->space, pc, code, sizeof code);
	return memmem(code, got, "\x0f\x05", 2) || memmem(code, got, "\xcd\x80", 2) || memmem(code, got, "\x0f\x34", 2);
}

/* Functions begin at such addresses, mostly. Where there is call frame information this saves the look at the code of
 * most frames. */
static bool may_begin(const struct xc_arch *arch, xc_addr pc)
{
	return pc % (arch->lr < 0 ? 16 : 4) == 0;
}

/* Can no call end at pc? gdb's gcore leaves out mappings of code: without the code only a function that begins there,
 * after bytes that belong to none, shows it. */
static bool no_call_ends(const struct xc_process *p, xc_addr pc, bool begins, const struct xc_cfi_row *row)
{
	xc_addr target;
	if (xc_code_executable(p, pc))
		return !xc_code_returns(p, pc, &target) && !enters_kernel(p, pc);
	return begins && !row->found && !xc_process_mapping(p, pc) && !xc_function_range_of(p, pc - 1).lo;
}

bool xc_unwind_made_by_hand(struct xc_unwinder *u, struct xc_frame *f, const struct xc_cfi_row *row)
{
	const struct xc_process *p = u->process;
	if (!f->pc || (row->found && !may_begin(p->arch, f->pc)) || !xc_stackop_decodes(p))
		return false;
	struct xc_module *module = xc_process_module(p, f->pc);
	if (!module || xc_unwind_in_go(u, f))
		return false;
	bool begins = xc_function_range_of(p, f->pc).lo == f->pc;
	if ((row->found && !begins) || !no_call_ends(p, f->pc, begins, row))
		return false;
	if (begins) {
		f->interrupted = true;
		f->module = module;
	}
	return true;
}
