/* layer: dwarf
 *
 * The table of Go's functions: the input is the section. */
#include <stdlib.h>
#include <string.h>

#include "dwarf/elf/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUNCTIONS = 1000 };

/* Results are in the table and have an end. */
static void check(const uint8_t *bytes, size_t size, const struct xc_gofunction *f)
{
	const uint8_t *name = (const uint8_t *)f->name;
	if (name < bytes || name >= bytes + size || !memchr(name, '\0', (size_t)(bytes + size - name)) || !*name ||
	    !f->size || f->size > UINT64_MAX - f->addr)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + !size); /* a separate allocation: ASan detects a read past it */
	struct xc_gopclntab table;
	struct xc_gofunction f;
	if (!bytes)
		abort();
	memcpy(bytes, data, size);
	for (uint64_t i = 0; xc_gopclntab_open(bytes, size, &table) && i < table.count && i < FUNCTIONS; i++)
		if (xc_gopclntab_function(&table, i, &f))
			check(bytes, size, &f);
	free(bytes);
	return 0;
}
