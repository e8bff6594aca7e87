/* asking: a worker's way to files: it asks its broker (broker.h) for each and waits for the answer. */
#ifndef XC_ASKING_H
#define XC_ASKING_H

/* From here on, files are opened by asking on this socket (opener.h). */
void xc_asking_begin(int socket);

/* Its core's descriptor; -1 with errno set. */
int xc_asking_core(void);

#endif
