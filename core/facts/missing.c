/* missing: adds up the segments of the space by provenance and describes the sums in sentences. */
#include "core/facts/missing.h"

#include <string.h>

#include "core/base/text.h"

/* Bytes and ranges of one provenance. */
struct sum {
	uint64_t bytes;
	size_t ranges;
};

static void add_up(const struct xc_process *process, struct sum sums[XC_UNMAPPED + 1])
{
	memset(sums, 0, (XC_UNMAPPED + 1) * sizeof *sums);
	for (size_t i = 0; i < xc_space_count(process->space); i++) {
		const struct xc_segment *segment = xc_space_at(process->space, i);
		uint64_t bytes = segment->hi - segment->lo + 1; /* 0 only when one segment is all of 2^64 */
		struct sum *sum = &sums[segment->provenance];
		sum->bytes += bytes;
		sum->ranges++;
	}
}

static size_t count_cut(const struct xc_process *process)
{
	size_t count = 0;
	for (size_t i = 0; i < process->mapping_count; i++)
		count += process->mappings[i].cut;
	return count;
}

static size_t count_unverified(const struct xc_process *process)
{
	size_t count = 0;
	for (size_t i = 0; i < process->module_count; i++)
		count += process->modules[i]->identity == XC_UNVERIFIED;
	return count;
}

static void size_message(struct xc_section *s, enum xc_severity severity, const char *hint, uint64_t bytes,
			 const char *what)
{
	struct xc_text size = {0};
	xc_text_size(&size, bytes);
	xc_section_message(s, severity, hint, "%s %s", xc_text_string(&size), what);
	xc_text_fini(&size);
}

static void say_cut(struct xc_section *s, const struct xc_process *process, const struct sum *cut)
{
	if (!cut->bytes && !process->missing_bytes)
		return;
	xc_auto(xc_freep) char *what =
		xc_asprintf("are missing at the end of the core file: %zu of %zu mappings are cut or gone",
			    count_cut(process), process->mapping_count);
	size_message(s, XC_PROBLEM,
		     "look for a full disk, a size limit (ulimit -c, coredump.conf) or a copy that stopped early",
		     process->missing_bytes ? process->missing_bytes : cut->bytes, what);
}

static void say_from_files(struct xc_section *s, const struct xc_process *process, const struct sum *sum)
{
	size_t unverified = count_unverified(process);
	if (!sum->bytes)
		return;
	xc_auto(xc_freep) char *what =
		unverified ? xc_asprintf("of code and constants were read from the modules' files; %zu of these could "
					 "not be verified",
					 unverified)
			   : xc_strdup("of code and constants were read from the modules' files (build-ids match)");
	size_message(s, unverified ? XC_WARNING : XC_INFO, NULL, sum->bytes, what);
}

void xc_missing_report(struct xc_report *report, const struct xc_process *process)
{
	struct sum sums[XC_UNMAPPED + 1];
	if (process->live)
		return; /* memory is read on demand: nothing is missing until then */
	add_up(process, sums);
	struct xc_section *s = xc_report_section(report, "missing", "Not in the core");
	say_cut(s, process, &sums[XC_CUT_SHORT]);
	say_from_files(s, process, &sums[XC_FROM_FILE]);
	if (sums[XC_NOT_DUMPED].bytes)
		size_message(s, XC_INFO, NULL, sums[XC_NOT_DUMPED].bytes,
			     "were mapped but not dumped (shared or file-backed, or left out by coredump_filter or "
			     "MADV_DONTDUMP)");
	if (!s->items)
		xc_section_message(s, XC_INFO, NULL, "nothing: all mapped memory is there");
}
