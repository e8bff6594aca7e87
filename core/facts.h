/* facts: sections that say what a process consists of: target, threads, registers, maps, modules. */
#ifndef XC_FACTS_H
#define XC_FACTS_H

#include "process.h"
#include "report.h"

void xc_facts_target(struct xc_report *report, const struct xc_process *process);  /* fills report->target */
void xc_facts_info(struct xc_report *report, const struct xc_process *process);    /* auxv, ids, notes, provenance */
void xc_facts_threads(struct xc_report *report, const struct xc_process *process);
void xc_facts_maps(struct xc_report *report, const struct xc_process *process);

/* Registers of one thread, with what each value points to (module+offset, mapping) where that is known. */
void xc_facts_regs(struct xc_report *report, const struct xc_process *process, const struct xc_thread *thread);

/* A hex and ASCII dump of len bytes at addr; missing bytes are shown as `--` with the reason below. */
void xc_facts_memory(struct xc_report *report, const struct xc_process *process, xc_addr addr, uint64_t len);

/* "SIGSEGV", "SIG35" …; and the code in words: "address not mapped". */
const char *xc_signal_name(int number);
const char *xc_signal_code_text(int number, int code);

/* "name+0x1f", "[stack]", "[heap]", a mapped path: where addr lies, into buf. Returns buf, or NULL when unmapped. */
const char *xc_facts_place(const struct xc_process *process, xc_addr addr, char *buf, size_t size);

#endif
