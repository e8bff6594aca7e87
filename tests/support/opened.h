/* opened: cores opened as the program opens them, with all that hangs on the process closed again. */
#ifndef XC_TEST_OPENED_H
#define XC_TEST_OPENED_H

#include <string.h>

#include "core/process/finder.h"
#include "core/process/process.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"
#include "tests/support/check.h"
#include "tests/support/dying.h"

static inline struct xc_process *open_core(const char *path)
{
	static const struct xc_finder finder = {.quiet = true};
	struct xc_process *process;
	CHECK_OK(xc_process_open_core(path, &(struct xc_open_options){.finder = &finder}, &process));
	xc_debugfiles_use(process, &finder);
	return process;
}

/* The process of a program that is compiled and dies now. One source may hold many programs, of which the argument says one: compiling takes
 * most of the time, and the same source is compiled once (kept.h). */
static inline struct xc_process *died_of(const char *compiler, const char *source, const char *argument)
{
	return open_core(dying_core(dying_program("program", compiler, source), argument));
}

static inline struct xc_process *died(const char *compiler, const char *source)
{
	return died_of(compiler, source, NULL);
}

static inline void close_process(struct xc_process *process)
{
	xc_debuginfo_close(process);
	xc_debugfiles_close(process);
	xc_process_close(process);
}

/* The function of a frame, the innermost inlined one; "" when unknown. */
static inline const char *function_of(const struct xc_process *process, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(frame));
	const char *name = place->level_count ? place->levels[0].function : place->symbol;
	return name ? name : "";
}

#endif
