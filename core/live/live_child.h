/* live_child: the processes that threads wait for. Private to live*.c. */
#ifndef XC_LIVE_CHILD_H
#define XC_LIVE_CHILD_H

#include "core/process/process.h"

/* Set `child` of threads that wait for one process, at most 16: in wait4 or waitid by its id, where its parent is this
 * process as seen from here; for the other end of a pipe, which a child or grandchild has and this process has not; for
 * the lock of a file, as /proc/locks has it. Call it before the sandbox closes access to other processes. */
void xc_live_child_find(struct xc_process *process, int proc_dir);

#endif
