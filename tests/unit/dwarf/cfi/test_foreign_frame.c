/* layer: dwarf
 *
 * Foreign code and frames: on a hand-made process of two threads with the same stack layout, and against a flat
 * array. */

#include "core/elf/arch.h"
#include "core/base/text.h"
#include "core/report/report_wire.h"
#include "dwarf/stack/backtrace.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/cfi/foreign_frame_report.h"
#include "dwarf/unwind/unwind.h"
#include "tests/support/check.h"
#include "tests/support/property.h"

enum { CODE = 0x10000, STACK = 0x20000, SIZE = 0x1000, WORDS = SIZE / 8 };

/* Two threads at CODE + 0x10, the stack pointer at STACK + 0x100 and STACK + 0x800, with frames of 32 bytes: the second
 * word above the CFA of the first frame is a return address of CODE + 0x108, that of the next one 0. */
struct scene {
	struct xc_process *process;
	uint64_t stack[WORDS];
	uint8_t code[SIZE];
	struct xc_mapping mappings[2];
	struct xc_thread threads[2];
};

static void lay(struct xc_process *p, xc_addr lo, const void *bytes)
{
	struct xc_segment s = {.lo = lo, .hi = lo + SIZE - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	xc_space_add(p->space, &s);
}

static struct scene *scene_of(uint16_t machine)
{
	struct scene *s = xc_alloc(sizeof *s);
	struct xc_process *p = s->process = xc_process_new("made", false);
	p->arch = xc_arch_find(machine, ELFCLASS64, false);
	memset(s->code, 0x90, sizeof s->code);
	lay(p, CODE, s->code);
	lay(p, STACK, s->stack);
	xc_space_seal(p->space);
	s->mappings[0] = (struct xc_mapping){.lo = CODE, .hi = CODE + SIZE - 1, .readable = true, .executable = true};
	s->mappings[1] = (struct xc_mapping){.lo = STACK, .hi = STACK + SIZE - 1, .readable = true, .writable = true};
	p->mappings = s->mappings;
	p->mapping_count = 2;
	for (int i = 0; i < 2; i++) {
		xc_addr sp = STACK + (i ? 0x800 : 0x100);
		s->threads[i] = (struct xc_thread){.tid = 7 + i, .crashed = i == 0, .has_regs = true};
		xc_regs_set(&s->threads[i].regs, p->arch->pc, CODE + 0x10);
		xc_regs_set(&s->threads[i].regs, p->arch->sp, sp);
		s->stack[(sp - STACK) / 8 + 3] = CODE + 0x108;
	}
	p->threads = s->threads;
	p->thread_count = 2;
	return s;
}

static void close_scene(struct scene *s)
{
	xc_debuginfo_close(s->process);
	s->process->threads = NULL;
	s->process->mappings = NULL;
	s->process->thread_count = s->process->mapping_count = 0;
	xc_process_close(s->process);
	free(s);
}

static struct xc_foreign_code code_of(xc_addr lo, xc_addr hi, const char *name)
{
	return (struct xc_foreign_code){.lo = lo, .hi = hi, .cfa_reg = -1, .name = name};
}

/* All of CODE has frames of 32 bytes. */
static void tell_code(struct scene *s)
{
	struct xc_foreign_code code = code_of(CODE, CODE + SIZE - 1, "TRACE");
	code.cfa_reg = s->process->arch->sp;
	code.cfa_offset = 32;
	CHECK_OK(xc_foreign_add_code(s->process, &code));
}

static void tell_frames(struct scene *s, int tid, xc_addr at, const char *name, size_t count)
{
	struct xc_stack_row *rows = xc_alloc(count * sizeof *rows);
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct xc_stack_row){.function = name, .language = "toy", .line = (unsigned)i + 1};
	const struct xc_foreign_frames frames = {.tid = tid, .at = at, .rows = rows, .row_count = count};
	CHECK_OK(xc_foreign_add_frames(s->process, &frames));
	free(rows);
}

