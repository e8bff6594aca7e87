/* layer: triage */
/* The kernel's signal frames on the stack, for machines other than the host: built byte by byte. The offsets were
 * checked with the C library's own headers, by an aarch64 program under qemu. */
#include <elf.h>
#include <signal.h>
#include <string.h>

#include "tests/support/check.h"

#include "core/process/process.h"
#include "triage/crash/signal_frame.h"

enum { SP = 0x10000, FRAME = 8192, RECORDS = 592 };

struct frame {
	uint8_t bytes[FRAME];
	struct xc_process *process;
};

static void put(struct frame *f, size_t at, uint64_t value, size_t size)
{
	memcpy(f->bytes + at, &value, size);
}

static void begin(struct frame *f)
{
	memset(f, 0, sizeof *f);
	f->process = xc_process_new("frame", false);
	f->process->arch = xc_arch_find(EM_AARCH64, ELFCLASS64, false);
	assert_non_null(f->process->arch);
	put(f, 0, SIGSEGV, 4);
	put(f, 8, SEGV_MAPERR, 4);
	put(f, 16, 0x18, 8);
}

static bool read_context(struct frame *f, struct xc_signal_frame *out)
{
	xc_space_add(
		f->process->space,
		&(struct xc_segment){.lo = SP, .hi = SP + FRAME - 1, .provenance = XC_FROM_CORE, .bytes = f->bytes});
	xc_space_seal(f->process->space);
	return xc_signal_frame_read(f->process, 0, SP, out);
}

static void the_syndrome_of_aarch64_is_found_behind_other_records(void **state)
{
	(void)state;
	struct frame f;
	struct xc_signal_frame context;
	begin(&f);
	put(&f, RECORDS, 0x46508001, 4); /* FPSIMD_MAGIC */
	put(&f, RECORDS + 4, 528, 4);
	put(&f, RECORDS + 528, 0x45535201, 4);
	put(&f, RECORDS + 532, 16, 4);
	put(&f, RECORDS + 536, 0x92000045, 8);
	assert_true(read_context(&f, &context));
	assert_true(context.syndrome_known);
	assert_int_equal(context.syndrome, 0x92000045);
	assert_int_equal(context.info_addr, 0x18);
	xc_process_close(f.process);
}

static void damaged_records_end_the_search(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {0, 8, 4096, UINT32_MAX};
	for (size_t i = 0; i < XC_COUNT(sizes); i++) {
		struct frame f;
		struct xc_signal_frame context;
		begin(&f);
		put(&f, RECORDS, 0x46508001, 4);
		put(&f, RECORDS + 4, sizes[i], 4);
		assert_true(read_context(&f, &context));
		assert_false(context.syndrome_known);
		xc_process_close(f.process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_syndrome_of_aarch64_is_found_behind_other_records),
		cmocka_unit_test(damaged_records_end_the_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
