/* snapshot: cores of processes that did not die.
 *
 * A debugger writes a core of a process that it has stopped; the signal in the notes is then how it stopped it. The
 * kernel writes one only for the signals whose default action that is (signal(7)). */
#ifndef XC_SNAPSHOT_H
#define XC_SNAPSHOT_H

#include "core/process/process.h"

/* Sets process->snapshot. No thread of a snapshot crashed. The address space must be complete. */
void xc_snapshot_settle(struct xc_process *process);

#endif
