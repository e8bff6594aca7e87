/* cause_table: the first rule of an event that holds decides. So specific causes come before general ones, and the
 * last rule of each event always holds. Causes that only the bad pointer shows replace the class later, most of
 * use-after-free among them: memory/pointer_diagnosis.c. */
#include "triage/cause_table.h"

#include "triage/fault/cause_fault.h"
#include "triage/fault/cause_jump.h"
#include "triage/fault/cause_sent.h"
#include "triage/fault/cause_trap.h"
#include "triage/fault/rseq.h"
#include "triage/libc/format_call.h"
#include "triage/go/golang.h"
#include "triage/runtime/assertion.h"
#include "triage/runtime/canary.h"
#include "triage/runtime/cause_abort.h"
#include "triage/libc/closed_stream.h"
#include "triage/runtime/fortify.h"
#include "triage/runtime/heap_complaint.h"
#include "triage/rust/rust_panic.h"
#include "triage/runtime/sanitizer.h"
#include "triage/runtime/failed_allocation.h"
#include "triage/runtime/uncaught.h"
#include "triage/stack/recursion.h"

const struct xc_cause_rule xc_cause_table[] = {
	{"Go runtime", XC_CAUSE_ABORT, xc_golang_classify},
	{"sanitizer", XC_CAUSE_ABORT, xc_sanitizer_classify},
	{"heap corruption", XC_CAUSE_ABORT, xc_heap_complaint_classify},
	{"stack canary", XC_CAUSE_ABORT, xc_canary_classify},
	{"fortified call", XC_CAUSE_ABORT, xc_fortify_classify},
	{"assertion", XC_CAUSE_ABORT, xc_assertion_classify},
	{"Rust panic", XC_CAUSE_ABORT, xc_rust_panic_classify},
	{"C++ exception", XC_CAUSE_ABORT, xc_uncaught_classify},
	{"abort by another process", XC_CAUSE_ABORT, xc_cause_abort_sent},
	{"failed allocation", XC_CAUSE_ABORT, xc_failed_allocation_classify},
	{"abort", XC_CAUSE_ABORT, xc_cause_abort_classify},

	{"hardware guard", XC_CAUSE_SEGV, xc_cause_fault_guard},
	{"jump", XC_CAUSE_SEGV | XC_CAUSE_ILL, xc_cause_jump_classify},
	{"stack overflow", XC_CAUSE_SEGV, xc_recursion_classify},
	{"closed stream", XC_CAUSE_SEGV, xc_closed_stream_classify},
	{"format", XC_CAUSE_SEGV, xc_format_call_classify},
	{"restartable sequences", XC_CAUSE_SEGV, xc_rseq_classify},
	{"general protection", XC_CAUSE_SEGV, xc_cause_fault_protection},
	{"null pointer", XC_CAUSE_SEGV, xc_cause_fault_null},
	{"rights of the page", XC_CAUSE_SEGV, xc_cause_fault_rights},
	{"wild pointer", XC_CAUSE_SEGV, xc_cause_fault_wild},
	{"bus error", XC_CAUSE_BUS, xc_cause_fault_bus},

	{"arithmetic", XC_CAUSE_FPE, xc_cause_trap_arithmetic},
	{"fatal call with a trap", XC_CAUSE_ILL | XC_CAUSE_TRAP, xc_fatal_call_trap},
	{"instruction", XC_CAUSE_ILL, xc_cause_trap_instruction},
	{"breakpoint", XC_CAUSE_TRAP, xc_cause_trap_breakpoint},
	{"system call", XC_CAUSE_SYS, xc_cause_trap_syscall},

	{"fault signal sent", XC_CAUSE_SENT, xc_cause_sent_fault},
	{"signal sent", XC_CAUSE_OTHER, xc_cause_sent_killed},
	{NULL, 0, NULL},
};
