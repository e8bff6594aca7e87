/* corefile: ELF cores built by a test, valid or broken on purpose. */
#ifndef XC_TEST_COREFILE_H
#define XC_TEST_COREFILE_H

#include "core/elf/elf.h"
#include "core/elf/regs.h"
#include "core/base/text.h"

struct corefile_load {
	xc_addr lo;
	uint64_t memsz, filesz;
	uint32_t flags;    /* PF_… */
	const void *bytes; /* filesz of them; borrowed until the build */
};

/* Zeroed except for the machine. Set fields before the build. */
struct corefile {
	uint16_t type, machine;
	uint8_t elf_class;
	bool big_endian;
	uint64_t note_align; /* p_align of the PT_NOTE */
	bool extended;       /* PN_XNUM even for few segments */
	bool lose_sections;  /* PN_XNUM without the section header with the number */
	uint64_t page;       /* page size claimed by NT_FILE */
	uint64_t file_count; /* row count claimed by NT_FILE, if not 0 */
	struct xc_text notes, auxv, file_rows, file_names;
	size_t file_rows_count;
	struct corefile_load *loads;
	size_t load_count, load_capacity;
};

struct corefile corefile_new(void); /* x86-64 */
struct corefile corefile_new_for(uint16_t machine, uint8_t elf_class, bool big_endian);
void corefile_fini(struct corefile *c);

/* Append an integer in the file's byte order. Words have the size of its addresses. */
void corefile_put(const struct corefile *c, struct xc_text *out, uint64_t value, size_t size);
size_t corefile_word(const struct corefile *c);

/* A note with an arbitrary name, type and descriptor. */
void corefile_note(struct corefile *c, const char *name, uint32_t type, const void *desc, size_t len);

/* A note header with arbitrary values and no bytes after it. */
void corefile_note_header(struct corefile *c, uint32_t namesz, uint32_t descsz, uint32_t type);

/* NT_PRSTATUS with the registers that xcore knows for the machine: two of them, or all. */
void corefile_prstatus(struct corefile *c, int tid, int signal, uint64_t pc, uint64_t sp);
void corefile_prstatus_regs(struct corefile *c, int tid, int signal, const struct xc_regs *regs);
void corefile_prpsinfo(struct corefile *c, int pid, const char *comm, const char *args);
void corefile_siginfo(struct corefile *c, int number, int code, uint64_t addr);

/* One pair of NT_AUXV, one row of NT_FILE; the notes are written by the build, after all others. */
void corefile_auxv(struct corefile *c, uint64_t type, uint64_t value);
void corefile_file(struct corefile *c, xc_addr lo, xc_addr end, uint64_t pages, const char *path);

void corefile_load(struct corefile *c, xc_addr lo, uint64_t memsz, uint32_t flags, const void *bytes, uint64_t filesz);

/* Header, program headers (PT_NOTE first), notes, memory; with PN_XNUM a section header at the end. */
void corefile_build(struct corefile *c, struct xc_text *out);

/* An ELF object of four pages for mapping at `base`: page 0 headers and build-id (R), page 1 code (RX), page 2
 * constants (R), page 3 data (RW); byte i of pages 1 to 3 is objectfile_byte(i). Program headers: PT_LOAD × 4, PT_NOTE,
 * PT_DYNAMIC (in page 3). */
enum { OBJECT_PAGE = 4096, OBJECT_SIZE = 4 * OBJECT_PAGE, OBJECT_DYNAMIC = 3 * OBJECT_PAGE + 512 };
void objectfile_build(const char *build_id, uint8_t bytes[OBJECT_SIZE]); /* 20 bytes; NULL for none */
uint8_t objectfile_byte(size_t at);

#endif
