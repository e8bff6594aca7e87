/* gofault: sigpanic() is entered as if the faulting instruction had called it; the data of the signal is in the
 * goroutine's g (Go 1.19, runtime/signal_unix.go). */
#include "triage/go/gofault.h"

#include <signal.h>
#include <string.h>

#include "triage/goroutine/goroutine.h"

enum { PAGE = 4096 };

/* The only memory operand outside of the stack. The registers of the fault are lost, so addresses do not identify
 * it. */
static const struct xc_memory_operand *sole_operand(const struct xc_instruction *instruction)
{
	const struct xc_memory_operand *found = NULL;
	for (size_t i = 0; i < instruction->operand_count; i++) {
		const struct xc_memory_operand *o = &instruction->operands[i];
		if (o->stack || o->access == XC_ACCESS_EXECUTE)
			continue;
		if (found)
			return NULL;
		found = o;
	}
	return found;
}

/* The register of an address without index: what it had is the address that faulted, without the constant. Every other
 * one is lost. */
static void regain_base(const struct xc_process *process, struct xc_fault *f)
{
	const struct xc_memory_operand *o = sole_operand(&f->instruction);
	struct xc_regs regs = f->frame.regs;
	struct xc_instruction at_zero;
	/* of an access that begins on the page before, the address is that of the page */
	if (!o || o->base < 0 || o->index >= 0 || o->addr_known || !f->addr_known || (f->addr && f->addr % PAGE == 0))
		return;
	const int base = o->base;
	xc_regs_set(&regs, base, 0);
	if (!xc_operand_decode(process, &regs, &at_zero) || !(o = sole_operand(&at_zero)) || !o->addr_known)
		return;
	xc_regs_set(&f->frame.regs, base, f->addr - o->addr);
	f->decoded = xc_operand_decode(process, &f->frame.regs, &f->instruction);
}

/* The g on which sigpanic() ran for a fault at pc: the goroutine's, or the thread's own while C runs. */
static bool fault_on(const struct xc_godeath *d, xc_addr pc, xc_addr *g_out)
{
	uint64_t at;
	*g_out = d->g;
	if (d->g_known && xc_goruntime_read(&d->go, "runtime.g", d->g, "sigpc", &at) && at == pc)
		return true;
	return xc_goruntime_g(&d->go, &d->crash->thread->regs, g_out) &&
	       xc_goruntime_read(&d->go, "runtime.g", *g_out, "sigpc", &at) && at == pc;
}

bool xc_gofault_adopt(struct xc_godeath *d, size_t index)
{
	static const char probe[] = "test %al,("; /* a nil check of the compiler: the access itself comes later */
	struct xc_crash_context *crash = d->crash;
	uint64_t sig, code, addr, g;
	if (index + 1 >= crash->frame_count || !fault_on(d, crash->frames[index + 1].pc, &g) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sig", &sig) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sigcode0", &code) ||
	    !xc_goruntime_read(&d->go, "runtime.g", g, "sigcode1", &addr) ||
	    (sig != SIGSEGV && sig != SIGBUS && sig != SIGFPE))
		return false;
	struct xc_fault f = {.signal = (int)sig,
			     .code = (int)code,
			     .code_known = true,
			     .addr_known = sig != SIGFPE && (int)code != SI_KERNEL,
			     .addr = addr,
			     .in_handler = true,
			     .outer_signal = crash->fault.signal,
			     .frame = crash->frames[index + 1],
			     .frame_known = true};
	f.decoded = xc_operand_decode(crash->process, &f.frame.regs, &f.instruction);
	if (f.decoded)
		regain_base(crash->process, &f);
	crash->frames[index + 1] = f.frame;
	const struct xc_memory_operand *operand = f.decoded ? sole_operand(&f.instruction) : NULL;
	if (operand && sig != SIGFPE) {
		f.operand_known = true;
		f.operand = *operand;
		f.probed = strncmp(f.instruction.text, probe, strlen(probe)) == 0;
		f.access = f.probed ? XC_ACCESS_UNKNOWN : operand->access;
	}
	crash->fault = f;
	xc_goroutine_begin_at(crash, index + 1);
	return true;
}
