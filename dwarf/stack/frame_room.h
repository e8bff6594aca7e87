/* frame_room: how many frames of each stack are kept and walked, and how much text of their variables.
 *
 * Thousands of threads of a small, hostile core may share one deep stack, and each of its words may be a return
 * address. So all stacks together have as much room as the size of the core justifies. */
#ifndef XC_FRAME_ROOM_H
#define XC_FRAME_ROOM_H

#include "core/process/process.h"
#include "core/report/report.h"

enum { XC_FRAMES_OF_STACK = 1024 }; /* unless more are asked for */

struct xc_frame_room {
	size_t each;    /* frames that are kept of a stack */
	uint64_t left;  /* frames that may still be kept of all stacks, where each may have as many as were asked for */
	uint64_t walk;  /* frames that may still be walked only to be counted */
	uint64_t text;  /* bytes of arguments and locals that may still be shown, of all stacks */
	uint64_t names; /* bytes of long names likewise */
	size_t asked, stacks;
	size_t shortened; /* stacks that have more than is kept */
	size_t crowded;   /* of these, in which fewer are kept than was asked for */
	size_t bare;      /* rows whose variables have no room */
	size_t cut_names; /* names that have no room */
};

/* stacks: their number. asked: the frames of each that were asked for; 0: the default. */
struct xc_frame_room xc_frame_room_of(const struct xc_process *process, size_t stacks, size_t asked, bool locals);

/* The frames that are kept of the next stack; never more than of the one before. */
size_t xc_frame_room_next(const struct xc_frame_room *room);

/* A stack had `seen` frames. `more`: not all are kept. */
void xc_frame_room_take(struct xc_frame_room *room, uint64_t seen, bool more);

/* A row got its variables. */
void xc_frame_room_take_text(struct xc_frame_room *room, const struct xc_stack_row *row);

/* The name of a function, file or module in a row: itself while there is room, else its beginning, in the arena. */
const char *xc_frame_room_name(struct xc_frame_room *room, struct xc_arena *arena, const char *name);

/* Messages about what has no room. */
void xc_frame_room_report(const struct xc_frame_room *room, struct xc_section *section);

#endif
