/* frame_info: a process with one module, an ELF file with the fuzzer's bytes as .eh_frame.
 *
 *   0x400000 headers   0x401000 code: a call in each five bytes   0x402000 .eh_frame   0x7ffd00000000 the stack
 *
 * where a small program linked by GNU ld -static has them, so that its .eh_frame serves as a seed. */
#ifndef XC_FUZZ_FRAME_INFO_H
#define XC_FUZZ_FRAME_INFO_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"

enum { BASE = 0x400000, CODE = 0x401000, FRAMES = 0x402000, MAX_FRAMES_SIZE = 0x8000, NAMES_SIZE = 32 };
#define STACK UINT64_C(0x7ffd00000000)

struct target {
	struct xc_process *process;
	uint8_t *file;
	size_t size;
};

static inline void put_sections(uint8_t *file, size_t frames)
{
	static const char names[NAMES_SIZE] = "\0.eh_frame\0.shstrtab\0.text";
	size_t at = FRAMES - BASE + frames;
	Elf64_Shdr sections[4] = {
		{.sh_type = SHT_NULL},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC,
		 .sh_addr = FRAMES,
		 .sh_offset = FRAMES - BASE,
		 .sh_size = frames,
		 .sh_addralign = 8},
		{.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = NAMES_SIZE, .sh_addralign = 1},
		{.sh_name = 21,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = CODE,
		 .sh_offset = CODE - BASE,
		 .sh_size = FRAMES - CODE,
		 .sh_addralign = 16},
	};
	memcpy(file + at, names, sizeof names);
	memcpy(file + at + NAMES_SIZE, sections, sizeof sections);
}

static inline void put_headers(uint8_t *file, size_t frames)
{
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_EXEC,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof header,
			     .e_shoff = FRAMES - BASE + frames + NAMES_SIZE,
			     .e_ehsize = sizeof header,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = 4,
			     .e_shstrndx = 2};
	Elf64_Phdr load = {.p_type = PT_LOAD,
			   .p_flags = PF_R | PF_X,
			   .p_vaddr = BASE,
			   .p_filesz = FRAMES - BASE + frames,
			   .p_memsz = FRAMES - BASE + frames,
			   .p_align = 0x1000};
	memcpy(file, &header, sizeof header);
	memcpy(file + sizeof header, &load, sizeof load);
	for (size_t i = CODE - BASE; i + 5 <= FRAMES - BASE; i += 5)
		file[i] = 0xe8;
}

static inline void lay(struct target *t, xc_addr lo, const void *bytes, size_t size, bool executable)
{
	struct xc_process *p = t->process;
	struct xc_segment s = {.lo = lo, .hi = lo + size - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(p->space, &s);
	p->mappings = xc_realloc(p->mappings, (p->mapping_count + 1) * sizeof *p->mappings);
	p->mappings[p->mapping_count++] = (struct xc_mapping){
		.lo = s.lo, .hi = s.hi, .readable = true, .executable = executable, .writable = !executable};
}

/* stack may be NULL with stack_size 0; the caller keeps both. */
static inline struct target make_target(const uint8_t *frames, size_t size, const uint8_t *stack, size_t stack_size)
{
	struct target t = {.process = xc_process_new("fuzz", false)};
	size = size < MAX_FRAMES_SIZE ? size : MAX_FRAMES_SIZE;
	t.size = FRAMES - BASE + size + NAMES_SIZE + 4 * sizeof(Elf64_Shdr);
	t.file = xc_alloc(t.size);
	if (size)
		memcpy(t.file + (FRAMES - BASE), frames, size);
	put_headers(t.file, size);
	put_sections(t.file, size);
	struct xc_module *m = xc_module_add(t.process, "/fuzz", XC_MODULE_EXE);
	m->lo = BASE;
	m->hi = BASE + t.size - 1;
	m->bias_known = true;
	m->identity = XC_VERIFIED;
	m->file = xc_source_over(t.file, t.size, "fuzz");
	xc_process_index(t.process);
	lay(&t, BASE, t.file, t.size, true);
	if (stack_size)
		lay(&t, STACK, stack, stack_size, false);
	xc_space_seal(t.process->space);
	return t;
}

static inline void end_target(struct target *t)
{
	xc_debuginfo_close(t->process);
	xc_debugfiles_close(t->process);
	xc_process_close(t->process);
	free(t->file);
}

#endif
