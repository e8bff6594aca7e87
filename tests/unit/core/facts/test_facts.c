/* layer: core */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/facts/facts.h"
#include "core/process/module.h"
#include "core/process/notes.h"

static uint8_t bytes[64];

/* One module at 0x1000; at 0x4000 an anonymous mapping with its second half not dumped. */
static struct xc_process *make_process(void)
{
	struct xc_process *process = xc_process_new("/tmp/core.77", false);
	process->arch = xc_arch_host();
	process->mappings = xc_alloc(3 * sizeof *process->mappings);
	process->mapping_count = 3;
	process->mappings[0] = (struct xc_mapping){.lo = 0x1000,
						   .hi = 0x1fff,
						   .readable = true,
						   .executable = true,
						   .path = "/lib/libx.so",
						   .offset = 0x1000};
	process->mappings[1] =
		(struct xc_mapping){.lo = 0x4000, .hi = 0x403f, .readable = true, .writable = true, .dumped = 0x20};
	process->mappings[2] = (struct xc_mapping){.lo = 0x8000, .hi = 0x8fff, .readable = true, .label = "[heap]"};
	struct xc_module *module = xc_module_add(process, "/lib/libx.so", XC_MODULE_LIBRARY);
	module->lo = 0x1000;
	module->hi = 0x1fff;
	module->bias = 0x400;
	module->bias_known = true;
	xc_process_index(process);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)('A' + i);
	const struct xc_segment there = {.lo = 0x4000, .hi = 0x401f, .provenance = XC_FROM_CORE, .bytes = bytes};
	const struct xc_segment missing = {.lo = 0x4020, .hi = 0x403f, .provenance = XC_NOT_DUMPED};
	xc_space_add(process->space, &there);
	xc_space_add(process->space, &missing);
	xc_space_seal(process->space);
	return process;
}

static const struct xc_field *field(const struct xc_section *s, const char *key)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && !strcmp(item->field.key, key))
			return &item->field;
	fail_msg("no field %s", key);
	return NULL;
}

static const struct xc_item *item(const struct xc_section *s, enum xc_item_kind kind, const char *key)
{
	for (const struct xc_item *i = s->items; i; i = i->next)
		if (i->kind == kind && i->key && !strcmp(i->key, key))
			return i;
	fail_msg("no item %s", key);
	return NULL;
}

static void place_names_module_mapping_or_nothing(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	char buf[64];
	assert_string_equal(xc_facts_place(process, 0x1010, buf, sizeof buf), "libx.so+0xc10");
	assert_string_equal(xc_facts_place(process, 0x4008, buf, sizeof buf), "[anonymous memory]");
	assert_string_equal(xc_facts_place(process, 0x8fff, buf, sizeof buf), "[heap]");
	assert_null(xc_facts_place(process, 0x9000, buf, sizeof buf));
	assert_null(xc_facts_place(process, 0, buf, sizeof buf));
	char small[6];
	assert_string_equal(xc_facts_place(process, 0x1010, small, sizeof small), "libx.");
	xc_process_close(process);
}

static void memory_dump_shows_missing_bytes_and_why(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	struct xc_report *report = xc_report_new("mem");
	xc_facts_memory(report, process, 0x4018, 0x30);
	const struct xc_section *s = report->sections;
	const struct xc_item *dump = item(s, XC_ITEM_TEXT, "dump");
	assert_string_equal(dump->text,
			    "0x000000004018  59 5a 5b 5c 5d 5e 5f 60  -- -- -- -- -- -- -- --  |YZ[\\]^_`        |\n"
			    "0x000000004028  -- -- -- -- -- -- -- --  -- -- -- -- -- -- -- --  |                |\n"
			    "0x000000004038  -- -- -- -- -- -- -- --  -- -- -- -- -- -- -- --  |                |\n");
	assert_true(dump->secret);
	const struct xc_table *missing = item(s, XC_ITEM_TABLE, "missing")->table;
	assert_int_equal(missing->row_count, 2);
	assert_int_equal(missing->cells[0].number, 0x4020);
	assert_int_equal(missing->cells[1].number, 0x20);
	assert_string_equal(missing->cells[2].text, xc_provenance_text(XC_NOT_DUMPED));
	assert_int_equal(missing->cells[3].number, 0x4040);
	assert_string_equal(missing->cells[5].text, xc_provenance_text(XC_UNMAPPED));
	assert_memory_equal(field(s, "hex")->cell.text, "595a5b5c5d5e5f60--", 18);
	xc_report_free(report);
	xc_process_close(process);
}

static void memory_dump_at_the_end_of_the_address_space_ends(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	struct xc_report *report = xc_report_new("mem");
	xc_facts_memory(report, process, UINT64_MAX - 3, UINT64_MAX);
	assert_int_equal(field(report->sections, "bytes")->cell.number, 4);
	assert_string_equal(field(report->sections, "hex")->cell.text, "--------");
	xc_report_free(report);
	xc_process_close(process);
}

