/* thread_specific: glibc 2.36, nptl/pthread_getspecific.c: the values of the first keys are in the thread's
 * descriptor,
 *
 *	struct pthread { … specific_1stblock[32] { uintptr_t seq; void *data } … }    seq is odd while the key is used
 *
 * at an offset that the code of pthread_getspecific() contains:
 *
 *	mov %edi,%eax; add $0x31,%rax; shl $4,%rax; add %fs:0x10,%rax */
#include "triage/dataflow/thread_specific.h"

#include <elf.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "triage/code/body_cache.h"

enum { KEYS = 32, SLOT = 16, START = 12, RAX = 0, RDI = 5 };

/* The offset of the slots in the descriptor. */
static bool slots_offset(const struct xc_crash_context *crash, uint64_t *offset_out)
{
	xc_addr function;
	if (!xc_symbol_find(crash->process, "pthread_getspecific", NULL, &function))
		return false;
	const struct xc_body *body = xc_body_cache_get(crash->bodies, function);
	for (size_t i = body ? body->entry : 0; body && i + 1 < body->count && i < body->entry + START; i++) {
		const struct xc_insn *add = &body->insns[i], *shift = &body->insns[i + 1];
		if (add->kind == XC_INSN_ADD && add->to == RAX && shift->kind == XC_INSN_SHIFT && shift->to == RAX &&
		    shift->constant == 4 && add->constant > 0 && add->constant < UINT16_MAX) {
			*offset_out = (uint64_t)add->constant * SLOT;
			return true;
		}
	}
	return false;
}

bool xc_thread_specific_get(const struct xc_crash_context *crash, uint64_t key, uint64_t *value_out)
{
	const struct xc_arch *arch = crash->process->arch;
	const struct xc_space *space = crash->process->space;
	uint64_t tp, offset, used;
	if (arch->machine != EM_X86_64 || arch->word != 8 || key >= KEYS ||
	    !xc_regs_get(&crash->thread->regs, arch->tls.tp, &tp) || !slots_offset(crash, &offset))
		return false;
	xc_addr slot = tp + offset + SLOT * key;
	if (!xc_space_peek_uint(space, slot, 8, &used) || !xc_space_peek_uint(space, slot + 8, 8, value_out))
		return false;
	if (!(used & 1)) /* never set in this thread */
		*value_out = 0;
	return true;
}

bool xc_thread_specific_key(const struct xc_crash_context *crash, xc_addr function, uint64_t *key_out)
{
	const struct xc_body *body = xc_body_cache_get(crash->bodies, function);
	xc_addr variable = 0;
	for (size_t i = 0; body && i < body->count; i++) {
		const struct xc_insn *insn = &body->insns[i];
		const char *callee = insn->kind == XC_INSN_CALL || insn->kind == XC_INSN_JUMP
					     ? xc_body_callee(body, insn, NULL)
					     : NULL;
		if (insn->kind == XC_INSN_LOAD && insn->to == RDI && insn->memory.base < 0 && insn->memory.index < 0 &&
		    insn->memory.segment < 0)
			variable = (xc_addr)insn->memory.displacement;
		else if (callee && strstr(callee, "pthread_getspecific"))
			return variable && xc_space_peek_uint(crash->process->space, variable, 4, key_out);
	}
	return false;
}
