/* self: the fuzz target itself as a process: its own file with its debug information, so that names of all kinds and
 * types are reachable. Variables have the file's values. */
#ifndef XC_FUZZ_SELF_H
#define XC_FUZZ_SELF_H

#include <elf.h>
#include <link.h>
#include <stdlib.h>

#include "core/process/finder.h"
#include "core/process/module.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(xc_addr *)base = info->dlpi_addr;
	return 1; /* the first is the program */
}

/* With `more` memory, unless it is NULL. */
static struct xc_process *open_self(const struct xc_segment *more)
{
	struct xc_source *file;
	static const struct xc_finder finder = {.quiet = true};
	struct xc_process *p = xc_process_new("fuzz", false);
	struct xc_module *module = xc_module_add(p, "/fuzz/program", XC_MODULE_EXE);
	struct xc_elf elf;
	struct xc_error *err = xc_source_open("/proc/self/exe", NULL, &file);
	must(!err && !xc_elf_parse(file->bytes, file->size, &elf));
	p->arch = xc_arch_host();
	dl_iterate_phdr(find_base, &module->bias);
	module->bias_known = true;
	module->identity = XC_VERIFIED;
	module->file = file;
	module->file_path = file->path;
	module->lo = UINT64_MAX;
	for (uint32_t i = 0; i < elf.phdrs_readable; i++) {
		struct xc_phdr load = xc_elf_phdr(&elf, i);
		if (load.type != PT_LOAD || load.filesz == 0)
			continue;
		struct xc_segment s = {.lo = module->bias + load.vaddr,
				       .hi = module->bias + load.vaddr + load.filesz - 1,
				       .provenance = XC_FROM_CORE,
				       .bytes = file->bytes + load.offset};
		xc_space_add(p->space, &s);
		module->lo = s.lo < module->lo ? s.lo : module->lo;
		module->hi = s.hi > module->hi ? s.hi : module->hi;
	}
	if (more)
		xc_space_add(p->space, more);
	xc_space_seal(p->space);
	xc_process_index(p);
	xc_debugfiles_use(p, &finder);
	return p;
}

static void close_self(struct xc_process *p)
{
	xc_debuginfo_close(p);
	xc_debugfiles_close(p);
	xc_process_close(p);
}

#endif
