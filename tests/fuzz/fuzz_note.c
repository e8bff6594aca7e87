/* layer: core
 *
 * Notes of any machine: byte 0 selects the machine and byte 1 the padding; the rest is one PT_NOTE. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/notes.h"
#include "core/process/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	uint16_t machine;
	uint8_t elf_class;
	bool big_endian;
} kinds[] = {{EM_X86_64, ELFCLASS64, false},  {EM_X86_64, ELFCLASS32, false}, {EM_386, ELFCLASS32, false},
	     {EM_AARCH64, ELFCLASS64, false}, {EM_S390, ELFCLASS64, true},    {EM_PPC, ELFCLASS32, true},
	     {4711, ELFCLASS64, false}};

static void put(uint8_t *at, uint64_t value, size_t size, bool big_endian)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
}

/* An ELF header, one program header, the notes. */
static uint8_t *make_file(const uint8_t *notes, size_t size, uint8_t elf_class, bool big_endian, uint64_t align,
			  size_t *total)
{
	bool wide = elf_class == ELFCLASS64;
	size_t ehdr = wide ? 64 : 52, phdr = wide ? 56 : 32, word = wide ? 8 : 4;
	*total = ehdr + phdr + size;
	uint8_t *file = calloc(1, *total);
	if (!file)
		abort();
	uint8_t *p = file + ehdr;
	memcpy(file, ELFMAG, SELFMAG);
	file[EI_CLASS] = elf_class;
	file[EI_DATA] = big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	put(file + 16, ET_CORE, 2, big_endian);
	put(file + (wide ? 32 : 28), ehdr, word, big_endian);
	put(file + (wide ? 54 : 42), phdr, 2, big_endian);
	put(file + (wide ? 56 : 44), 1, 2, big_endian);
	put(p, PT_NOTE, 4, big_endian);
	put(p + (wide ? 8 : 4), ehdr + phdr, word, big_endian);
	put(p + (wide ? 32 : 16), size, word, big_endian);
	put(p + (wide ? 48 : 28), align, word, big_endian);
	if (size)
		memcpy(file + ehdr + phdr, notes, size);
	return file;
}

static void look(const struct xc_process *p)
{
	size_t count;
	const struct xc_note_file *rows = xc_notes_files(p, &count);
	for (size_t i = 0; i < count; i++)
		if (rows[i].lo > rows[i].hi || (i && rows[i - 1].lo > rows[i].lo) || strlen(rows[i].path) > (1 << 30))
			abort();
	for (size_t i = 0; i < p->thread_count; i++)
		if (!p->threads[i].has_regs && !p->threads[i].why_no_regs)
			abort();
	if (p->comm && strlen(p->comm) + strlen(p->args) > 96)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	size_t kind = data[0] % XC_COUNT(kinds), total;
	uint64_t align = data[1] & 1 ? 8 : 4;
	uint8_t *file = make_file(data + 2, size - 2, kinds[kind].elf_class, kinds[kind].big_endian, align, &total);
	struct xc_elf elf;
	struct xc_process *p = xc_process_new("fuzz", false);
	if (xc_elf_parse(file, total, &elf))
		abort();
	p->arch = xc_arch_find(kinds[kind].machine, kinds[kind].elf_class, kinds[kind].big_endian);
	xc_notes_read(p, &elf);
	xc_elf_build_id(&elf);
	xc_package_in_notes(data + 2, size - 2, align, kinds[kind].big_endian, &p->arena);
	free(file); /* nothing may point into it any longer */
	look(p);
	xc_process_close(p);
	return 0;
}
