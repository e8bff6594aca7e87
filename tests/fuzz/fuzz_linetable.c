/* layer: dwarf
 *
 * A line number program: byte 0 selects the size of addresses; the rest is .debug_line, .debug_str and .debug_line_str
 * at the same time, so that string offsets are valid. */
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line/linetable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTIONS = 5, MAX_ROWS = 1 << 16, LOOKS = 70000 };

struct image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[64];
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void fill(struct image *im, size_t size)
{
	static const char names[] = "\0.debug_line\0.debug_str\0.debug_line_str\0.shstrtab";
	static const Elf64_Word offsets[SECTIONS] = {0, 1, 13, 24, 40};
	*im = (struct image){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct image, sections),
			   .e_ehsize = sizeof im->header,
			   .e_shentsize = sizeof im->sections[0],
			   .e_shnum = SECTIONS,
			   .e_shstrndx = SECTIONS - 1}};
	for (size_t i = 1; i < SECTIONS; i++)
		im->sections[i] = (Elf64_Shdr){.sh_name = offsets[i],
					       .sh_type = SHT_PROGBITS,
					       .sh_offset = sizeof *im,
					       .sh_size = size,
					       .sh_addralign = 1};
	im->sections[SECTIONS - 1].sh_type = SHT_STRTAB;
	im->sections[SECTIONS - 1].sh_offset = offsetof(struct image, names);
	im->sections[SECTIONS - 1].sh_size = sizeof im->names;
	memcpy(im->names, names, sizeof names);
}

static void check(struct xc_linetable *t)
{
	must(t->row_count <= MAX_ROWS);
	for (size_t i = 0; i < t->row_count; i++) {
		const char *path = xc_linetable_file(t, t->rows[i].file);
		must(!path || path == xc_linetable_file(t, t->rows[i].file));
	}
	for (uint64_t i = 0; i < LOOKS && i <= t->file_count; i++)
		xc_linetable_file(t, i);
	must(t->row_count == 0 || t->rows[t->row_count - 1].end); /* complete sequences only */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	uint8_t address_size = data[0] & 1 ? 8 : 4;
	size_t all = sizeof(struct image) + size - 1;
	struct image *im = malloc(all);
	struct xc_linetable table;
	must(im != NULL);
	fill(im, size - 1);
	memcpy(im + 1, data + 1, size - 1);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory((char *)im, all);
	xc_linetable_read(&table, elf, data[0] >> 1 & 7, data[0] & 16 ? "/compiled" : NULL, address_size);
	check(&table);
	xc_linetable_run(&table, MAX_ROWS);
	check(&table);
	xc_linetable_fini(&table);
	elf_end(elf);
	free(im);
	return 0;
}
