/* layer: core
 *
 * A whole core: opened, read throughout, and reported in every format. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/facts/facts.h"
#include "core/process/finder.h"
#include "core/render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_LOOKS = 2000 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Guarantees for every reader. */
static void check_space(const struct xc_process *p)
{
	size_t count = xc_space_count(p->space);
	for (size_t i = 0; i < count && i < MAX_LOOKS; i++) {
		const struct xc_segment *s = xc_space_at(p->space, i);
		uint8_t buf[64];
		must(s->lo <= s->hi && (i == 0 || xc_space_at(p->space, i - 1)->hi < s->lo));
		must(xc_space_find(p->space, s->lo) == s && xc_space_find(p->space, s->hi) == s);
		bool missing = s->provenance != XC_FROM_CORE && s->provenance != XC_FROM_FILE;
		must(missing == (xc_space_peek(p->space, s->hi, buf, 1) == 0));
		xc_space_peek(p->space, s->lo, buf, sizeof buf);
		xc_space_peek(p->space, s->hi - 31, buf, sizeof buf);
	}
}

static void check_lists(const struct xc_process *p)
{
	for (size_t i = 0; i < p->mapping_count && i < MAX_LOOKS; i++) {
		must(p->mappings[i].lo <= p->mappings[i].hi);
		must(i == 0 || p->mappings[i - 1].hi < p->mappings[i].lo);
		must(xc_process_mapping(p, p->mappings[i].lo) == &p->mappings[i]);
	}
	for (size_t i = 0; i < p->module_count && i < MAX_LOOKS; i++) {
		must(p->modules[i]->lo <= p->modules[i]->hi && p->modules[i]->path && p->modules[i]->name);
		must(p->modules[i]->identity == XC_VERIFIED || p->modules[i]->why);
		xc_process_module(p, p->modules[i]->hi);
	}
}

static void report(const struct xc_process *p)
{
	static FILE *out;
	struct xc_render_options options = {.stats = true};
	struct xc_report *r = xc_report_new("fuzz");
	if (!out)
		out = fopen("/dev/null", "w");
	xc_facts_target(r, p);
	xc_facts_info(r, p);
	xc_facts_threads(r, p, NULL);
	xc_facts_maps(r, p);
	for (size_t i = 0; i < p->thread_count && i < 3; i++)
		xc_facts_regs(r, p, &p->threads[i]);
	if (p->mapping_count)
		xc_facts_memory(r, p, p->mappings[0].lo, 256);
	xc_error_free(xc_render_json(r, &options, out));
	xc_error_free(xc_render_text(r, &options, out));
	xc_report_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct xc_finder finder = {.sysroot = "/proc/nonexistent"}; /* no file of this host */
	struct xc_open_options options = {.finder = &finder};
	struct xc_process *p = NULL;
	if (size < 5 || data[0] != 0x7f)
		return 0; /* fuzz_compressed covers compression */
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct xc_error *err = xc_process_open_core(path, &options, &p);
	must((err == NULL) == (p != NULL));
	if (p) {
		check_space(p);
		check_lists(p);
		report(p);
	}
	xc_error_free(err);
	xc_process_close(p);
	close(fd);
	return 0;
}
