/* layer: core */
/* missing: the report on a core's memory, from hand-made segments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/facts/missing.h"
#include "core/base/text.h"

static void lay(struct xc_process *process, xc_addr lo, uint64_t size, enum xc_provenance provenance)
{
	static const uint8_t bytes[0x4000];
	struct xc_segment segment = {.lo = lo, .hi = lo + size - 1, .provenance = provenance};
	if (provenance == XC_FROM_CORE || provenance == XC_FROM_FILE)
		segment.bytes = bytes;
	xc_space_add(process->space, &segment);
}

/* The messages of the section, one per line. */
static void expect(struct xc_process *process, const char *messages)
{
	struct xc_text text = {0};
	xc_space_seal(process->space);
	struct xc_report *report = xc_report_new("test");
	xc_missing_report(report, process);
	for (const struct xc_item *item = report->sections ? report->sections->items : NULL; item; item = item->next) {
		assert_int_equal(item->kind, XC_ITEM_MESSAGE);
		xc_text_printf(&text, "%d %s\n", (int)item->message.severity, item->message.text);
	}
	assert_string_equal(xc_text_string(&text), messages);
	xc_text_fini(&text);
	xc_report_free(report);
	xc_process_close(process);
}

static void a_whole_core_lacks_nothing(void **state)
{
	(void)state;
	struct xc_process *process = xc_process_new("core", false);
	lay(process, 0x1000, 0x1000, XC_FROM_CORE);
	expect(process, "0 nothing: all mapped memory is there\n");
}

static void lost_bytes_are_a_problem_and_undumped_ones_are_not(void **state)
{
	(void)state;
	struct xc_process *process = xc_process_new("core", false);
	lay(process, 0x1000, 0x1000, XC_FROM_CORE);
	lay(process, 0x2000, 0x2000, XC_NOT_DUMPED);
	lay(process, 0x8000, 0x1000, XC_CUT_SHORT);
	process->missing_bytes = 0x1000;
	expect(process,
	       "2 4.00 KiB are missing at the end of the core file: 0 of 0 mappings are cut or gone\n"
	       "0 8.00 KiB were mapped but not dumped (shared or file-backed, or left out by coredump_filter or "
	       "MADV_DONTDUMP)\n");
}

static void bytes_of_unverified_files_are_a_warning(void **state)
{
	(void)state;
	struct xc_module module = {.path = "/lib/a.so", .name = "a.so", .identity = XC_UNVERIFIED};
	struct xc_module *modules[] = {&module};
	struct xc_process *process = xc_process_new("core", false);
	lay(process, 0x1000, 0x1000, XC_FROM_FILE);
	process->modules = xc_alloc(sizeof modules);
	memcpy(process->modules, modules, sizeof modules);
	process->module_count = 1;
	expect(process, "1 4.00 KiB of code and constants were read from the modules' files; 1 of these could not be "
			"verified\n");
}

static void a_live_process_gets_no_section(void **state)
{
	(void)state;
	struct xc_process *process = xc_process_new("pid:1", true);
	lay(process, 0x1000, 0x1000, XC_NOT_PRESENT);
	expect(process, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_core_lacks_nothing),
		cmocka_unit_test(lost_bytes_are_a_problem_and_undumped_ones_are_not),
		cmocka_unit_test(bytes_of_unverified_files_are_a_warning),
		cmocka_unit_test(a_live_process_gets_no_section),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
