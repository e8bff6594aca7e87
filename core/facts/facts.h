/* facts: sections that say what a process consists of: target, threads, registers, maps, memory.
 *
 * Nothing here needs debug information. */
#ifndef XC_FACTS_H
#define XC_FACTS_H

#include "core/process/process.h"
#include "core/report/report.h"

/* Fill report->target, with the target's remarks as messages, and the file's own facts (name, size, time) into the
 * headline and report->run. A core that was cut short makes the report incomplete. */
void xc_facts_target(struct xc_report *report, const struct xc_process *process);

/* A section "info": ids, signal, auxiliary vector, how modules were named, what of the memory is there. */
void xc_facts_info(struct xc_report *report, const struct xc_process *process);

/* A section "threads": one row each, crashed first. */
/* Names the function at a code address, or NULL; the layer above knows. */
typedef const char *xc_facts_namer(const struct xc_process *process, xc_addr pc);
void xc_facts_threads(struct xc_report *report, const struct xc_process *process, xc_facts_namer *function_at);

/* A section "maps": one row per mapping. */
void xc_facts_maps(struct xc_report *report, const struct xc_process *process);

/* Registers of one thread, with what each value points to (module+offset, mapping) where that is known. */
void xc_facts_regs(struct xc_report *report, const struct xc_process *process, const struct xc_thread *thread);

/* A hex and ASCII dump of len bytes at addr (at most 1 MiB of them); missing bytes are shown as `--` with the reason in a
 * table. The bytes are secret: redaction leaves them out. */
void xc_facts_memory(struct xc_report *report, const struct xc_process *process, xc_addr addr, uint64_t len);

/* What identifies a core whatever its file's name, time or compression: the first 16 bytes, in hex, of a SHA-256 over its
 * ELF header, program headers and the first 256 KiB of its notes (which hold pid, registers and the
 * auxiliary vector). Costs the same for any size of core. False for a live process or an unreadable header. */
enum { XC_CORE_ID_SIZE = 33 };
bool xc_facts_core_id(const struct xc_process *process, char id[XC_CORE_ID_SIZE]);

/* A thread's state letter as /proc has it, in words: "sleeping"; NULL for 0 and letters we do not know. */
const char *xc_thread_state_text(char state);

/* signal.c: "SIGSEGV", "SIG35" …; in words: "invalid memory reference"; a code's name: "SEGV_MAPERR", or NULL; and in
 * words: "address not mapped", "code 77". Static, or valid until the thread's next call. */
const char *xc_signal_name(int number);
const char *xc_signal_text(int number);
const char *xc_signal_code_name(int number, int code);
const char *xc_signal_code_text(int number, int code);

/* "libc.so.6+0x1f" (offset as an address in the module's file), "[stack]", "[heap]", a mapped path: where addr lies,
 * into buf, cut to size. Returns buf, or NULL when unmapped. O(log n). */
const char *xc_facts_place(const struct xc_process *process, xc_addr addr, char *buf, size_t size);

#endif
