/* corefilter: one bit per kind of mapping. Code and constants of files (bit 2) are not missed, because they are read
 * from the files. */
#include "batch/doctor/corefilter.h"

#include <inttypes.h>

static const struct {
	const char *has, *lacks; /* lacks: what analysis cannot report without it; NULL: nothing */
} parts[XC_COREFILTER_BITS] = {
	{"private memory", "stacks, heap and variables: nearly everything"},
	{"shared memory", "what processes share without a file (shared mappings, System V)"},
	{"private files", NULL},
	{"shared files", NULL},
	{"ELF headers", "build-ids: whether a file on disk is the one that ran cannot be checked"},
	{"private huge pages", "memory in private huge pages (hugetlbfs)"},
	{"shared huge pages", NULL},
	{"private DAX", NULL},
	{"shared DAX", NULL},
};

void xc_corefilter_words(uint64_t filter, struct xc_text *out)
{
	const char *before = ": ";
	xc_text_printf(out, "0x%" PRIx64, filter);
	for (size_t i = 0; i < XC_COUNT(parts); i++) {
		if (!(filter >> i & 1))
			continue;
		xc_text_printf(out, "%s%s", before, parts[i].has);
		before = ", ";
	}
}

size_t xc_corefilter_lacks(uint64_t filter, const char *lacks[XC_COREFILTER_BITS])
{
	size_t count = 0;
	for (size_t i = 0; i < XC_COUNT(parts); i++)
		if (parts[i].lacks && !(filter >> i & 1))
			lacks[count++] = parts[i].lacks;
	return count;
}
