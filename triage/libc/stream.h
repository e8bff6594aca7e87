/* stream: the open streams (FILE) of glibc. It keeps all that have a file in a list, from _IO_list_all on, by their
 * member _chain; fclose() takes one out and frees it. The layout is that of glibc 2.2 to 2.41
 * (libio/bits/types/struct_FILE.h, libioP.h) on x86-64. */
#ifndef XC_STREAM_H
#define XC_STREAM_H

#include "core/process/process.h"

enum { XC_STREAM_VTABLE = 0xd8, XC_STREAMS = 65536 };

/* *at_out: the first stream, 0: there is none. False where that is not known: another machine or C library. */
bool xc_stream_first(const struct xc_process *process, xc_addr *at_out);

/* From one stream to the next, 0 at the end. False when memory is missing. A damaged list may be a ring: count to
 * XC_STREAMS. */
bool xc_stream_next(const struct xc_process *process, xc_addr *at);

struct xc_stream_pending {
	int fd;
	xc_addr at;
	uint64_t size; /* bytes that the program has written to it, and it has not written to its file */
};

/* False when it holds no such bytes, or is none. */
bool xc_stream_pending(const struct xc_process *process, xc_addr stream, struct xc_stream_pending *out);

#endif
