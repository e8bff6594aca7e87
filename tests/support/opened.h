/* opened: cores opened as the program opens them. Closing one closes everything that belongs to the process. */
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

/* Compile and crash a program, and open its process. One source can hold many programs, selected by the argument:
 * compilation takes most of the time, and the same source is compiled once (kept.h). */
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

/* The innermost inlined function of a frame; "" if unknown. */
static inline const char *function_of(const struct xc_process *process, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(process, xc_frame_lookup(frame));
	const char *name = place->level_count ? place->levels[0].function : place->symbol;
	return name ? name : "";
}

#endif
