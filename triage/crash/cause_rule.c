#include "triage/crash/cause_rule.h"

#include <signal.h>

enum xc_cause_event xc_cause_rule_event(const struct xc_fault *f)
{
	switch (f->signal) {
	case SIGSEGV:
		return XC_CAUSE_SEGV;
	case SIGBUS: /* of rsp and rbp: arch/x86/kernel/traps.c, exc_stack_segment */
		return f->code_known && f->code == SI_KERNEL ? XC_CAUSE_SEGV : XC_CAUSE_BUS;
	case SIGFPE:
		return XC_CAUSE_FPE;
	case SIGILL:
		return XC_CAUSE_ILL;
	case SIGSYS:
		return XC_CAUSE_SYS;
	default:
		return XC_CAUSE_TRAP;
	}
}

bool xc_cause_rule_apply(struct xc_crash_context *crash, enum xc_cause_event event)
{
	for (const struct xc_cause_rule *rule = crash->rules; rule && rule->classify; rule++)
		if ((rule->needs & event) && rule->classify(crash))
			return true;
	return false;
}