/* "TRACE one:1 TRACE two:1 | …": the rows of all stacks. */
static char *stacks_of(struct scene *s, const struct xc_backtrace_options *options, size_t *groups_out)
{
	struct xc_report *report = xc_report_new("bt");
	struct xc_section *section = xc_report_section(report, "bt", "Stacks");
	struct xc_text text = {0};
	CHECK_OK(xc_backtrace(section, s->process, options));
	for (const struct xc_item *item = section->items; item; item = item->next) {
		if (item->kind == XC_ITEM_MESSAGE)
			xc_text_printf(&text, "(%s)", item->message.text);
		for (size_t i = 0; item->kind == XC_ITEM_STACKS && i < item->stacks->stack_count; i++) {
			const struct xc_stack *stack = &item->stacks->stacks[i];
			*groups_out = item->stacks->group_count;
			xc_text_add(&text, i ? "| " : "");
			for (size_t k = 0; k < stack->row_count; k++) {
				const struct xc_stack_row *row = &stack->rows[k];
				if (row->left_out)
					xc_text_printf(&text, "+%d ", (int)row->left_out);
				xc_text_add(&text, row->function ? row->function : "??");
				xc_text_printf(&text, row->guest ? ":%u " : " ", row->line);
			}
		}
	}
	xc_report_free(report);
	return xc_text_take(&text);
}

static void expect_stacks(struct scene *s, const struct xc_backtrace_options *options, const char *want, size_t groups)
{
	size_t have = 0;
	char *got = stacks_of(s, options, &have);
	assert_string_equal(got, want);
	assert_int_equal(have, groups);
	free(got);
}

static const struct xc_backtrace_options all = {.choice = XC_THREADS_ALL},
					 grouped = {.choice = XC_THREADS_ALL, .group = true},
					 first = {.choice = XC_THREADS_CRASHED};

static void told_code_is_unwound_and_named(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	expect_stacks(s, &first, "?? ", 0);
	tell_code(s);
	expect_stacks(s, &all, "TRACE TRACE | TRACE TRACE ", 0);
	struct xc_unwinder *unwinder = xc_unwinder_new(s->process);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(unwinder, &s->threads[0], &frame));
	assert_int_equal(frame.cfa, STACK + 0x120);
	assert_true(xc_unwind_step(unwinder, &frame, &frame, &stop));
	assert_int_equal(frame.pc, CODE + 0x108);
	assert_int_equal(frame.trust, XC_TRUST_PLUGIN);
	xc_unwinder_free(unwinder);
	close_scene(s);
}

/* Two words of frame; the caller's pc is in x30, or where the plugin says. */
static void a_link_register_holds_the_return_address_unless_told(void **state)
{
	(void)state;
	for (int saved = 0; saved < 2; saved++) {
		struct scene *s = scene_of(EM_AARCH64);
		const struct xc_arch *arch = s->process->arch;
		const struct xc_foreign_saved where = {.reg = arch->lr, .from = -1, .offset = -8};
		struct xc_foreign_code code = code_of(CODE, CODE + SIZE - 1, "TRACE");
		code.cfa_reg = arch->sp;
		code.cfa_offset = 32;
		code.saved = &where;
		code.saved_count = (size_t)saved;
		CHECK_OK(xc_foreign_add_code(s->process, &code));
		xc_regs_set(&s->threads[0].regs, arch->lr, CODE + 0x204);
		struct xc_unwinder *unwinder = xc_unwinder_new(s->process);
		struct xc_frame frame;
		const char *stop;
		assert_true(xc_unwind_first(unwinder, &s->threads[0], &frame));
		assert_true(xc_unwind_step(unwinder, &frame, &frame, &stop));
		assert_int_equal(frame.pc, saved ? CODE + 0x108 : CODE + 0x204);
		xc_unwinder_free(unwinder);
		close_scene(s);
	}
}

