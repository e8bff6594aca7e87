/* live_tls: thread pointers of a running process. Private to live*.c. */
#ifndef XC_LIVE_TLS_H
#define XC_LIVE_TLS_H

#include "core/process/process.h"

/* Set the thread pointer in the registers of every thread whose C library registers a robust list, also of running
 * threads, of which no other register is known. Call it after the space is sealed and before the sandbox closes access
 * to other processes. */
void xc_live_tls_find(struct xc_process *process);

#endif
