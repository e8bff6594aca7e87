/* facts: sections with the basic facts of a process: target, threads, registers, maps, memory. They need no debug
 * information. */
#ifndef XC_FACTS_H
#define XC_FACTS_H

#include "core/process/process.h"
#include "core/report/report.h"

/* Fill report->target, with the target's remarks as messages. Facts of the file (name, size, time) go into the headline
 * and report->run. A truncated core makes the report incomplete. */
void xc_facts_target(struct xc_report *report, const struct xc_process *process);

/* A section "info": ids, signal, auxiliary vector, the source of the module list, the available memory. */
void xc_facts_info(struct xc_report *report, const struct xc_process *process);

/* Names the function at a code address, or returns NULL. A higher layer supplies it. */
typedef const char *xc_facts_namer(const struct xc_process *process, xc_addr pc);
/* A section "threads": one row per thread, the crashed one first. */
void xc_facts_threads(struct xc_report *report, const struct xc_process *process, xc_facts_namer *function_at);

/* A section "maps": one row per mapping. */
void xc_facts_maps(struct xc_report *report, const struct xc_process *process);

/* Registers of one thread, with the target of each value (module+offset, mapping) where it is known. */
void xc_facts_regs(struct xc_report *report, const struct xc_process *process, const struct xc_thread *thread);

/* A hex and ASCII dump of len bytes at addr, at most 1 MiB. Missing bytes are shown as `--`, with the reason in a
 * table. The bytes are secret: redaction omits them. */
void xc_facts_memory(struct xc_report *report, const struct xc_process *process, xc_addr addr, uint64_t len);

/* An identifier of a core, independent of the name, time or compression of its file: the first 16 bytes, in hex, of a
 * SHA-256 over its ELF header, program headers and the first 256 KiB of its notes (which hold pid, registers and
 * auxiliary vector). The cost does not depend on the size of the core. False for a live process or an unreadable
 * header. */
enum { XC_CORE_ID_SIZE = 33 };
bool xc_facts_core_id(const struct xc_process *process, char id[XC_CORE_ID_SIZE]);

/* The name of a thread state letter of /proc: "sleeping"; NULL for 0 and unknown letters. */
const char *xc_thread_state_text(char state);

/* signal.c: "SIGSEGV", "SIG35" …; in words: "invalid memory reference"; a code's name: "SEGV_MAPERR", or NULL; and in
 * words: "address not mapped", "code 77". Static, or valid until the thread's next call. */
const char *xc_signal_name(int number);
const char *xc_signal_text(int number);
const char *xc_signal_code_name(int number, int code);
const char *xc_signal_code_text(int number, int code);

/* Write the place of addr to buf, cut to size: "libc.so.6+0x1f" (offset as an address in the module's file), "[stack]",
 * "[heap]", a mapped path. Returns buf, or NULL when unmapped. O(log n). */
const char *xc_facts_place(const struct xc_process *process, xc_addr addr, char *buf, size_t size);

#endif