static void frames_stand_behind_the_one_that_holds_them(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	tell_code(s);
	tell_frames(s, 7, STACK + 0x118, "outer", 2); /* in the first frame, above inner */
	tell_frames(s, 7, STACK + 0x100, "inner", 1);
	tell_frames(s, 7, STACK + 0x120, "last", 1); /* at the CFA of the first: in the second */
	expect_stacks(s, &all, "TRACE inner:1 outer:1 outer:2 TRACE last:1 | TRACE TRACE ", 0);
	close_scene(s);
}

static void frames_that_no_stack_holds_are_counted(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	tell_code(s);
	tell_frames(s, 7, STACK + 0xf8, "below", 1);
	tell_frames(s, 8, 0, "nowhere", 3);
	tell_frames(s, 8, UINT64_MAX, "nowhere", 1);
	expect_stacks(s, &all,
		      "TRACE TRACE | TRACE TRACE (5 frames of other languages are at addresses outside all frames of "
		      "these stacks)",
		      0);
	close_scene(s);
}

/* At the end of a broken stack, all frames above are shown; at its natural end they are outside. */
static void a_broken_stack_keeps_its_frames(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	tell_code(s);
	tell_frames(s, 7, STACK + 0x400, "far", 1);
	s->stack[(0x120 + 0x18) / 8] = 0x4141414141414141;
	expect_stacks(s, &first, "TRACE TRACE far:1 ", 0);
	close_scene(s);
}

static void equal_machine_frames_with_other_guests_are_not_equal(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	tell_code(s);
	s->threads[0].crashed = false;
	expect_stacks(s, &grouped, "TRACE TRACE | TRACE TRACE ", 1);
	tell_frames(s, 7, STACK + 0x100, "one", 1);
	expect_stacks(s, &grouped, "TRACE one:1 TRACE | TRACE TRACE ", 2);
	tell_frames(s, 8, STACK + 0x800, "one", 1);
	expect_stacks(s, &grouped, "TRACE one:1 TRACE | TRACE one:1 TRACE ", 1);
	tell_frames(s, 7, STACK + 0x120, "two", 1);
	tell_frames(s, 8, STACK + 0x820, "three", 1);
	expect_stacks(s, &grouped, "TRACE one:1 TRACE two:1 | TRACE one:1 TRACE three:1 ", 2);
	close_scene(s);
}

static void of_many_frames_the_two_ends_are_shown(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	const struct xc_backtrace_options few = {.choice = XC_THREADS_CRASHED, .max_frames = 5};
	tell_code(s);
	tell_frames(s, 7, STACK + 0x100, "f", 100000);
	expect_stacks(s, &few, "TRACE f:1 f:2 f:3 +99995 f:99999 f:100000 TRACE ", 0);
	tell_frames(s, 7, STACK + 0x118, "g", 5);
	expect_stacks(s, &few, "TRACE f:1 f:2 f:3 +99995 f:99999 f:100000 g:1 g:2 g:3 g:4 g:5 TRACE ", 0);
	const struct xc_backtrace_options one = {.choice = XC_THREADS_CRASHED, .max_frames = 1};
	expect_stacks(s, &one, "TRACE f:1 g:1 ", 0);
	close_scene(s);
}

static void stacks_of_no_thread_are_told_or_shown(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	const struct xc_backtrace_options both = {.choice = XC_THREADS_CRASHED, .detached = true, .group = true};
	tell_code(s);
	tell_frames(s, 0, 0, "yield", 1);
	expect_stacks(s, &first, "TRACE TRACE (1 more stack is on no thread)", 0);
	expect_stacks(s, &both, "TRACE TRACE | yield:1 ", 2);
	close_scene(s);
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	struct xc_foreign_code code = code_of(5, 4, NULL);
	CHECK_ERROR(xc_foreign_add_code(s->process, &code), XC_ERR_USAGE, "");
	code = code_of(4, 4, NULL);
	code.cfa_reg = 58; /* fs_base: call frame information never describes it */
	CHECK_ERROR(xc_foreign_add_code(s->process, &code), XC_ERR_USAGE, "");
	const struct xc_foreign_saved saved = {.reg = 70, .from = -1};
	code.cfa_reg = s->process->arch->sp;
	code.saved = &saved;
	code.saved_count = 1;
	CHECK_ERROR(xc_foreign_add_code(s->process, &code), XC_ERR_USAGE, "");
	const struct xc_foreign_frames nobody = {.tid = 99}, many = {.row_count = XC_FOREIGN_ROWS + 1};
	CHECK_ERROR(xc_foreign_add_frames(s->process, &nobody), XC_ERR_NOT_FOUND, "");
	CHECK_ERROR(xc_foreign_add_frames(s->process, &many), XC_ERR_LIMIT, "");
	close_scene(s);
}

