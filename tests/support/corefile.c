/* corefile: layouts of System V gABI chapter 4 and Linux fs/binfmt_elf.c (6.1). */
#include "tests/support/corefile.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct corefile corefile_new_for(uint16_t machine, uint8_t elf_class, bool big_endian)
{
	return (struct corefile){.type = ET_CORE,
				 .machine = machine,
				 .elf_class = elf_class,
				 .big_endian = big_endian,
				 .note_align = 4,
				 .page = 4096};
}

struct corefile corefile_new(void)
{
	return corefile_new_for(EM_X86_64, ELFCLASS64, false);
}

void corefile_fini(struct corefile *c)
{
	xc_text_fini(&c->notes);
	xc_text_fini(&c->auxv);
	xc_text_fini(&c->file_rows);
	xc_text_fini(&c->file_names);
	free(c->loads);
	c->loads = NULL;
}

size_t corefile_word(const struct corefile *c)
{
	return c->elf_class == ELFCLASS64 ? 8 : 4;
}

void corefile_put(const struct corefile *c, struct xc_text *out, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		xc_text_char(out, (char)(value >> 8 * (c->big_endian ? size - 1 - i : i)));
}

/* ---- notes ---- */

void corefile_note_header(struct corefile *c, uint32_t namesz, uint32_t descsz, uint32_t type)
{
	corefile_put(c, &c->notes, namesz, 4);
	corefile_put(c, &c->notes, descsz, 4);
	corefile_put(c, &c->notes, type, 4);
}

void corefile_note(struct corefile *c, const char *name, uint32_t type, const void *desc, size_t len)
{
	corefile_note_header(c, (uint32_t)strlen(name) + 1, (uint32_t)len, type);
	xc_text_addn(&c->notes, name, strlen(name) + 1);
	for (size_t n = strlen(name) + 1; n % (c->note_align == 8 ? 8 : 4); n++)
		xc_text_char(&c->notes, 0);
	xc_text_addn(&c->notes, desc, len);
	for (size_t n = len; n % (c->note_align == 8 ? 8 : 4); n++)
		xc_text_char(&c->notes, 0);
}

static void overwrite(const struct corefile *c, char *bytes, size_t at, uint64_t value, size_t size)
{
	struct xc_text number = {0};
	corefile_put(c, &number, value, size);
	memcpy(bytes + at, number.bytes, size);
	xc_text_fini(&number);
}

void corefile_prstatus_regs(struct corefile *c, int tid, int signal, const struct xc_regs *regs)
{
	char desc[640] = {0};
	const struct xc_arch *arch = xc_arch_find(c->machine, c->elf_class, c->big_endian);
	bool wide = c->elf_class == ELFCLASS64;
	overwrite(c, desc, 12, (uint64_t)signal, 2);
	overwrite(c, desc, wide ? 32 : 24, (uint64_t)tid, 4);
	for (size_t i = 0; i < arch->slot_count; i++) {
		uint64_t value;
		if (xc_regs_get(regs, arch->slots[i].dwarf, &value))
			overwrite(c, desc, (wide ? 112u : 72u) + arch->slots[i].offset, value, arch->reg_size);
	}
	corefile_note(c, "CORE", NT_PRSTATUS, desc,
		      arch->prstatus_size ? arch->prstatus_size + (wide ? 8u : 4u) : 336u);
}

void corefile_prstatus(struct corefile *c, int tid, int signal, uint64_t pc, uint64_t sp)
{
	struct xc_regs regs = {.vector = NULL};
	const struct xc_arch *arch = xc_arch_find(c->machine, c->elf_class, c->big_endian);
	xc_regs_set(&regs, arch->pc, pc);
	xc_regs_set(&regs, arch->sp, sp);
	corefile_prstatus_regs(c, tid, signal, &regs);
}

void corefile_prpsinfo(struct corefile *c, int pid, const char *comm, const char *args)
{
	char desc[136] = {0};
	bool wide = c->elf_class == ELFCLASS64;
	overwrite(c, desc, wide ? 16 : 8, 1000, wide ? 4 : 2);
	overwrite(c, desc, wide ? 24 : 12, (uint64_t)pid, 4);
	overwrite(c, desc, wide ? 28 : 16, 1, 4);
	memcpy(desc + (wide ? 40 : 28), comm, strnlen(comm, 16)); /* as in the kernel: a full field has no NUL */
	memcpy(desc + (wide ? 56 : 44), args, strnlen(args, 80));
	corefile_note(c, "CORE", NT_PRPSINFO, desc, wide ? 136 : 124);
}