static void memory_dump_is_bounded(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	struct xc_report *report = xc_report_new("mem");
	xc_facts_memory(report, process, 0x4000, UINT64_C(1) << 40);
	assert_int_equal(field(report->sections, "bytes")->cell.number, 1 << 20);
	assert_int_equal(report->sections->items->kind, XC_ITEM_MESSAGE);
	xc_report_free(report);
	xc_process_close(process);
}

static void registers_tell_what_they_point_to(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	struct xc_thread thread = {.tid = 5, .has_regs = true};
	xc_regs_set(&thread.regs, process->arch->sp, 0x4000);
	xc_regs_set(&thread.regs, process->arch->pc, 0x1010);
	struct xc_report *report = xc_report_new("regs");
	xc_facts_regs(report, process, &thread);
	const struct xc_table *table = item(report->sections, XC_ITEM_TABLE, "registers")->table;
	assert_int_equal(table->row_count, 2); /* unknown registers are absent, not zero */
	for (size_t row = 0; row < 2; row++) {
		const struct xc_cell *cells = table->cells + 3 * row;
		bool is_sp = cells[1].number == 0x4000;
		assert_string_equal(cells[2].text, is_sp ? "this thread's stack, sp+0x0" : "libx.so+0xc10");
	}
	xc_report_free(report);
	xc_process_close(process);
}

static const char *name_of(const struct xc_process *process, xc_addr pc)
{
	(void)process;
	return pc == 0x1010 ? "work" : NULL;
}

static void threads_without_registers_say_why(void **state)
{
	(void)state;
	struct xc_process *process = make_process();
	process->threads = xc_alloc(2 * sizeof *process->threads);
	process->thread_count = 2;
	process->threads[0] = (struct xc_thread){.tid = 7, .name = "main", .crashed = true, .has_regs = true};
	xc_regs_set(&process->threads[0].regs, process->arch->pc, 0x1010);
	process->threads[1] = (struct xc_thread){.tid = 8, .state = 'R', .why_no_regs = "on a CPU"};
	struct xc_report *report = xc_report_new("threads");
	xc_facts_threads(report, process, name_of);
	const struct xc_table *table = item(report->sections, XC_ITEM_TABLE, "threads")->table;
	assert_string_equal(table->cells[2].text, "crashed");
	assert_string_equal(table->cells[5].text, "work");
	assert_string_equal(table->cells[7].text, "libx.so+0xc10");
	assert_string_equal(table->cells[8 + 2].text, "running");
	assert_int_equal(table->cells[8 + 3].kind, XC_FIELD_NULL);
	assert_string_equal(table->cells[8 + 3].text, "on a CPU");
	assert_null(table->cells[8 + 5].text);
	xc_facts_maps(report, process);
	const struct xc_table *maps = item(report->sections->next, XC_ITEM_TABLE, "maps")->table;
	assert_int_equal(maps->row_count, 3);
	assert_string_equal(maps->cells[3].text, "r-xp");
	assert_int_equal(maps->cells[8 + 4].number, 0x20);
	xc_facts_info(report, process);
	xc_report_free(report);
	xc_process_close(process);
}

/* A core of one note segment followed by `tail` bytes of memory. */
static size_t make_core(uint8_t *core, uint8_t note, uint8_t memory)
{
	Elf64_Ehdr header = {.e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_phoff = sizeof header,
			     .e_phnum = 2,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_ehsize = sizeof header};
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	const size_t start = sizeof header + 2 * sizeof(Elf64_Phdr);
	const Elf64_Phdr headers[] = {
		{.p_type = PT_NOTE, .p_offset = start, .p_filesz = 32},
		{.p_type = PT_LOAD, .p_offset = start + 32, .p_vaddr = 0x1000, .p_filesz = 64, .p_memsz = 64}};
	memcpy(core, &header, sizeof header);
	memcpy(core + sizeof header, headers, sizeof headers);
	memset(core + start, note, 32);
	memset(core + start + 32, memory, 64);
	return start + 96;
}

static void core_id_depends_on_the_notes_and_not_on_memory_or_name(void **state)
{
	(void)state;
	uint8_t core[3][512];
	char id[3][XC_CORE_ID_SIZE];
	const uint8_t notes[] = {1, 1, 2}, memory[] = {5, 6, 5};
	for (size_t i = 0; i < 3; i++) {
		size_t size = make_core(core[i], notes[i], memory[i]);
		struct xc_process *process = xc_process_new(i ? "core.zst" : "core", false);
		process->core = xc_source_over(core[i], size, i ? "core.zst" : "core");
		assert_true(xc_facts_core_id(process, id[i]));
		xc_process_close(process);
	}
	assert_int_equal(strlen(id[0]), 32);
	assert_string_equal(id[0], id[1]);
	assert_string_not_equal(id[0], id[2]);
}

