/* perf_map: names of code that a program compiles while it runs, from the file that many such programs write for
 * profilers: /tmp/perf-PID.map, a line for each function: "ADDRESS SIZE NAME", in hexadecimal. */
#ifndef XC_PERF_MAP_H
#define XC_PERF_MAP_H

#include "core/process/process.h"

struct xc_perf_map;

/* Read that of a live process, in its root and by its number in its own name space. NULL: there is none, or it is not
 * the process's user's, nor root's. At most a million functions and 64 MiB of names are kept. */
struct xc_perf_map *xc_perf_map_open(const struct xc_process *process);

/* The same of a text, which is copied. */
struct xc_perf_map *xc_perf_map_read(const char *text, size_t len);
void xc_perf_map_free(struct xc_perf_map *map); /* NULL is fine */

/* The name of the function at an address, of several that were there that written last. NULL: none is known. The map
 * owns it. */
const char *xc_perf_map_find(const struct xc_perf_map *map, xc_addr addr);

#endif
