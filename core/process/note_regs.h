/* note_regs: reads the registers of one thread from NT_PRSTATUS and the notes that follow it, by machine. */
#ifndef XC_NOTE_REGS_H
#define XC_NOTE_REGS_H

#include "core/elf/note.h"
#include "core/process/process.h"

/* General registers from NT_PRSTATUS. */
void xc_note_regs_general(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread);

/* The system call that the thread was blocked in, if any, with its arguments. Call it after xc_note_regs_general. */
void xc_note_regs_call(const struct xc_arch *arch, const struct xc_note *note, struct xc_thread *thread);

/* Vector and floating-point registers, thread pointers and masks from the notes after NT_PRSTATUS. Ignores other and
 * damaged notes. Results live in the arena. */
void xc_note_regs_more(struct xc_process *process, const struct xc_note *note, struct xc_thread *thread);

#endif