static void core_id_of_hostile_headers_is_bounded(void **state)
{
	(void)state;
	uint8_t core[512];
	char id[XC_CORE_ID_SIZE];
	size_t size = make_core(core, 1, 1);
	Elf64_Phdr *headers = (Elf64_Phdr *)(void *)(core + sizeof(Elf64_Ehdr));
	headers[0].p_filesz = UINT64_MAX;
	headers[1] = (Elf64_Phdr){.p_type = PT_NOTE, .p_offset = UINT64_MAX, .p_filesz = UINT64_MAX};
	struct xc_process *process = xc_process_new("core", false);
	process->core = xc_source_over(core, size, "core");
	assert_true(xc_facts_core_id(process, id));
	xc_process_close(process);
	process = xc_process_new("core", false);
	process->core = xc_source_over(core, 10, "core");
	assert_false(xc_facts_core_id(process, id));
	xc_process_close(process);
	process = xc_process_new("pid:1", true);
	assert_false(xc_facts_core_id(process, id));
	xc_process_close(process);
}

static void target_keeps_the_files_name_out_of_its_fields(void **state)
{
	(void)state;
	uint8_t core[512];
	size_t size = make_core(core, 1, 1);
	struct xc_process *process = make_process();
	process->core = xc_source_over(core, size, "core.77");
	process->args = "prog --password x";
	process->missing_bytes = 5;
	process->signal =
		(struct xc_signal){.known = true, .has_info = true, .number = SIGSEGV, .code = 1, .addr_known = true};
	xc_process_remark(process, "the file is cut");
	struct xc_report *report = xc_report_new("analyze");
	xc_facts_target(report, process);
	assert_non_null(strstr(report->target->headline, "core.77"));
	assert_non_null(strstr(report->target->headline, ", cut short"));
	bool remarked = false;
	for (const struct xc_item *i = report->target->items; i; i = i->next) {
		if (i->kind == XC_ITEM_FIELD && i->field.cell.text)
			assert_null(strstr(i->field.cell.text, "core.77"));
		remarked |= i->kind == XC_ITEM_MESSAGE && !strcmp(i->message.text, "the file is cut");
	}
	assert_true(remarked);
	assert_true(field(report->target, "args")->cell.secret);
	assert_string_equal(field(report->target, "signal")->cell.text, "SIGSEGV");
	assert_string_equal(field(report->target, "signal_code_text")->cell.text, "address not mapped");
	assert_int_equal(field(report->target, "pid")->cell.kind, XC_FIELD_NULL);
	assert_string_equal(field(report->run, "target")->cell.text, "/tmp/core.77");
	assert_true(report->incomplete);
	xc_report_free(report);
	xc_process_close(process);
}

static void signals_and_codes_have_words(void **state)
{
	(void)state;
	for (int number = 1; number < 32; number++) {
		char expected[32];
		snprintf(expected, sizeof expected, "SIG%s", sigabbrev_np(number) ? sigabbrev_np(number) : "");
		if (number == SIGPOLL) /* glibc abbreviates 29 as POLL */
			strcpy(expected, "SIGIO");
		assert_string_equal(xc_signal_name(number), expected);
		assert_string_not_equal(xc_signal_text(number), "unknown signal");
	}
	assert_string_equal(xc_signal_name(35), "SIG35");
	assert_string_equal(xc_signal_name(0), "signal 0");
	assert_string_equal(xc_signal_name(-7), "signal -7");
	assert_string_equal(xc_signal_code_text(SIGSEGV, SEGV_MAPERR), "address not mapped");
	assert_string_equal(xc_signal_code_name(SIGSEGV, SEGV_ACCERR), "SEGV_ACCERR");
	assert_string_equal(xc_signal_code_name(SIGBUS, BUS_ADRERR), "BUS_ADRERR");
	assert_string_equal(xc_signal_code_name(SIGFPE, FPE_INTDIV), "FPE_INTDIV");
	assert_string_equal(xc_signal_code_name(SIGABRT, SI_TKILL), "SI_TKILL");
	assert_string_equal(xc_signal_code_name(SIGSEGV, SI_KERNEL), "SI_KERNEL");
	assert_null(xc_signal_code_name(SIGSEGV, 77));
	assert_string_equal(xc_signal_code_text(SIGSEGV, 77), "code 77");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(place_names_module_mapping_or_nothing),
		cmocka_unit_test(memory_dump_shows_missing_bytes_and_why),
		cmocka_unit_test(memory_dump_at_the_end_of_the_address_space_ends),
		cmocka_unit_test(memory_dump_is_bounded),
		cmocka_unit_test(registers_tell_what_they_point_to),
		cmocka_unit_test(threads_without_registers_say_why),
		cmocka_unit_test(core_id_depends_on_the_notes_and_not_on_memory_or_name),
		cmocka_unit_test(core_id_of_hostile_headers_is_bounded),
		cmocka_unit_test(target_keeps_the_files_name_out_of_its_fields),
		cmocka_unit_test(signals_and_codes_have_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