static void nothing_that_is_told_makes_a_stack_loop(void **state)
{
	(void)state;
	struct scene *s = scene_of(EM_X86_64);
	static const int64_t offsets[] = {0, 8, -8, 1, 16, INT64_MAX, INT64_MIN, SIZE};
	for (size_t i = 0; i < XC_COUNT(offsets); i++) {
		struct xc_foreign_code code = code_of(0, UINT64_MAX, "all");
		size_t groups;
		code.cfa_reg = s->process->arch->sp;
		code.cfa_offset = offsets[i];
		code.override = i % 2;
		CHECK_OK(xc_foreign_add_code(s->process, &code));
		free(stacks_of(s, &all, &groups));
	}
	close_scene(s);
}

/* ---- the wire ---- */

static struct xc_section *told(struct xc_report *report, struct scene *s)
{
	struct xc_section *section = xc_report_section(report, "stacks", "Stacks");
	xc_foreign_report(section, s->process);
	return section;
}

static void tell_much(struct scene *s)
{
	static struct xc_variable_text variables[] = {{.name = "a", .type = "number", .value = "5"},
						      {.name = "b", .why = "lost"}};
	struct xc_stack_row rows[] = {
		{.function = "f",
		 .file = "x.t",
		 .line = 3,
		 .language = "toy",
		 .kind = "main",
		 .pc = 0x77,
		 .args = variables,
		 .arg_count = 2},
		{.language = "toy", .args = variables, .arg_count = 1, .locals = variables + 1, .local_count = 1}};
	const struct xc_foreign_saved saved[] = {{.reg = 16, .from = -1, .offset = -8}, {.reg = 3, .from = 12}};
	struct xc_foreign_code code = code_of(CODE + 0x200, CODE + 0x2ff, "saved");
	code.cfa_reg = 6;
	code.cfa_offset = -24;
	code.saved = saved;
	code.saved_count = 2;
	code.override = true;
	code.file = "y.t";
	code.line = 9;
	tell_code(s);
	CHECK_OK(xc_foreign_add_code(s->process, &code));
	const struct xc_foreign_frames frames = {.tid = 7, .at = STACK + 0x100, .rows = rows, .row_count = 2},
				       none = {.name = "coroutine", .state = "dead", .rows = rows + 1, .row_count = 1};
	CHECK_OK(xc_foreign_add_frames(s->process, &frames));
	CHECK_OK(xc_foreign_add_frames(s->process, &none));
}

static char *as_text(struct scene *s)
{
	struct xc_report *report = xc_report_new("run");
	char *text = NULL;
	size_t size;
	told(report, s);
	FILE *out = open_memstream(&text, &size);
	CHECK_OK(xc_report_write(report, out));
	fclose(out);
	xc_report_free(report);
	return text;
}

static void what_was_heard_is_what_was_told(void **state)
{
	(void)state;
	struct scene *a = scene_of(EM_X86_64), *b = scene_of(EM_X86_64);
	struct xc_report *report = xc_report_new("run");
	tell_much(a);
	CHECK_OK(xc_foreign_load(b->process, told(report, a)));
	const struct xc_foreign *x = xc_foreign_of(a->process), *y = xc_foreign_of(b->process);
	assert_int_equal(x->code_count, y->code_count);
	assert_int_equal(x->row_count, y->row_count);
	assert_int_equal(x->variable_count, y->variable_count);
	char *left = as_text(a), *right = as_text(b);
	assert_string_equal(left, right);
	size_t count;
	const struct xc_foreign_frames *frames = xc_foreign_frames_of(b->process, 7, &count);
	assert_int_equal(count, 1);
	assert_string_equal(frames->rows[0].args[1].why, "lost");
	assert_string_equal(frames->rows[1].locals[0].name, "b");
	assert_int_equal(frames->rows[0].pc, 0x77);
	assert_int_equal(xc_foreign_code_at(b->process, CODE + 0x2ff, true)->saved[1].from, 12);
	free(left);
	free(right);
	xc_report_free(report);
	close_scene(a);
	close_scene(b);
}

