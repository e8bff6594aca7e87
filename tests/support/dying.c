/* dying: a core by ptrace. Layouts of the notes: <sys/procfs.h>; NT_FILE: Linux fs/binfmt_elf.c, 6.1. */
#include "tests/support/dying.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/text.h"
#include "tests/support/check.h"
#include "tests/support/kept.h"
#include "tests/support/scratch.h"

enum { MAX_MAPS = 256, PAGE = 4096, AT_ONCE = 256 * PAGE, MAX_STOPS = 1000 };

struct map {
	uint64_t lo, end, offset, dumped;
	uint32_t flags;
	char path[256];
};

struct maps {
	struct map items[MAX_MAPS];
	size_t count;
};

const char *dying_program(const char *name, const char *compiler, const char *source)
{
	char command[2048];
	const char *path = scratch_path(name);
	snprintf(command, sizeof command, "%s -w", compiler);
	kept_program(path, command, source);
	return path;
}

/* ---- the child ---- */

static bool catches(pid_t pid, int signal)
{
	char path[64], line[256];
	unsigned long long mask = 0, part;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *status = fopen(path, "r");
	assert_non_null(status);
	while (fgets(line, sizeof line, status))
		if (sscanf(line, "SigCgt: %llx", &part) == 1 || sscanf(line, "SigIgn: %llx", &part) == 1)
			mask |= part;
	fclose(status);
	return mask >> (signal - 1) & 1;
}

static pid_t run_to_death(const char *program, const char *argument)
{
	int status, pass = 0;
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 1; i < 32; i++)
			signal(i, SIG_DFL); /* a shell's background job ignores SIGINT and SIGQUIT */
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, argument, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL);
	for (int i = 0; i < MAX_STOPS; i++) {
		assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, (void *)(long)pass), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			fail_msg("%s ended with status 0x%x instead of dying", program, (unsigned)status);
		if (!catches(pid, WSTOPSIG(status)))
			return pid;
		pass = WSTOPSIG(status);
	}
	fail_msg("%s does not die", program);
	return -1;
}

static void read_maps(pid_t pid, struct maps *maps)
{
	char path[64], line[512];
	unsigned long anonymous;
	snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file) && maps->count < MAX_MAPS) {
		struct map *m = &maps->items[maps->count];
		char rights[5];
		if (maps->count && sscanf(line, "Anonymous: %lu", &anonymous) == 1 && anonymous && m[-1].flags & PF_R)
			m[-1].dumped = m[-1].end - m[-1].lo; /* written at some time, for example by relocation */
		*m = (struct map){.lo = 0};
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255[^\n]", &m->lo, &m->end, rights,
			   &m->offset, m->path) < 4 ||
		    m->lo >> 63 || !strcmp(m->path, "[vvar]"))
			continue;
		m->flags = (rights[0] == 'r' ? PF_R : 0U) | (rights[1] == 'w' ? PF_W : 0U) |
			   (rights[2] == 'x' ? PF_X : 0U);
		bool whole = m->path[0] != '/' || rights[1] == 'w';
		m->dumped = !(m->flags & PF_R) ? 0 : whole ? m->end - m->lo : m->offset == 0 ? PAGE : 0;
		maps->count++;
	}
	fclose(file);
}

/* ---- the file ---- */

static void add_note(struct xc_text *out, uint32_t type, const void *bytes, size_t size)
{
	Elf64_Nhdr header = {.n_namesz = 5, .n_descsz = (uint32_t)size, .n_type = type};
	static const char padding[4];
	xc_text_addn(out, (const char *)&header, sizeof header);
	xc_text_addn(out, "CORE\0\0\0", 8);
	xc_text_addn(out, bytes, size);
	xc_text_addn(out, padding, (4 - size % 4) % 4);
}

static void add_word(struct xc_text *out, uint64_t word)
{
	xc_text_addn(out, (const char *)&word, sizeof word);
}

static void add_files(struct xc_text *out, const struct maps *maps)
{
	struct xc_text rows = {0}, names = {0}, all = {0};
	uint64_t count = 0;
	for (size_t i = 0; i < maps->count; i++) {
		const struct map *m = &maps->items[i];
		if (m->path[0] != '/')
			continue;
		count++;
		add_word(&rows, m->lo);
		add_word(&rows, m->end);
		add_word(&rows, m->offset / PAGE);
		xc_text_addn(&names, m->path, strlen(m->path) + 1);
	}
	add_word(&all, count);
	add_word(&all, PAGE);
	xc_text_addn(&all, rows.bytes, rows.len);
	xc_text_addn(&all, names.bytes, names.len);
	add_note(out, NT_FILE, all.bytes, all.len);
	xc_text_fini(&rows);
	xc_text_fini(&names);
	xc_text_fini(&all);
}

static void add_auxv(struct xc_text *out, pid_t pid)
{
	char path[64], bytes[4096];
	snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	add_note(out, NT_AUXV, bytes, fread(bytes, 1, sizeof bytes, file));
	fclose(file);
}

