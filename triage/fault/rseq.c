/* rseq: a thread's restartable sequences, part of its control block.
 *
 *	lower   … block written past its end → │ thread-local data │ control block: … struct rseq … │   higher
 *	                                                           ↑ thread pointer  ↑ + __rseq_offset (glibc 2.35)
 *
 *	struct rseq      include/uapi/linux/rseq.h, Linux 6.1: rseq_cs at 8, the address of a struct rseq_cs, or 0
 *	struct rseq_cs   version at 0, abort_ip at 24; the word before abort_ip is the signature, RSEQ_SIG on x86
 *
 * When the kernel has preempted a thread, it reads these before the thread goes on, and raises SIGSEGV without an
 * address when they are not valid. The instruction at which that happens has done nothing wrong. */
#include "triage/fault/rseq.h"

#include <inttypes.h>
#include <signal.h>

#include "dwarf/elf/symbol.h"
#include "heap/query/whatis.h"

enum { RSEQ_CS = 8, ABORT = 24, PAGE = 4096, FAR = 64 << 10 };
static const uint32_t X86_SIGNATURE = 0x53053053;

/* The struct rseq of the thread. */
static bool find_area(const struct xc_crash_context *crash, xc_addr *area_out)
{
	const struct xc_process *p = crash->process;
	const struct xc_arch *arch = p->arch;
	xc_addr variable;
	uint64_t tp, offset, size;
	if (arch->tls.tp < 0 || arch->word != 8 || !xc_regs_get(&crash->faulted->regs, arch->tls.tp, &tp) ||
	    !xc_symbol_find(p, "__rseq_size", NULL, &variable) || !xc_space_peek_uint(p->space, variable, 4, &size) ||
	    !size || !xc_symbol_find(p, "__rseq_offset", NULL, &variable) ||
	    !xc_space_peek_uint(p->space, variable, 8, &offset))
		return false;
	*area_out = tp + offset;
	return true;
}

/* Would the kernel accept the sequence? What it would have to read and the core lacks counts as valid. */
static bool is_valid(const struct xc_process *p, uint64_t sequence)
{
	uint64_t version, abort_ip, signature;
	if (!xc_process_mapping(p, sequence))
		return false;
	if (!xc_space_peek_uint(p->space, sequence, 4, &version) ||
	    !xc_space_peek_uint(p->space, sequence + ABORT, 8, &abort_ip))
		return true;
	if (version || !xc_process_mapping(p, abort_ip))
		return false;
	return p->arch->machine != EM_X86_64 || !xc_space_peek_uint(p->space, abort_ip - 4, 4, &signature) ||
	       signature == X86_SIGNATURE;
}

/* What begins the control block, on x86-64 its own address, was overwritten, too: one write that went on and on. */
static bool is_run_over(const struct xc_crash_context *crash)
{
	const struct xc_process *p = crash->process;
	uint64_t tp, self;
	return p->arch->machine == EM_X86_64 && xc_regs_get(&crash->faulted->regs, p->arch->tls.tp, &tp) &&
	       xc_space_peek_uint(p->space, tp, 8, &self) && self != tp;
}

/* The live block of the heap that ends nearest before the area, in the same mapping. */
static uint32_t find_block(const struct xc_crash_context *crash, xc_addr area)
{
	const struct xc_mapping *mapping = xc_process_mapping(crash->process, area);
	if (!crash->heap || !mapping)
		return XC_NO_BLOCK;
	const struct xc_blocks *blocks = &crash->heap->blocks;
	for (xc_addr back = 0; back <= FAR && back < area && area - back >= mapping->lo; back += PAGE) {
		uint32_t block = xc_blocks_find(blocks, (area - back) / PAGE * PAGE - 1);
		if (block != XC_NO_BLOCK && !xc_block_is_free(xc_block_state(blocks, block)))
			return xc_block_addr(blocks, block) + xc_block_size(blocks, block) <= area ? block
												   : XC_NO_BLOCK;
	}
	return XC_NO_BLOCK;
}

static void report(struct xc_crash_context *crash, xc_addr area, uint64_t sequence, uint32_t block)
{
	xc_verdict_evidence(crash->report,
			    "the thread's restartable sequences (struct rseq, at 0x%" PRIx64
			    ", in its control block): rseq_cs is 0x%" PRIx64 ", which is no sequence",
			    area, sequence);
	xc_verdict_evidence(crash->report, "the kernel reads it before a thread that was preempted goes on, and likely "
					   "raised the signal then: the instruction did nothing wrong");
	if (block == XC_NO_BLOCK)
		return;
	struct xc_text text = {0};
	xc_addr begin = xc_block_addr(&crash->heap->blocks, block),
		end = begin + xc_block_size(&crash->heap->blocks, block);
	struct xc_what what = xc_what(crash->process, crash->heap, begin);
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report,
			    "the block at 0x%" PRIx64 " ends 0x%" PRIx64 " bytes before the control block: %s", begin,
			    area - end, xc_text_string(&text));
	xc_text_fini(&text);
}

bool xc_rseq_classify(struct xc_crash_context *crash)
{
	const struct xc_fault *f = &crash->fault;
	xc_addr area;
	uint64_t sequence;
	if (!f->code_known || f->code != SI_KERNEL || f->computed || f->instruction.privileged ||
	    !find_area(crash, &area) || !xc_space_peek_uint(crash->process->space, area + RSEQ_CS, 8, &sequence) ||
	    !sequence || is_valid(crash->process, sequence))
		return false;
	bool run_over = is_run_over(crash);
	uint32_t block = run_over ? find_block(crash, area) : XC_NO_BLOCK;
	/* A library that has restartable sequences, and was unloaded, leaves the address of one. */
	bool open = !run_over && sequence >> 47 == 0;
	crash->no_access = true;
	xc_crash_context_classify(
		crash, block != XC_NO_BLOCK ? "heap-overrun" : "wild-write", block != XC_NO_BLOCK ? "write" : NULL,
		"high", open ? "guess" : "likely",
		open ? "the control block of the thread was overwritten, or has what an unloaded library "
		       "left there, so the kernel could not go on with the thread"
		     : "the control block of the thread was overwritten, so the kernel could not go on "
		       "with the thread");
	report(crash, area, sequence, block);
	return true;
}
