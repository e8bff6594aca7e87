/* cause_table: the first rule of an event that holds decides, so that specific causes come before general ones. The last rule of each
 * event always holds. */
#include "triage/cause_table.h"

#include "triage/fault/cause_fault.h"
#include "triage/fault/cause_jump.h"
#include "triage/fault/cause_sent.h"
#include "triage/fault/cause_trap.h"
#include "triage/go/golang.h"
#include "triage/runtime/assertion.h"
#include "triage/runtime/canary.h"
#include "triage/runtime/cause_abort.h"
#include "triage/runtime/fortify.h"
#include "triage/runtime/heap_complaint.h"
#include "triage/runtime/panic.h"
#include "triage/runtime/sanitizer.h"
#include "triage/runtime/shortage.h"
#include "triage/runtime/uncaught.h"
#include "triage/stack/recursion.h"

const struct xc_cause_rule xc_cause_table[] = {
	{"Go run-time", XC_CAUSE_ABORT, xc_golang_judge},
	{"sanitizer", XC_CAUSE_ABORT, xc_sanitizer_judge},
	{"heap corruption", XC_CAUSE_ABORT, xc_heap_complaint_judge},
	{"stack canary", XC_CAUSE_ABORT, xc_canary_judge},
	{"fortified call", XC_CAUSE_ABORT, xc_fortify_judge},
	{"assertion", XC_CAUSE_ABORT, xc_assertion_judge},
	{"Rust panic", XC_CAUSE_ABORT, xc_panic_judge},
	{"C++ exception", XC_CAUSE_ABORT, xc_uncaught_judge},
	{"abort by another process", XC_CAUSE_ABORT, xc_cause_abort_sent},
	{"failed allocation", XC_CAUSE_ABORT, xc_shortage_judge},
	{"abort", XC_CAUSE_ABORT, xc_cause_abort_classify},

	{"hardware guard", XC_CAUSE_SEGV, xc_cause_fault_guard},
	{"jump", XC_CAUSE_SEGV | XC_CAUSE_ILL, xc_cause_jump_classify},
	{"stack overflow", XC_CAUSE_SEGV, xc_recursion_judge},
	{"general protection", XC_CAUSE_SEGV, xc_cause_fault_protection},
	{"null pointer", XC_CAUSE_SEGV, xc_cause_fault_null},
	{"rights of the page", XC_CAUSE_SEGV, xc_cause_fault_rights},
	{"wild pointer", XC_CAUSE_SEGV, xc_cause_fault_wild},
	{"bus error", XC_CAUSE_BUS, xc_cause_fault_bus},

	{"arithmetic", XC_CAUSE_FPE, xc_cause_trap_arithmetic},
	{"instruction", XC_CAUSE_ILL, xc_cause_trap_instruction},
	{"breakpoint", XC_CAUSE_TRAP, xc_cause_trap_breakpoint},
	{"system call", XC_CAUSE_SYS, xc_cause_trap_syscall},

	{"fault signal sent", XC_CAUSE_SENT, xc_cause_sent_fault},
	{"signal sent", XC_CAUSE_OTHER, xc_cause_sent_killed},
	{NULL, 0, NULL},
};