/* Any cell may have any value of its kind: a writer may be compromised. */
PROPERTY(damaged_tables_are_an_error_or_other_stacks, 1000, 2000)
{
	struct scene *a = scene_of(EM_X86_64), *b = scene_of(EM_X86_64);
	struct xc_report *report = xc_report_new("run");
	tell_much(a);
	struct xc_section *section = told(report, a);
	for (struct xc_item *item = section->items; item; item = item->next) {
		struct xc_table *t = item->table;
		size_t cells = t->row_count * t->column_count;
		for (size_t n = rng_below(rng, 3); n && cells; n--) {
			struct xc_cell *cell = &t->cells[rng_below(rng, cells)];
			if (cell->kind == XC_FIELD_TEXT || rng_below(rng, 8) == 0)
				*cell = xc_cell_null(NULL);
			else
				cell->number = rng_next(rng) >> rng_below(rng, 64);
		}
		if (rng_below(rng, 8) == 0 && t->row_count)
			t->row_count--;
	}
	struct xc_error *err = xc_foreign_load(b->process, section);
	size_t groups;
	xc_error_free(err);
	free(stacks_of(b, &grouped, &groups));
	xc_report_free(report);
	close_scene(a);
	close_scene(b);
}

/* ---- painting ---- */

PROPERTY(the_code_told_last_wins_where_ranges_overlap, 1000, 3000)
{
	enum { ADDRESSES = 40 };
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	const char *flat[ADDRESSES] = {NULL};
	struct scene *s = scene_of(EM_X86_64);
	xc_addr base = rng_below(rng, 3) ? CODE : UINT64_MAX - ADDRESSES + 1;
	for (size_t i = 0, n = rng_below(rng, XC_COUNT(names) + 1); i < n; i++) {
		size_t lo = rng_below(rng, ADDRESSES), hi = lo + rng_below(rng, ADDRESSES - lo);
		struct xc_foreign_code code = code_of(base + lo, base + hi, names[i]);
		CHECK_OK(xc_foreign_add_code(s->process, &code));
		for (size_t k = lo; k <= hi; k++)
			flat[k] = names[i];
		if (rng_below(rng, 2))
			(void)xc_foreign_code_at(s->process, base, false);
	}
	for (size_t k = 0; k < ADDRESSES; k++) {
		const struct xc_foreign_code *code = xc_foreign_code_at(s->process, base + k, false);
		PROPERTY_CHECK(rng, !code == !flat[k] && (!code || !strcmp(code->name, flat[k])));
	}
	close_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_code_is_unwound_and_named),
		cmocka_unit_test(a_link_register_holds_the_return_address_unless_told),
		cmocka_unit_test(frames_stand_behind_the_one_that_holds_them),
		cmocka_unit_test(frames_that_no_stack_holds_are_counted),
		cmocka_unit_test(a_broken_stack_keeps_its_frames),
		cmocka_unit_test(equal_machine_frames_with_other_guests_are_not_equal),
		cmocka_unit_test(of_many_frames_the_two_ends_are_shown),
		cmocka_unit_test(stacks_of_no_thread_are_told_or_shown),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(nothing_that_is_told_makes_a_stack_loop),
		cmocka_unit_test(what_was_heard_is_what_was_told),
		cmocka_unit_test(damaged_tables_are_an_error_or_other_stacks),
		cmocka_unit_test(the_code_told_last_wins_where_ranges_overlap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