static void add_notes(struct xc_text *out, pid_t pid, const struct maps *maps)
{
	struct elf_prstatus status = {.pr_pid = pid, .pr_fpvalid = 0};
	struct user_regs_struct regs;
	siginfo_t info;
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	assert_int_equal(ptrace(PTRACE_GETSIGINFO, pid, NULL, &info), 0);
	status.pr_cursig = (short)info.si_signo;
	memcpy(&status.pr_reg, &regs, sizeof regs);
	struct elf_prpsinfo info_of_process = {.pr_pid = pid, .pr_fname = "program"};
	add_note(out, NT_PRSTATUS, &status, sizeof status);
	add_note(out, NT_PRPSINFO, &info_of_process, sizeof info_of_process);
	add_note(out, NT_SIGINFO, &info, sizeof info);
	add_auxv(out, pid);
	add_files(out, maps);
}

/* Marks the pages that were ever touched, from /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst: bit 63
 * present, 62 swapped); all pages if that is unknown. Most reserved allocator and stack memory was never touched, and
 * reading it would make the kernel allocate pages. */
static void read_touched(int pagemap, uint64_t addr, size_t count, bool *touched)
{
	static uint64_t entries[AT_ONCE / PAGE];
	const ssize_t got = pread(pagemap, entries, count * sizeof *entries, (off_t)(addr / PAGE * sizeof *entries));
	for (size_t i = 0; i < count; i++)
		touched[i] = got != (ssize_t)(count * sizeof *entries) || entries[i] >> 62;
}

/* Zero pages stay holes: they are most of the memory that an allocator reserves. */
static void write_page(FILE *core, const char *page)
{
	static const char nothing[PAGE];
	if (memcmp(page, nothing, PAGE) == 0)
		assert_int_equal(fseek(core, PAGE, SEEK_CUR), 0);
	else
		assert_int_equal(fwrite(page, 1, PAGE, core), PAGE);
}

/* Writes pages that were all touched. Unreadable bytes become zeroes. */
static void copy_pages(FILE *core, int memory, uint64_t addr, size_t count)
{
	static char some[AT_ONCE];
	for (size_t done = 0; done < count;) {
		ssize_t got = pread(memory, some, (count - done) * PAGE, (off_t)(addr + done * PAGE));
		if (got < PAGE) {
			memset(some, 0, PAGE);
			got = PAGE;
		}
		for (size_t i = 0; i < (size_t)got / PAGE; i++, done++)
			write_page(core, some + i * PAGE);
	}
}

static void copy_mapping(FILE *core, int memory, int pagemap, const struct map *m)
{
	static bool touched[AT_ONCE / PAGE];
	for (uint64_t at = 0; at < m->dumped; at += AT_ONCE) {
		size_t count = (size_t)(m->dumped - at < AT_ONCE ? m->dumped - at : AT_ONCE) / PAGE, end;
		memset(touched, true, sizeof touched);
		if (m->path[0] != '/')
			read_touched(pagemap, m->lo + at, count, touched);
		for (size_t i = 0; i < count; i = end) {
			for (end = i + 1; end < count && touched[end] == touched[i];)
				end++;
			if (touched[i])
				copy_pages(core, memory, m->lo + at + i * PAGE, end - i);
			else
				assert_int_equal(fseek(core, (long)((end - i) * PAGE), SEEK_CUR), 0);
		}
	}
}

static void copy_memory(FILE *core, pid_t pid, const struct maps *maps)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	int pagemap = open(path, O_RDONLY);
	for (size_t i = 0; i < maps->count; i++)
		copy_mapping(core, fd, pagemap, &maps->items[i]);
	close(fd);
	close(pagemap);
	fflush(core);
	assert_int_equal(ftruncate(fileno(core), ftell(core)), 0); /* the last page may be a hole */
}

static void write_core(FILE *core, pid_t pid, const struct maps *maps)
{
	struct xc_text notes = {0};
	add_notes(&notes, pid, maps);
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof header,
			     .e_ehsize = sizeof header,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = (uint16_t)(maps->count + 1)};
	uint64_t at = sizeof header + header.e_phnum * sizeof(Elf64_Phdr);
	Elf64_Phdr note = {.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len, .p_align = 4};
	fwrite(&header, sizeof header, 1, core);
	fwrite(&note, sizeof note, 1, core);
	at = (at + notes.len + PAGE - 1) / PAGE * PAGE;
	long memory = (long)at;
	for (size_t i = 0; i < maps->count; at += maps->items[i++].dumped) {
		const struct map *m = &maps->items[i];
		Elf64_Phdr load = {.p_type = PT_LOAD,
				   .p_flags = m->flags,
				   .p_offset = at,
				   .p_vaddr = m->lo,
				   .p_filesz = m->dumped,
				   .p_memsz = m->end - m->lo,
				   .p_align = PAGE};
		fwrite(&load, sizeof load, 1, core);
	}
	fwrite(notes.bytes, 1, notes.len, core);
	xc_text_fini(&notes);
	fseek(core, memory, SEEK_SET);
	copy_memory(core, pid, maps);
}

const char *dying_core(const char *program, const char *argument)
{
	static unsigned count;
	char name[32];
	struct maps *maps = xc_alloc(sizeof *maps);
	snprintf(name, sizeof name, "core.%u", ++count);
	const char *path = scratch_path(name);
	FILE *core = fopen(path, "w");
	assert_non_null(core);
	pid_t pid = run_to_death(program, argument);
	read_maps(pid, maps);
	write_core(core, pid, maps);
	assert_int_equal(fclose(core), 0);
	free(maps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return path;
}
