#include "core/perf/perf_map.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 1100 }; /* bytes of one that are looked at */

/* "7f30a0000 40 LazyCompile:~parse /app.js:7", with a NUL at its end. */
static void read_line(struct xc_code_names *names, const char *line)
{
	char *rest;
	const xc_addr lo = strtoull(line, &rest, 16);
	const uint64_t size = rest > line && *rest == ' ' ? strtoull(rest, &rest, 16) : 0;
	if (*rest == ' ' && rest[1])
		xc_code_names_add(names, lo, size, rest + 1, NULL, 0);
}

void xc_perf_map_read(struct xc_code_names *names, const char *text, size_t len)
{
	char line[LINE];
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		const size_t length = end ? (size_t)(end - text) - at : len - at;
		const size_t kept = length < sizeof line - 1 ? length : sizeof line - 1;
		memcpy(line, text + at, kept);
		line[kept] = '\0';
		if (end)
			read_line(names, line);
		at += length + 1;
	}
}
