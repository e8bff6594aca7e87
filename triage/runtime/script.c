#include "triage/runtime/script.h"

#include <string.h>

#include "dwarf/cfi/foreign_frame.h"

static const struct xc_stack_row *innermost(const struct xc_process *process, pid_t tid)
{
	size_t count;
	const struct xc_foreign_frames *lists = xc_foreign_frames_of(process, tid, &count);
	for (size_t i = 0; i < count; i++) /* by address: the innermost call first */
		for (size_t k = 0; k < lists[i].row_count; k++)
			if (lists[i].rows[k].file && lists[i].rows[k].line)
				return &lists[i].rows[k];
	return NULL;
}

void xc_script_report(struct xc_crash_context *crash)
{
	const struct xc_stack_row *row = innermost(crash->process, crash->thread->tid);
	if (!row)
		return;
	const char *language = row->language ? row->language : "the script",
		   *function = row->function ? row->function : "a function without a name";
	if (*row->file == '[') { /* [string "…"]: source in a string, which may be the user's */
		xc_verdict_evidence(crash->report, "in %s: %s, %s:%u", language, function, row->file, row->line);
		xc_auto(xc_freep) char *without =
			xc_asprintf("in %s: %s, line %u of a text", language, function, row->line);
		xc_verdict_redact(crash->report, without);
		return;
	}
	const char *slash = strrchr(row->file, '/');
	xc_verdict_evidence(crash->report, "in %s: %s, %s:%u", language, function, slash ? slash + 1 : row->file,
			    row->line);
}
