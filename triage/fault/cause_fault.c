/* cause_fault: deaths by inaccessible memory. Wild jumps: cause_jump.c; arithmetic and traps: cause_trap.c.
 *
 * Severity ranks how exploitable a fault is, not how likely that is. */
#include "triage/fault/cause_fault.h"

#include <signal.h>
#include <string.h>

#include "core/facts/facts.h"
#include "triage/blocks/referrers.h"
#include "triage/dataflow/deref.h"
#include "triage/explain/taint.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"

enum {
	NULL_PAGES = 64 << 10,
	FIRST_PAGE = 4096,
	SEGV_PROTECTION_KEY =
		4, /* include/uapi/asm-generic/siginfo.h, Linux 6.1; older C libraries lack the last ones */
	SEGV_TAG_LATER = 8,
	SEGV_TAG = 9,
	SEGV_CONTROL = 10,
};

/* A block operation: a repeated instruction, or a function of the C library. */
static bool is_block(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"memcpy",  "memmove", "memset", "mempcpy", "strcpy",
					    "strncpy", "stpcpy",  "bcopy",  "bzero",   NULL};
	const struct xc_fault *f = &crash->fault;
	const char *through = crash->blame.through;
	if (f->operand_known && f->operand.count)
		return true;
	if (through && strncmp(through, "__", 2) == 0)
		through += 2; /* "__memmove_avx_unaligned_erms" */
	return xc_names_begin(names, through);
}

static void wild(struct xc_crash_context *crash, const char *cause)
{
	bool write = crash->fault.access == XC_ACCESS_WRITE, read = crash->fault.access == XC_ACCESS_READ;
	const char *how = NULL;
	bool tainted = write ? xc_taint_of_write(crash) : read && xc_taint_of_read(crash, &how);
	xc_crash_context_classify(crash,
				  write  ? "wild-write"
				  : read ? "wild-read"
					 : "wild-access",
				  tainted                    ? "tainted"
				  : write && is_block(crash) ? "block"
							     : NULL,
				  write && tainted   ? "critical"
				  : write || tainted ? "high"
						     : "medium",
				  write || read ? "certain" : "likely", cause);
	if (!write && !read)
		xc_verdict_evidence(crash->report,
				    "missing: whether the access was a read or a write: the instruction is not in the "
				    "core, or xcore does not decode instructions of this machine");
	if (how)
		xc_verdict_evidence(crash->report, "the value to be read %s shortly afterwards", how);
	else if (tainted)
		xc_verdict_evidence(crash->report, "the pointer had just been loaded through another pointer");
}

/* Does one of the two registers of the address point to mapped memory? Then the other one is bad. */
static bool has_good_part(const struct xc_crash_context *crash)
{
	const struct xc_memory_operand *o = &crash->fault.operand;
	const struct xc_regs *regs = &crash->fault.frame.regs;
	uint64_t base, index;
	return crash->fault.operand_known && o->base >= 0 && o->index >= 0 && xc_regs_get(regs, o->base, &base) &&
	       xc_regs_get(regs, o->index, &index) &&
	       (xc_process_mapping(crash->process, base) || xc_process_mapping(crash->process, index));
}

/* A general protection fault, or, through the stack or frame pointer, a stack-segment fault: the kernel gives no
 * address. */
bool xc_cause_fault_protection(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	if (!f->code_known || f->code != SI_KERNEL)
		return false;
	if (f->computed && f->misaligned)
		xc_crash_context_classify(crash, "misaligned", NULL, "low", "likely",
					  "the address was not aligned as the instruction requires");
	else if (f->computed && has_good_part(crash))
		wild(crash, "an index moved a valid pointer to a non-canonical address");
	else if (f->computed)
		wild(crash, "a damaged pointer was dereferenced: its value is not a canonical address");
	else if (f->decoded && f->instruction.halts)
		xc_crash_context_classify(
			crash, "trap-instruction", NULL, "low", "likely",
			"hlt was executed, which C libraries place where execution must not continue");
	else if (f->decoded && f->instruction.privileged)
		xc_crash_context_classify(crash, "bad-instruction", NULL, "high", "likely",
					  "a privileged instruction was executed");
	else
		xc_crash_context_classify(
			crash, "wild-access", NULL, "high", "likely",
			"the address was not canonical (a damaged pointer), or the instruction is privileged or "
			"misaligned");
	return true;
}

/* How certain it is that a pointer was NULL: a zero base register proves it; a small number may have other reasons, and
 * one that the code itself contains may be a constant of the source. */
static const char *sure_of_null(const struct xc_fault *f)
{
	uint64_t base;
	if (f->operand_known && f->operand.base < 0 && f->operand.index < 0 && f->addr)
		return "likely";
	if (!f->operand_known || f->operand.base < 0 || !xc_regs_get(&f->frame.regs, f->operand.base, &base))
		return f->addr < FIRST_PAGE ? "certain" : "likely";
	return !base ? "certain" : base < NULL_PAGES ? "likely" : "guess";
}

