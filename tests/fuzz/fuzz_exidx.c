/* layer: dwarf
 *
 * Unwinding tables of arm: the input is the number of entries of .ARM.exidx, then both tables, mapped at 0x400 of a
 * file. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/cfi/exidx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLE = 0x400, FILE_SIZE = 0x1000, EXIDX_SEGMENT = 0x70000001 };

static void make_file(const uint8_t *data, size_t size, uint8_t file[FILE_SIZE])
{
	Elf32_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_DYN,
			.e_machine = EM_ARM,
			.e_phoff = sizeof h,
			.e_phentsize = sizeof(Elf32_Phdr),
			.e_phnum = 2};
	Elf32_Phdr p[2] = {{.p_type = PT_LOAD, .p_filesz = FILE_SIZE, .p_memsz = FILE_SIZE, .p_flags = PF_R | PF_X},
			   {.p_type = EXIDX_SEGMENT, .p_offset = TABLE, .p_vaddr = TABLE}};
	p[1].p_filesz = p[1].p_memsz = size ? 8u * data[0] : 0;
	memset(file, 0, FILE_SIZE);
	memcpy(file, &h, sizeof h);
	memcpy(file + sizeof h, p, sizeof p);
	if (size > 1)
		memcpy(file + TABLE, data + 1, size - 1 < FILE_SIZE - TABLE ? size - 1 : FILE_SIZE - TABLE);
}

/* A row that was found names only existing registers. */
static void check(const struct xc_cfi_row *row, const struct xc_arch *arch)
{
	if (row->return_reg < 0 || row->return_reg >= row->rule_count || row->rule_count > arch->frame_regs ||
	    row->cfa_reg < 0 || row->cfa_reg >= 16)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *file = malloc(FILE_SIZE); /* a separate allocation: ASan detects a read past it */
	const struct xc_arch *arch = xc_arch_find(EM_ARM, ELFCLASS32, false);
	struct xc_cfi_row *row = malloc(sizeof *row + arch->frame_regs * sizeof row->rules[0]);
	struct xc_exidx exidx;
	if (!file || !row)
		abort();
	make_file(data, size, file);
	xc_exidx_open(&exidx, file, FILE_SIZE);
	for (uint64_t at = 0; at < FILE_SIZE; at += 16) {
		memset(row, 0, sizeof *row);
		if (xc_exidx_row(&exidx, arch, at, arch->frame_regs, row))
			check(row, arch);
	}
	free(row);
	free(file);
	return 0;
}
