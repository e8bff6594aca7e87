/* layer: dwarf
 *
 * A symbol's name, as a C++ and as a Rust name. */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "dwarf/elf/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = xc_alloc(size + 3);
	for (const char *scheme = "ZR"; *scheme; scheme++) {
		name[0] = '_';
		name[1] = *scheme;
		memcpy(name + 2, data, size);
		free(xc_demangle(name, true));
	}
	free(name);
	return 0;
}
