/* goruntime: the facts of Go's runtime that an unwinder and a verdict need: which goroutine a thread runs, and where
 * it continues when the thread is on another stack.
 *
 * Goroutines have small separate stacks. Code that needs more room runs on the thread's stack (g0's), to which
 * systemstack(), mcall(), morestack() and, for C, asmcgocall() switch. No call frame information describes the way
 * back, but each goroutine has the place in g.sched:
 *
 *  thread storage ──→ g (goroutine, g0, or gsignal in a handler) ──→ g.m ──→ m.curg ──→ curg.sched { sp, pc, …, bp }
 *
 * Layouts come from the program's own debug information (runtime.g, runtime.m, runtime.gobuf); without it those that
 * did not change from Go 1.12 to 1.22 are used, as far as they are needed here. The storage is that of amd64 (Go
 * 1.19, runtime/runtime2.go, asm_amd64.s; cmd/link: runtime.tlsg). Not thread-safe. */
#ifndef XC_GORUNTIME_H
#define XC_GORUNTIME_H

#include "core/process/process.h"

enum xc_go_code {
	XC_GO_SYSTEMSTACK,
	XC_GO_MCALL,
	XC_GO_MORESTACK,
	XC_GO_CALL_C,   /* asmcgocall */
	XC_GO_SIGPANIC, /* looks as if called by the instruction that faulted */
	XC_GO_PREEMPT,  /* asyncPreempt: likewise, by an instruction that a signal interrupted */
	XC_GO_TEXT,     /* all of Go's own code, without linked-in C */
	XC_GO_CODES
};

struct xc_goruntime {
	const struct xc_process *process;
	struct xc_module *module;       /* the executable */
	struct xc_goruntime_memo *memo; /* of xc_goruntime_read(); in the process's arena */
	struct {
		xc_addr from, end; /* 0: not there */
	} codes[XC_GO_CODES];
};

/* False when the executable is not a Go program (gopclntab.h), or not of a supported machine. Reads symbols. */
bool xc_goruntime_find(const struct xc_process *process, struct xc_goruntime *out);

/* Is the address in that code? In one of the functions that switch stacks? */
bool xc_goruntime_in(const struct xc_goruntime *go, enum xc_go_code which, xc_addr pc);
bool xc_goruntime_switches(const struct xc_goruntime *go, xc_addr pc);

/* The g in the thread's storage, by the thread pointer in regs: that of the stack in use, or gsignal. False when it
 * cannot be read. */
bool xc_goruntime_g(const struct xc_goruntime *go, const struct xc_regs *regs, xc_addr *g_out);

/* The goroutine that the thread of regs runs (m.curg), on any stack. False when it runs none, or when that is
 * unknown. */
bool xc_goruntime_current(const struct xc_goruntime *go, const struct xc_regs *regs, xc_addr *g_out);

/* Does the thread run no goroutine, only Go's scheduler, collector or monitor? False also when that is not known. */
bool xc_goruntime_is_idle(const struct xc_goruntime *go, const struct xc_regs *regs);

/* A member of at most 8 bytes ("sched.sp") of the struct `type` ("runtime.g") at addr. False when its offset is
 * unknown or it cannot be read. The offset is looked up once: type and path are kept and must be literals. */
bool xc_goruntime_read(const struct xc_goruntime *go, const char *type, xc_addr addr, const char *path,
		       uint64_t *value_out);

/* The offset of a member in the struct `type`, and its size. False when it is unknown. Likewise. */
bool xc_goruntime_offset(const struct xc_goruntime *go, const char *type, const char *path, uint64_t *offset_out,
			 uint64_t *size_out);

/* The registers (pc, sp and the frame pointer) of a goroutine that is not running, as saved in g.sched. */
bool xc_goruntime_saved(const struct xc_goruntime *go, xc_addr g, struct xc_regs *regs);

/* The name of the program's function at pc, by its symbols alone. Nothing is kept, so it can be called a million
 * times. NULL when there is none. */
const char *xc_goruntime_function(const struct xc_goruntime *go, xc_addr pc);

/* A variable of Go's runtime ("runtime.allgs"). False when the program has no symbols, or only those of functions
 * (gopclntab.h). */
bool xc_goruntime_variable(const struct xc_goruntime *go, const char *name, xc_addr *addr_out, uint64_t *size_out);

#endif
