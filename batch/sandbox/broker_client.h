/* broker_client: a worker's way to files: it asks its broker (broker.h) for each and waits for the answer. */
#ifndef XC_BROKER_CLIENT_H
#define XC_BROKER_CLIENT_H

/* From here on, files are opened by asking on this socket (opener.h). */
void xc_broker_client_begin(int socket);

/* Its core's descriptor; -1 with errno set. */
int xc_broker_client_core(void);

#endif