void corefile_siginfo(struct corefile *c, int number, int code, uint64_t addr)
{
	char desc[128] = {0};
	overwrite(c, desc, 0, (uint64_t)number, 4);
	overwrite(c, desc, 8, (uint64_t)code, 4);
	overwrite(c, desc, corefile_word(c) == 8 ? 16 : 12, addr, corefile_word(c));
	corefile_note(c, "CORE", NT_SIGINFO, desc, sizeof desc);
}

void corefile_auxv(struct corefile *c, uint64_t type, uint64_t value)
{
	corefile_put(c, &c->auxv, type, corefile_word(c));
	corefile_put(c, &c->auxv, value, corefile_word(c));
}

void corefile_file(struct corefile *c, xc_addr lo, xc_addr end, uint64_t pages, const char *path)
{
	corefile_put(c, &c->file_rows, lo, corefile_word(c));
	corefile_put(c, &c->file_rows, end, corefile_word(c));
	corefile_put(c, &c->file_rows, pages, corefile_word(c));
	xc_text_addn(&c->file_names, path, strlen(path) + 1);
	c->file_rows_count++;
}

static void add_collected_notes(struct corefile *c)
{
	struct xc_text files = {0};
	if (c->auxv.len) {
		corefile_auxv(c, AT_NULL, 0);
		corefile_note(c, "CORE", NT_AUXV, c->auxv.bytes, c->auxv.len);
	}
	if (c->file_rows_count || c->file_count) {
		corefile_put(c, &files, c->file_count ? c->file_count : c->file_rows_count, corefile_word(c));
		corefile_put(c, &files, c->page, corefile_word(c));
		xc_text_addn(&files, xc_text_string(&c->file_rows), c->file_rows.len);
		xc_text_addn(&files, xc_text_string(&c->file_names), c->file_names.len);
		corefile_note(c, "CORE", NT_FILE, files.bytes, files.len);
	}
	xc_text_fini(&files);
}

/* ---- the file ---- */

void corefile_load(struct corefile *c, xc_addr lo, uint64_t memsz, uint32_t flags, const void *bytes, uint64_t filesz)
{
	c->loads = xc_grow(c->loads, c->load_count, &c->load_capacity, sizeof *c->loads);
	c->loads[c->load_count++] = (struct corefile_load){lo, memsz, filesz, flags, bytes};
}

static void put_ehdr(const struct corefile *c, struct xc_text *out, size_t phnum, uint64_t shoff)
{
	char ident[16] = {0x7f, 'E', 'L', 'F', (char)c->elf_class, c->big_endian ? ELFDATA2MSB : ELFDATA2LSB, 1};
	size_t word = corefile_word(c);
	uint64_t ehdr = word == 8 ? 64 : 52;
	xc_text_addn(out, ident, sizeof ident);
	corefile_put(c, out, c->type, 2);
	corefile_put(c, out, c->machine, 2);
	corefile_put(c, out, 1, 4);
	corefile_put(c, out, 0, word);
	corefile_put(c, out, ehdr, word);
	corefile_put(c, out, shoff, word);
	corefile_put(c, out, 0, 4);
	corefile_put(c, out, ehdr, 2);
	corefile_put(c, out, word == 8 ? 56 : 32, 2);
	corefile_put(c, out, shoff ? PN_XNUM : phnum, 2);
	corefile_put(c, out, shoff ? (word == 8 ? 64 : 40) : 0, 2);
	corefile_put(c, out, shoff ? 1 : 0, 2);
	corefile_put(c, out, 0, 2);
}

static void put_phdr(const struct corefile *c, struct xc_text *out, const struct xc_phdr *p)
{
	size_t word = corefile_word(c);
	corefile_put(c, out, p->type, 4);
	if (word == 8)
		corefile_put(c, out, p->flags, 4);
	corefile_put(c, out, p->offset, word);
	corefile_put(c, out, p->vaddr, word);
	corefile_put(c, out, 0, word);
	corefile_put(c, out, p->filesz, word);
	corefile_put(c, out, p->memsz, word);
	if (word == 4)
		corefile_put(c, out, p->flags, 4);
	corefile_put(c, out, p->align, word);
}

