/* live_tls: thread pointers of a running process. Private to live*.c. */
#ifndef XC_LIVE_TLS_H
#define XC_LIVE_TLS_H

#include "core/process/process.h"

/* Set the thread pointer in the registers of every thread whose C library can be asked for it; of running ones, too, of which
 * nothing else is known. After the space is sealed, before the calls and files of other processes are closed to us. */
void xc_live_tls_find(struct xc_process *process);

#endif
