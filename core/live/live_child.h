/* live_child: the processes that threads wait for. Private to live*.c. */
#ifndef XC_LIVE_CHILD_H
#define XC_LIVE_CHILD_H

#include "core/process/process.h"

/* Set `child` of threads that wait in wait4 or waitid for one process, by its id: from /proc, where its parent is this
 * process as seen from here. At most 16. Call it before the sandbox closes access to other processes. */
void xc_live_child_find(struct xc_process *process, int proc_dir);

#endif