static void put_section_zero(const struct corefile *c, struct xc_text *out, size_t phnum)
{
	size_t word = corefile_word(c);
	size_t before = word == 8 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
	for (size_t i = 0; i < before; i++)
		xc_text_char(out, 0);
	corefile_put(c, out, phnum, 4);
	for (size_t i = before + 4; i < (word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)); i++)
		xc_text_char(out, 0);
}

void corefile_build(struct corefile *c, struct xc_text *out)
{
	size_t phnum = c->load_count + 1, wide = corefile_word(c) == 8;
	add_collected_notes(c);
	uint64_t notes_at = (wide ? 64 : 52) + phnum * (wide ? 56 : 32), at = notes_at + c->notes.len;
	bool extended = c->extended || phnum >= PN_XNUM;
	uint64_t end = at;
	for (size_t i = 0; i < c->load_count; i++)
		end += c->loads[i].filesz;
	put_ehdr(c, out, phnum, extended ? end : 0);
	struct xc_phdr note = {.type = PT_NOTE, .offset = notes_at, .filesz = c->notes.len, .align = c->note_align};
	put_phdr(c, out, &note);
	for (size_t i = 0; i < c->load_count; i++) {
		const struct corefile_load *l = &c->loads[i];
		struct xc_phdr load = {.type = PT_LOAD,
				       .flags = l->flags,
				       .offset = at,
				       .vaddr = l->lo,
				       .filesz = l->filesz,
				       .memsz = l->memsz,
				       .align = 4096};
		put_phdr(c, out, &load);
		at += l->filesz;
	}
	xc_text_addn(out, xc_text_string(&c->notes), c->notes.len);
	for (size_t i = 0; i < c->load_count; i++)
		if (c->loads[i].filesz)
			xc_text_addn(out, c->loads[i].bytes, c->loads[i].filesz);
	if (extended && !c->lose_sections)
		put_section_zero(c, out, phnum);
}

/* ---- modules ---- */

uint8_t objectfile_byte(size_t at)
{
	return (uint8_t)(at * 31 + at / OBJECT_PAGE + 7);
}

void objectfile_build(const char *build_id, uint8_t bytes[OBJECT_SIZE])
{
	enum { NOTE_AT = 1024, NOTE_SIZE = 12 + 4 + 20 };
	static const uint32_t flags[4] = {PF_R, PF_R | PF_X, PF_R, PF_R | PF_W};
	struct corefile c = corefile_new();
	struct xc_text head = {0};
	for (size_t i = 0; i < OBJECT_SIZE; i++)
		bytes[i] = i < OBJECT_PAGE ? 0 : objectfile_byte(i);
	memset(bytes + OBJECT_DYNAMIC, 0, 64);
	c.type = ET_DYN;
	put_ehdr(&c, &head, build_id ? 6 : 5, 0);
	for (size_t i = 0; i < 4; i++) {
		struct xc_phdr load = {.type = PT_LOAD,
				       .flags = flags[i],
				       .offset = i * OBJECT_PAGE,
				       .vaddr = i * OBJECT_PAGE,
				       .filesz = OBJECT_PAGE,
				       .memsz = OBJECT_PAGE,
				       .align = OBJECT_PAGE};
		put_phdr(&c, &head, &load);
	}
	struct xc_phdr dynamic = {.type = PT_DYNAMIC,
				  .flags = PF_R | PF_W,
				  .offset = OBJECT_DYNAMIC,
				  .vaddr = OBJECT_DYNAMIC,
				  .filesz = 64,
				  .memsz = 64,
				  .align = 8};
	put_phdr(&c, &head, &dynamic);
	struct xc_phdr note = {.type = PT_NOTE,
			       .flags = PF_R,
			       .offset = NOTE_AT,
			       .vaddr = NOTE_AT,
			       .filesz = NOTE_SIZE,
			       .memsz = NOTE_SIZE,
			       .align = 4};
	if (build_id) {
		put_phdr(&c, &head, &note);
		corefile_note(&c, "GNU", NT_GNU_BUILD_ID, build_id, 20);
		memcpy(bytes + NOTE_AT, c.notes.bytes, NOTE_SIZE);
	}
	memcpy(bytes, head.bytes, head.len);
	xc_text_fini(&head);
	corefile_fini(&c);
}
