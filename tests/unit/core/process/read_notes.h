/* read_notes: a process from the notes of a core that a test builds. */
#ifndef XC_TEST_READ_NOTES_H
#define XC_TEST_READ_NOTES_H

#include <elf.h>
#include <signal.h>

#include "core/process/notes.h"
#include "tests/support/check.h"
#include "tests/support/corefile.h"
#include "tests/support/remarked.h"

/* Build c and read its notes from a file truncated to len bytes. */
static inline struct xc_process *read_cut(struct corefile *c, struct xc_text *file, size_t len)
{
	struct xc_elf elf;
	struct xc_process *p = xc_process_new("core", false);
	if (!file->bytes)
		corefile_build(c, file);
	CHECK_OK(xc_elf_parse(file->bytes, len < file->len ? len : file->len, &elf));
	p->arch = xc_arch_find(c->machine, c->elf_class, c->big_endian);
	xc_notes_read(p, &elf);
	return p;
}

static inline struct xc_process *read_all(struct corefile *c)
{
	struct xc_text file = {0};
	struct xc_process *p = read_cut(c, &file, SIZE_MAX);
	corefile_fini(c);
	xc_text_fini(&file); /* nothing of the process may point into the file */
	return p;
}

static inline void fill_kernel_core(struct corefile *c)
{
	char fxsave[512];
	for (size_t i = 0; i < sizeof fxsave; i++)
		fxsave[i] = (char)i;
	corefile_prstatus(c, 4242, SIGSEGV, 0x401234, 0x7ffc0000);
	corefile_prpsinfo(c, 4242, "crasher", "./crasher --now ");
	corefile_siginfo(c, SIGSEGV, SEGV_MAPERR, 0xdead0);
	corefile_auxv(c, AT_PAGESZ, 4096);
	corefile_auxv(c, AT_ENTRY, 0x401000);
	corefile_auxv(c, 1000, 1);
	corefile_file(c, 0x402000, 0x403000, 2, "/bin/crasher");
	corefile_file(c, 0x400000, 0x402000, 0, "/bin/crasher");
	corefile_file(c, 0x7f0000000000, 0x7f0000001000, 0, "/tmp/lib (deleted)");
	corefile_note(c, "CORE", NT_FPREGSET, fxsave, sizeof fxsave);
	corefile_note(c, "LINUX", NT_X86_XSTATE, fxsave, sizeof fxsave);
	corefile_prstatus(c, 4243, 0, 0x401500, 0x7ffd0000);
}

#endif
