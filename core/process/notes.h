/* notes: reads the notes of a core file, which hold everything except memory.
 *
 * Layouts: Linux fs/binfmt_elf.c (fill_note_info, fill_files_note), include/linux/elfcore.h,
 * include/uapi/linux/elf.h; siginfo: include/uapi/asm-generic/siginfo.h (checked against 6.1). */
#ifndef XC_NOTES_H
#define XC_NOTES_H

#include "core/process/process.h"

/* Read all notes of the core into process: threads, signal, auxv, names and the file table (xc_note_file entries).
 * Damage becomes remarks; facts that precede it are kept. */
void xc_notes_read(struct xc_process *process, const struct xc_elf *elf);

/* One row of NT_FILE. */
struct xc_note_file {
	xc_addr lo, hi;  /* inclusive */
	uint64_t offset; /* bytes in the file */
	const char *path;
	bool deleted; /* the kernel wrote " (deleted)" after the path */
};

/* The rows of NT_FILE found by xc_notes_read, in address order; owned by the process's arena. */
const struct xc_note_file *xc_notes_files(const struct xc_process *process, size_t *count_out);

#endif
