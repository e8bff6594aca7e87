/* notes: one function per note type, called by a loop that tolerates damage in any of them.
 *
 * Order in a kernel core: PRSTATUS, PRPSINFO, SIGINFO, AUXV, FILE, then FPREGSET and XSTATE of the thread
 * that died, then PRSTATUS and its register notes for each further thread. gdb's generate-core-file writes
 * a SIGINFO per thread; the first one is used. */
#include "core/process/notes.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hashtable.h"
#include "core/process/note_regs.h"

enum {
	MAX_THREADS = 1 << 14, /* 3 KiB of memory and some KiB of output each; kernels allow 32,768 by default */
	MAX_FILES = 1 << 22,
	MAX_NOTES = 256 << 20, /* bytes: more than MAX_THREADS threads with all their registers have */
	CURSIG_OFF = 12,       /* elf_prstatus.pr_cursig, every machine */
	PRPSINFO_ARGS = 79,    /* bytes of arguments, without the NUL */
	PRPSINFO_WIDE = 128,   /* of a 32-bit machine with user ids of 32 bits */
};

struct reader {
	struct xc_process *process;
	const struct xc_arch *arch;
	size_t thread_capacity;
	struct xc_hashtable tids; /* of the threads that were read */
	size_t repeated, left_out;
	uint64_t notes_left; /* bytes of notes that may still be read */
	bool thread_open;    /* register notes that follow belong to the last thread */
	bool siginfo_seen, psinfo_seen;
};

static uint64_t load(const struct reader *r, const struct xc_note *note, size_t at, size_t size)
{
	return at + size <= note->desc_len ? xc_load_uint(note->desc + at, size, r->arch->big_endian) : 0;
}

static struct xc_thread *add_thread(struct reader *r)
{
	struct xc_process *p = r->process;
	p->threads = xc_grow(p->threads, p->thread_count, &r->thread_capacity, sizeof *p->threads);
	struct xc_thread *thread = &p->threads[p->thread_count++];
	*thread = (struct xc_thread){.syscall = -1};
	return thread;
}

/* May a thread of this id be added? The kernel writes one note for each thread. Ids of 0 are not known (dumps of
 * whole machines). */
static bool admit(struct reader *r, pid_t tid)
{
	if (tid != 0 && xc_hashtable_find(&r->tids, (uint32_t)tid, 0)) {
		r->repeated++;
		return false;
	}
	if (r->process->thread_count >= MAX_THREADS) {
		r->left_out++;
		return false;
	}
	xc_hashtable_at(&r->tids, NULL, (uint32_t)tid, 0)->number = 1;
	return true;
}

static void read_prstatus(struct reader *r, const struct xc_note *note)
{
	struct xc_process *p = r->process;
	r->thread_open = false;
	if (!r->arch->prstatus_size || note->desc_len < (size_t)r->arch->prstatus_pid_off + 4) {
		xc_process_remark(p, "a thread's NT_PRSTATUS note of %zu bytes could not be read", note->desc_len);
		return;
	}
	pid_t tid = (pid_t)load(r, note, r->arch->prstatus_pid_off, 4);
	if (!admit(r, tid))
		return;
	bool first = p->thread_count == 0;
	struct xc_thread *thread = add_thread(r);
	r->thread_open = true;
	thread->tid = tid;
	thread->signal = (int)(int16_t)load(r, note, CURSIG_OFF, 2);
	thread->crashed = first;
	xc_note_regs_general(r->arch, note, thread);
	xc_note_regs_call(r->arch, note, thread);
	if (first && thread->signal > 0 && !p->signal.known) {
		p->signal.known = true;
		p->signal.number = thread->signal;
	}
}

static void read_prpsinfo(struct reader *r, const struct xc_note *note)
{
	struct xc_process *p = r->process;
	const struct xc_arch *arch = r->arch;
	/* 32-bit machines: user ids have 16 bits, or 32 if the note is longer by that much */
	size_t wider = arch->word == 4 && note->desc_len >= PRPSINFO_WIDE ? 4 : 0;
	if (r->psinfo_seen || !arch->prpsinfo_fname_off || note->desc_len < arch->prpsinfo_args_off + wider)
		return;
	r->psinfo_seen = true;
	p->comm = xc_arena_strndup(&p->arena, (const char *)note->desc + arch->prpsinfo_fname_off + wider, 16);
	size_t args_max = note->desc_len - arch->prpsinfo_args_off - wider;
	const char *args = (const char *)note->desc + arch->prpsinfo_args_off + wider;
	size_t args_len = strnlen(args, args_max < PRPSINFO_ARGS + 1 ? args_max : PRPSINFO_ARGS + 1);
	p->args_cut = args_len == PRPSINFO_ARGS;
	while (args_len &&
	       args[args_len - 1] == ' ') /* the kernel turns the NUL of each argument into a space, the last too */
		args_len--;
	p->args = xc_arena_strndup(&p->arena, args, args_len);
	p->pid = (pid_t)load(r, note, arch->prpsinfo_pid_off + wider, 4);
	p->ppid = (pid_t)load(r, note, arch->prpsinfo_pid_off + wider + 4, 4);
	p->uid = arch->word == 8 ? (uid_t)load(r, note, 16, 4) : (uid_t)load(r, note, 8, wider ? 4 : 2);
	p->ids_known = true;
}

