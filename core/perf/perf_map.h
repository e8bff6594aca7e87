/* perf_map: the file that many programs write which compile code while they run: /tmp/perf-PID.map, a line for each
 * function: "ADDRESS SIZE NAME", in hexadecimal (Linux tools/perf/Documentation/jit-interface.txt). */
#ifndef XC_PERF_MAP_H
#define XC_PERF_MAP_H

#include "core/perf/code_names.h"

/* Add its functions. Lines that are none are left out, and a last one without an end, which may not be whole. */
void xc_perf_map_read(struct xc_code_names *names, const char *text, size_t len);

#endif
