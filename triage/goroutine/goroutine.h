/* goroutine: its number, its position, the reason of its wait; and which function of its stack is the user's. */
#ifndef XC_GOROUTINE_H
#define XC_GOROUTINE_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

/* Blame the innermost function from frames[index] outward that is neither the runtime's nor the standard library's
 * (by gopackage.h, and by the directory of the runtime's sources on that stack); else the innermost one that is not
 * the runtime's. False when there is neither: xc_crash_context_blame() has then chosen. */
bool xc_goroutine_blame(struct xc_crash_context *crash, size_t index);

/* Report the number of the goroutine, its first function, and the place of its go statement. Only the number for
 * goroutines of the runtime, main's included; nothing when it is not known. */
void xc_goroutine_report(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr g);

/* ---- of the list runtime.allgs; the ended ones are in it, too ---- */

struct xc_goroutine_list {
	xc_addr items;
	uint64_t count;
};

enum xc_goroutine_state { /* of g.atomicstatus (Go 1.19, runtime/runtime2.go) */
			  XC_GOROUTINE_READY = 1,
			  XC_GOROUTINE_RUNS = 2,
			  XC_GOROUTINE_IN_CALL = 3,
			  XC_GOROUTINE_WAITS = 4,
			  XC_GOROUTINE_ENDED = 6,
};

/* The last answer about a start: most goroutines have the same one. Begin with {0}. */
struct xc_goroutine_starts {
	uint64_t pc;
	bool is_programs;
};

/* The list; false when it is not known. Its items: false at its end, or at the millionth. */
bool xc_goroutine_list(const struct xc_goruntime *go, struct xc_goroutine_list *out);
bool xc_goroutine_at(const struct xc_goruntime *go, const struct xc_goroutine_list *list, uint64_t index,
		     xc_addr *g_out);

/* One of xc_goroutine_state, or another. False when it cannot be read. */
bool xc_goroutine_status(const struct xc_goruntime *go, xc_addr g, uint64_t *status_out);

/* Did the program start it? The runtime starts some itself: for the collector, for finalizers. */
bool xc_goroutine_is_programs(const struct xc_goruntime *go, xc_addr g, struct xc_goroutine_starts *starts);

/* Append the runtime's name of what it waits for: "chan receive". False when that is not known. */
bool xc_goroutine_reason(const struct xc_goruntime *go, xc_addr g, struct xc_text *text);

/* Its frames, innermost first, at most 64, in the report's arena: of the thread that runs it, else as it was saved. */
size_t xc_goroutine_frames(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr g,
			   struct xc_frame **out);

/* Drop the frames before frames[index]; index < crash->frame_count. The blamed place is kept; crash->blamed becomes
 * its new index, or 0 when its frame was dropped. */
void xc_goroutine_begin_at(struct xc_crash_context *crash, size_t index);

#endif