static bool raises_with_address(int number, int code)
{
	bool fault = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP;
	return fault && code > 0 && code != SI_KERNEL;
}

/* siginfo_t: signo, errno, code; then a union at the next word boundary. */
static void read_siginfo(struct reader *r, const struct xc_note *note)
{
	struct xc_signal *s = &r->process->signal;
	size_t u = r->arch->word == 8 ? 16 : 12, word = r->arch->word;
	/* all signals have these fields; gdb's generate-core-file writes signal 0 when there was none */
	if (r->siginfo_seen || note->desc_len < u + 2 * word + 4 || load(r, note, 0, 4) == 0)
		return;
	r->siginfo_seen = true;
	s->known = s->has_info = true;
	s->number = (int)load(r, note, 0, 4);
	s->error_number = (int)load(r, note, 4, 4);
	s->code = (int)load(r, note, 8, 4);
	s->addr_known = raises_with_address(s->number, s->code);
	if (s->addr_known)
		s->addr = load(r, note, u, word);
	if (s->code <= 0) {
		s->sender_pid = (pid_t)load(r, note, u, 4);
		s->sender_uid = (uid_t)load(r, note, u + 4, 4);
	}
	if (s->number == SIGSYS)
		s->syscall_number = (int)load(r, note, u + word, 4);
	if (s->number == SIGSEGV && s->code == SEGV_PKUERR)
		s->lower = (unsigned)load(r, note, u + 2 * word, 4);
}

static void read_auxv(struct reader *r, const struct xc_note *note)
{
	size_t word = r->arch->word;
	for (size_t at = 0; at + 2 * word <= note->desc_len; at += 2 * word) {
		uint64_t type = load(r, note, at, word);
		if (type == AT_NULL)
			return;
		if (type < XC_COUNT(r->process->auxv)) {
			r->process->auxv[type] = load(r, note, at + word, word);
			r->process->auxv_known |= UINT64_C(1) << type;
		}
	}
}

static const char *strip_deleted(struct xc_process *p, const char *path, bool *deleted)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(path), cut = sizeof suffix - 1;
	*deleted = len > cut && !strcmp(path + len - cut, suffix);
	return xc_arena_strndup(&p->arena, path, *deleted ? len - cut : len);
}

static struct xc_error *read_file_rows(struct reader *r, struct xc_cursor *c, uint64_t count, uint64_t page)
{
	struct xc_process *p = r->process;
	size_t word = r->arch->word, size = (size_t)count * 3 * word;
	struct xc_cursor names = *c;
	struct xc_error *err = xc_cursor_skip(&names, size);
	if (err)
		return err;
	p->files = xc_arena_alloc(&p->arena, (size_t)count * sizeof *p->files);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t lo, end, offset;
		const char *path;
		if ((err = xc_cursor_uint(c, word, &lo)) || (err = xc_cursor_uint(c, word, &end)) ||
		    (err = xc_cursor_uint(c, word, &offset)) || (err = xc_cursor_string(&names, &path)))
			return err;
		if (offset > UINT64_MAX / page)
			return xc_error_new(XC_ERR_FORMAT, "NT_FILE: a mapping of \"%s\" past the end of any file",
					    path);
		struct xc_note_file *row = &p->files[p->file_count];
		*row = (struct xc_note_file){.lo = lo, .hi = end - 1, .offset = offset * page};
		row->path = strip_deleted(p, path, &row->deleted);
		if (lo < end)
			p->file_count++;
	}
	return NULL;
}

