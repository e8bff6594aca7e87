/* layer: core
 *
 * Names that a program has written of its code: byte 0 chooses a jitdump or a perf map, the rest is the file. */
#include <stdlib.h>
#include <string.h>

#include "core/perf/jitdump.h"
#include "core/perf/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

/* Functions at addresses that the file itself has. */
static void look(struct xc_code_names *names, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at + 8 <= len; at += 8) {
		xc_addr addr;
		memcpy(&addr, bytes + at, sizeof addr);
		const struct xc_code_name *found = xc_code_names_find(names, addr);
		if (found && (addr < found->lo || addr > found->hi))
			abort();
		const struct xc_code_line *line = found ? xc_code_name_line(found, addr) : NULL;
		if (line && line->at > addr)
			abort();
		sink += (found ? strlen(found->name) : 0) + (line ? strlen(line->file) : 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct xc_code_names *names = xc_code_names_new();
	uint8_t *copy = malloc(size); /* of its size: what is read beyond it is seen */
	memcpy(copy, data, size);
	if (data[0] & 1)
		(void)xc_jitdump_read(names, copy + 1, size - 1);
	else
		xc_perf_map_read(names, (const char *)copy + 1, size - 1);
	look(names, copy + 1, size - 1);
	xc_code_names_free(names);
	free(copy);
	return 0;
}
