/* cause_fault: rules of SIGSEGV and SIGBUS: memory that an instruction cannot access. */
#ifndef XC_CAUSE_FAULT_H
#define XC_CAUSE_FAULT_H

#include "triage/crash/crash_context.h"

/* The processor's own checks of pointers and return addresses: class hardware-guard. */
bool xc_cause_fault_guard(struct xc_crash_context *crash);

/* A general protection fault, for which the kernel gives no address: always a class. False for other faults. */
bool xc_cause_fault_protection(struct xc_crash_context *crash);

/* An address in the first 64 KiB: null-read, null-write, null-access. */
bool xc_cause_fault_null(struct xc_crash_context *crash);

/* An address in the first 64 KiB by a pointer that turned out to be a number (crash->number): wild-read, wild-write,
 * wild-access. Changes nothing else. */
void xc_cause_fault_number(struct xc_crash_context *crash);

/* A mapped page without the right for this access: write-rodata, protected-access. */
bool xc_cause_fault_rights(struct xc_crash_context *crash);

/* Any other address: wild-read, wild-write, wild-access; memory-access when the address is not known. Never false. */
bool xc_cause_fault_wild(struct xc_crash_context *crash);

/* SIGBUS: misaligned, bad-hardware, file-truncated, bus-error. Never false. */
bool xc_cause_fault_bus(struct xc_crash_context *crash);

#endif