static int by_address(const void *a, const void *b)
{
	const struct xc_note_file *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* NT_FILE: count, page size, count × (start, end, offset in pages), then count names. */
static void read_files(struct reader *r, const struct xc_note *note)
{
	struct xc_process *p = r->process;
	if (p->files)
		return;
	struct xc_cursor c = xc_cursor(note->desc, note->desc_len, "NT_FILE");
	c.big_endian = r->arch->big_endian;
	uint64_t count = 0, page = 0;
	struct xc_error *err;
	if (!(err = xc_cursor_uint(&c, r->arch->word, &count)) && !(err = xc_cursor_uint(&c, r->arch->word, &page))) {
		if (count > MAX_FILES || count > note->desc_len / (3 * (size_t)r->arch->word))
			err = xc_error_new(XC_ERR_FORMAT, "NT_FILE: claims %" PRIu64 " rows", count);
		else if (page == 0)
			err = xc_error_new(XC_ERR_FORMAT, "NT_FILE: pages of 0 bytes");
		else
			err = read_file_rows(r, &c, count, page);
	}
	if (err)
		xc_process_remark(p, "damaged note: %s; %zu of its rows were read", err->message, p->file_count);
	xc_error_free(err);
	if (p->file_count)
		qsort(p->files, p->file_count, sizeof *p->files, by_address);
	p->files_known = p->file_count > 0;
}

static struct xc_thread *open_thread(const struct reader *r)
{
	return r->thread_open ? &r->process->threads[r->process->thread_count - 1] : NULL;
}

static bool named(const struct xc_note *note, const char *name)
{
	return note->name_len == strlen(name) && !memcmp(note->name, name, note->name_len);
}

static void read_note(struct reader *r, const struct xc_note *note)
{
	if (named(note, "GDB"))
		r->process->core_maker = "gdb";
	if (!named(note, "CORE") && !named(note, "LINUX"))
		return;
	switch (note->type) {
	case NT_PRSTATUS:
		read_prstatus(r, note);
		break;
	case NT_PRPSINFO:
		read_prpsinfo(r, note);
		break;
	case NT_SIGINFO:
		read_siginfo(r, note);
		break;
	case NT_AUXV:
		read_auxv(r, note);
		break;
	case NT_FILE:
		read_files(r, note);
		break;
	default: /* unknown notes are skipped */
		if (open_thread(r))
			xc_note_regs_more(r->process, note, open_thread(r));
		break;
	}
}

/* Read the notes of one segment, unless they exceed `budget` bytes. Returns their size in bytes. */
static uint64_t read_segment(struct reader *r, const struct xc_elf *elf, const struct xc_phdr *p, uint64_t budget)
{
	uint64_t left = p->offset < elf->size ? elf->size - p->offset : 0;
	uint64_t size = p->filesz < left ? p->filesz : left;
	if (size > budget) {
		xc_process_remark(r->process, "damaged program headers: notes overlap");
		return 0;
	}
	if (size < p->filesz)
		xc_process_remark(r->process,
				  "the core ends inside its notes (%" PRIu64 " of %" PRIu64 " bytes are there)", size,
				  p->filesz);
	if (size > r->notes_left) {
		xc_process_remark(r->process, "%" PRIu64 " more bytes of notes left out: at most %d are read",
				  size - r->notes_left, MAX_NOTES);
		size = r->notes_left;
	}
	r->notes_left -= size;
	struct xc_cursor c = xc_cursor(elf->bytes + (size ? p->offset : 0), (size_t)size, "core notes");
	c.big_endian = elf->big_endian;
	size_t align = p->align == 8 ? 8 : 4;
	while (xc_cursor_left(&c)) {
		struct xc_note note;
		struct xc_error *err = xc_note_next(&c, align, &note);
		if (err) {
			if (size == p->filesz)
				xc_process_remark(r->process, "damaged notes: %s", err->message);
			xc_error_free(err);
			break;
		}
		read_note(r, &note);
	}
	return size;
}

/* Names what was not kept. */
static void remark_threads(struct reader *r)
{
	if (r->repeated)
		xc_process_remark(r->process, "damaged notes: %zu repeat a thread; the first of each was read",
				  r->repeated);
	if (r->left_out)
		xc_process_remark(r->process, "%zu more threads left out: at most %d are read", r->left_out,
				  MAX_THREADS);
	xc_hashtable_fini(&r->tids);
}

/* A core has no names of threads, but the name of the process is that of the main thread. */
static void finish_threads(struct xc_process *p)
{
	for (size_t i = 0; i < p->thread_count; i++) {
		struct xc_thread *thread = &p->threads[i];
		thread->regs.vector = thread->vector;
		if (p->ids_known && thread->tid == p->pid)
			thread->name = p->comm;
	}
}

/* Overlapping segments of a hostile core cost no more than reading the file once. */
void xc_notes_read(struct xc_process *process, const struct xc_elf *elf)
{
	struct reader r = {.process = process, .arch = process->arch, .notes_left = MAX_NOTES};
	uint64_t budget = elf->size;
	for (uint32_t i = 0; i < elf->phdrs_readable; i++) {
		struct xc_phdr p = xc_elf_phdr(elf, i);
		if (p.type == PT_NOTE)
			budget -= read_segment(&r, elf, &p, budget);
	}
	remark_threads(&r);
	finish_threads(process);
}

const struct xc_note_file *xc_notes_files(const struct xc_process *process, size_t *count_out)
{
	*count_out = process->file_count;
	return process->files;
}
