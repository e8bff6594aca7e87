/* live_maps: the mappings of a running process, and its space made of them. Private to live*.c. */
#ifndef XC_LIVE_MAPS_H
#define XC_LIVE_MAPS_H

#include "core/live/live_memory.h"
#include "core/process/process.h"

struct xc_live_maps {
	int fd;     /* of /proc/PID/maps; borrowed */
	char *last; /* its text when last read; malloc'ed, owned */
	size_t last_len;
};

/* Read the mappings: fill process->mappings, its space and the regions of memory, the first time also process->files,
 * and then a program that is just being executed is waited for, some 20 ms.
 * Nothing changes when the text is the same or cannot be read. No other thread may read meanwhile. Returns 0 or an
 * errno: ESRCH when the address space is gone. */
int xc_live_maps_read(struct xc_live_maps *maps, struct xc_process *process, struct xc_live_memory *memory);

#endif
