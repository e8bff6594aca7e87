/* foreign_frame: facts about stacks that a plugin provides and no debug information has: how to unwind a JIT's code
 * and what to call it, and the frames of an interpreted language (the guest), which are in the interpreter's own
 * data.
 *
 * Kept with the process; costs nothing before a plugin adds something. The unwinder and everything that names
 * addresses look up code themselves; dwarf/stack/backtrace merges frames. Everything added is copied. Not
 * thread-safe. */
#ifndef XC_FOREIGN_FRAME_H
#define XC_FOREIGN_FRAME_H

#include "core/process/process.h"
#include "dwarf/cfi/cfi_row.h"

struct xc_stack_row;

enum {
	XC_FOREIGN_CODES = 1 << 16,
	XC_FOREIGN_ROWS = 1 << 18,      /* of all frames and stacks */
	XC_FOREIGN_LISTS = 1 << 16,     /* of frames, and stacks */
	XC_FOREIGN_VARIABLES = 1 << 20, /* of all rows */
};

/* Where the caller's value of a register is saved. */
struct xc_foreign_saved {
	int reg;
	int from;       /* the register that holds it; -1: it is in memory ... */
	int64_t offset; /* ... at CFA + offset */
};

struct xc_foreign_code {
	xc_addr lo, hi;     /* inclusive */
	bool override;      /* takes precedence over the module's call frame information and names */
	int cfa_reg;        /* -1: no unwinding information, only names */
	int64_t cfa_offset; /* CFA = register + offset */
	const struct xc_foreign_saved *saved;
	size_t saved_count;
	const char *name, *file, *language; /* each may be NULL */
	unsigned line;                      /* 0: unknown */
};

/* Frames that were called by the machine's frame with sp <= at < CFA. */
struct xc_foreign_frames {
	pid_t tid; /* 0: of no thread */
	xc_addr at;
	const char *name, *state;  /* for tid 0: "coroutine 0x…", "suspended" */
	size_t order;              /* of adding; set by xc_foreign_add_frames */
	struct xc_stack_row *rows; /* innermost first; with language, kind and variables */
	size_t row_count;
};

/* Where ranges overlap, the one added last applies. Errors: XC_ERR_USAGE for lo > hi and for registers that call
 * frame information does not cover; XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_foreign_add_code(struct xc_process *process, const struct xc_foreign_code *code);

/* Errors: XC_ERR_NOT_FOUND for an unknown thread; XC_ERR_LIMIT. `order` is ignored. */
XC_MUST_CHECK struct xc_error *xc_foreign_add_frames(struct xc_process *process,
						     const struct xc_foreign_frames *frames);

/* Variables with all their texts, copied. */
struct xc_variable_text *xc_foreign_variables(struct xc_arena *arena, const struct xc_variable_text *from,
					      size_t count);

/* Record that a plugin failed; backtraces report it once. Takes err. */
void xc_foreign_fail(struct xc_process *process, struct xc_error *err);

/* The code at an address, or NULL; and its row, or NULL. `override`: only code that takes precedence over the module.
 * O(log n). */
const struct xc_foreign_code *xc_foreign_code_at(const struct xc_process *process, xc_addr addr, bool override);
const struct xc_cfi_row *xc_foreign_row(const struct xc_process *process, xc_addr addr, bool override);

/* The lists of a thread sorted by `at`; for tid 0 those of no thread, in the order of adding. */
const struct xc_foreign_frames *xc_foreign_frames_of(const struct xc_process *process, pid_t tid, size_t *count_out);

/* The next failure that was not reported yet, owned by the caller; NULL when there is none. */
struct xc_error *xc_foreign_failure(struct xc_process *process);

/* Everything added, for foreign_frame_report: codes and lists in the order of adding. */
struct xc_foreign {
	struct xc_foreign_entry **codes; /* codes and their texts are in the arena of the process, so they stay valid */
	size_t code_count, code_capacity;
	struct xc_foreign_span *spans; /* disjoint, by address; rebuilt on the first look-up after an addition */
	size_t span_count;
	bool painted;
	struct xc_foreign_frames *lists;
	size_t list_count, list_capacity, row_count, variable_count;
	bool sorted; /* the lists are sorted by thread and `at` */
	struct xc_error **failures;
	size_t failure_count, failure_capacity, failure_shown;
};

struct xc_foreign_entry {
	struct xc_foreign_code code;
	struct xc_cfi_row *row; /* NULL: named only */
};

/* The state of a process, or NULL; the same, made when there is none; detach it, so that another plugin can be asked
 * alone. */
struct xc_foreign *xc_foreign_of(const struct xc_process *process);
struct xc_foreign *xc_foreign_take(struct xc_process *process);
void xc_foreign_set(struct xc_process *process, struct xc_foreign *foreign); /* frees the state that the process has */

#endif
