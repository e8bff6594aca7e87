/* note_regs: the registers of one thread, from its notes: NT_PRSTATUS and what follows it, by machine. */
#ifndef XC_NOTE_REGS_H
#define XC_NOTE_REGS_H

#include "core/elf/note.h"
#include "core/process/process.h"

/* General registers from NT_PRSTATUS. */
void xc_note_regs_general(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread);

/* The system call that the thread was blocked in, if it was, with its arguments; behind xc_note_regs_general. */
void xc_note_regs_call(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread);

/* Vectors, floating-point registers, thread pointers and masks from the notes behind it; notes that say nothing of these
 * are left alone, damaged ones too. Results live in the arena. */
void xc_note_regs_more(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread);

#endif
