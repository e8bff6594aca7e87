/* broker_client: a worker's access to files. It asks its broker (broker.h) for each file and waits for the answer. */
#ifndef XC_BROKER_CLIENT_H
#define XC_BROKER_CLIENT_H

/* From now on, files are opened through this socket (opener.h). */
void xc_broker_client_begin(int socket);

/* The descriptor of the worker's core; -1 with errno set. */
int xc_broker_client_core(void);

#endif