bool xc_cause_fault_null(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	if (!f->addr_known || f->addr >= NULL_PAGES)
		return false;
	bool write = f->access == XC_ACCESS_WRITE, read = f->access == XC_ACCESS_READ;
	const char *sure = sure_of_null(f);
	const char *cause = *sure == 'c'   ? "a null pointer was dereferenced"
			    : *sure == 'l' ? "a null pointer plus an offset was dereferenced"
					   : "an address near 0 was computed from a pointer that is not NULL";
	xc_crash_context_classify(crash,
				  write  ? "null-write"
				  : read ? "null-read"
					 : "null-access",
				  NULL, write ? "medium" : "low", *sure == 'c' && !write && !read ? "likely" : sure,
				  cause);
	return true;
}

/* The record that the number was read from: of a union the tag beside it. */
static void report_record(const struct xc_crash_context *crash)
{
	const struct xc_deref *bad = xc_derefs_bad(crash->derefs);
	const struct xc_type *type = bad && bad->led_known ? xc_same_type_pointed(bad->pointer_type) : NULL;
	if (bad && bad->value_known && bad->value && xc_same_type_is_record(type))
		xc_referrers_object(crash, type, bad->led, 2);
}

void xc_cause_fault_number(struct xc_crash_context *crash)
{
	static const char *const names[] = {"null-read", "null-write", "null-access", NULL};
	if (!crash->number || !xc_names_find(names, crash->verdict->class_name))
		return;
	wild(crash, crash->verdict->cause);
	report_record(crash);
	if (crash->broken || crash->number_likely)
		crash->verdict->confidence = "likely";
}

/* The processor's own checks of pointers and return addresses. */
bool xc_cause_fault_guard(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	switch (f->code_known ? f->code : 0) {
	case SEGV_PROTECTION_KEY:
		xc_crash_context_classify(crash, "hardware-guard", "protection key", "high", "certain",
					  "memory was accessed that a protection key forbids");
		return true;
	case SEGV_TAG:
	case SEGV_TAG_LATER:
		xc_crash_context_classify(crash, "hardware-guard", "memory tag", "high", "certain",
					  "the tag of a pointer does not match the memory: it points outside its "
					  "object, or the object was freed");
		return true;
	case SEGV_CONTROL:
		xc_crash_context_classify(
			crash, "hardware-guard", "control protection", "high", "certain",
			"a return address does not match the shadow stack, or an indirect branch had no landing pad");
		return true;
	default:
		return false;
	}
}

bool xc_cause_fault_rights(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(crash->process, f->addr) : NULL;
	if (!m || f->code != SEGV_ACCERR)
		return false;
	if (f->access == XC_ACCESS_WRITE && m->readable && !m->writable)
		xc_crash_context_classify(crash, "write-rodata", NULL, "medium", "certain",
					  "read-only memory was written");
	else
		xc_crash_context_classify(crash, "protected-access", NULL, "medium", "certain",
					  "the page is mapped, but not for this kind of access");
	return true;
}

bool xc_cause_fault_wild(struct xc_crash_context *crash)
{
	if (crash->fault.addr_known)
		wild(crash, "a pointer to unmapped memory was dereferenced");
	else
		xc_crash_context_classify(crash, "memory-access", NULL, "medium", "guess", NULL);
	return true;
}

/* A page of a mapped file that the kernel could not provide. Files that are memory need not have been truncated. */
static void classify_mapped_file(struct xc_crash_context *crash, const char *path)
{
	static const struct {
		const char *begins, *class_name, *kind, *cause;
	} in_memory[] = {
		{"/anon_hugepage", "bus-error", "huge page",
		 "the kernel had no huge page left for this mapping: where none was reserved (MAP_NORESERVE, or a copy "
		 "after fork()), mmap() succeeds all the same, and the first access to a page fails"},
		{"/memfd:", "file-truncated", NULL,
		 "a page past the end of a file in memory (memfd) was accessed: it was truncated, or was never given "
		 "that size by ftruncate(), or no memory was left for it"},
		{"/dev/shm/", "file-truncated", NULL,
		 "a page past the end of a file in memory was accessed: it was truncated, or was never given that size "
		 "by ftruncate(), or its file system is full"},
	};
	for (size_t i = 0; i < XC_COUNT(in_memory); i++)
		if (xc_begins_with(path, in_memory[i].begins)) {
			xc_crash_context_classify(crash, in_memory[i].class_name, in_memory[i].kind, "low", "likely",
						  in_memory[i].cause);
			return;
		}
	xc_crash_context_classify(crash, "file-truncated", NULL, "low", "likely",
				  "a page past the end of a mapped file was accessed: the file was truncated");
}

bool xc_cause_fault_bus(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	const struct xc_mapping *m = f->addr_known ? xc_process_mapping(crash->process, f->addr) : NULL;
	if (f->code == BUS_ADRALN)
		xc_crash_context_classify(crash, "misaligned", NULL, "low", "certain",
					  "an address was not aligned as the instruction requires");
	else if (f->code == BUS_MCEERR_AR || f->code == BUS_MCEERR_AO)
		xc_crash_context_classify(crash, "bad-hardware", NULL, "info", "certain",
					  "the hardware reported a memory error");
	else if (m && m->path)
		classify_mapped_file(crash, m->path);
	else
		xc_crash_context_classify(crash, "bus-error", NULL, "low", "likely",
					  "the kernel could not provide a page of a mapping");
	return true;
}
