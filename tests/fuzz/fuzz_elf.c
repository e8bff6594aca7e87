/* layer: core
 *
 * An ELF object in three roles: as a file, as the content of a process's memory (its executable, its vDSO, its loader's
 * list), and as a file that is compared with that memory. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/identity_check.h"
#include "core/process/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASE = 0x400000, LIBRARY = 0x800000 };

static void set_auxv(struct xc_process *p, unsigned type, uint64_t value)
{
	p->auxv[type] = value;
	p->auxv_known |= UINT64_C(1) << type;
}

static void lay(struct xc_process *p, xc_addr lo, const uint8_t *data, size_t size)
{
	struct xc_segment s = {.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = data};
	xc_space_add(p->space, &s);
}

static void check_identity(struct xc_process *p, const uint8_t *data, size_t size)
{
	struct xc_source *file = xc_source_over(data, size, "fuzz");
	struct xc_identity_candidate candidate = {.file = file, .path = "fuzz"};
	for (size_t i = 0; i < p->module_count && i < 8; i++) {
		struct xc_identity_check check = xc_identity_check(p, p->modules[i], &candidate);
		if (check.identity != XC_VERIFIED && !check.why)
			abort();
	}
	xc_source_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xc_elf elf;
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct xc_error *err = xc_elf_parse(data, size, &elf);
	if (err) {
		xc_error_free(err);
		return 0;
	}
	for (uint32_t i = 0; i < elf.phdrs_readable; i++)
		xc_elf_phdr(&elf, i);
	struct xc_build_id id = xc_elf_build_id(&elf);
	if (strlen(xc_build_id_hex(&id, hex)) != 2 * (size_t)id.size)
		abort();
	struct xc_process *p = xc_process_new("fuzz", false);
	p->arch = xc_arch_find(elf.machine, elf.elf_class, elf.big_endian);
	xc_space_set_big_endian(p->space, elf.big_endian);
	lay(p, BASE, data, size);
	lay(p, LIBRARY, data, size);
	xc_space_seal(p->space);
	p->mappings = xc_alloc(2 * sizeof *p->mappings);
	p->mapping_count = 2;
	p->mappings[0] = (struct xc_mapping){
		.lo = BASE, .hi = BASE + size - 1, .readable = true, .executable = true, .path = "/exe"};
	p->mappings[1] = p->mappings[0];
	p->mappings[1].lo = LIBRARY;
	p->mappings[1].hi = LIBRARY + size - 1;
	p->mappings[1].path = "/lib";
	set_auxv(p, AT_PHDR, BASE + elf.phoff);
	set_auxv(p, AT_PHNUM, elf.phnum);
	set_auxv(p, AT_SYSINFO_EHDR, BASE);
	xc_modules_find(p);
	check_identity(p, data, size);
	for (size_t i = 0; i < p->module_count; i++)
		if (p->modules[i]->lo > p->modules[i]->hi)
			abort();
	xc_process_close(p);
	return 0;
}
