/* layer: dwarf */
/* The symbol used for code without its own: one without a size reaches to the next symbol, unless call frame
 * information shows that another function starts in between. */
#include "tests/support/scene.h"

#include "dwarf/disas/disas_range.h"

/* dummy: a label as in start-up code. lost_at and the others are data, so they name no code; their targets have no
 * symbol. */
static const char LOST[] =
	"dummy: ret\n.p2align 4\n"
	".Llost: .cfi_startproc\n.skip 24\n.cfi_endproc\n"
	".skip 8\n.Lgap: .skip 8\n"
	"whole: .cfi_startproc\n.skip 8\ninner: .skip 8\n.cfi_endproc\n"
	".Lbehind: .skip 8\n"
	".type sized,@function\nsized: .skip 8\n.Lpart: .cfi_startproc\n.skip 8\n.cfi_endproc\n"
	".size sized,16\n"
	".data\nlost_at: .quad .Llost\ngap_at: .quad .Lgap\nbehind_at: .quad .Lbehind\npart_at: .quad .Lpart\n";

/* The target of a word in the program's data. */
static xc_addr led(const struct scene *s, const char *name)
{
	uint64_t addr;
	assert_true(xc_space_peek_uint(s->process->space, label(s, name), 8, &addr));
	return addr;
}

static void expect_name(const struct scene *s, xc_addr addr, const char *name)
{
	char text[64];
	const char *told = xc_symbol_describe(s->process, addr, text, sizeof text);
	const struct xc_symbol *symbol = xc_symbol_at(s->process, s->module, addr - s->module->bias);
	const struct xc_place *place = xc_debuginfo_place(s->process, addr);
	assert_true(!told == !name && !symbol == !name && !place->symbol == !name);
	if (name)
		assert_string_equal(symbol->name, name);
	if (name)
		assert_string_equal(place->symbol, name);
}

static void a_label_does_not_name_a_function_behind_it(void **state)
{
	static const char *const compilers[] = {"gcc -x assembler -Wl,--eh-frame-hdr",
						"gcc -x assembler -Wl,--no-eh-frame-hdr"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct scene *s = make_scene(compilers[i], LOST);
		expect_name(s, label(s, "dummy"), "dummy");
		expect_name(s, label(s, "dummy") + 8, "dummy"); /* nothing shows its end */
		expect_name(s, led(s, "lost_at"), NULL);
		expect_name(s, led(s, "lost_at") + 23, NULL);
		end_scene(s);
	}
}

static void a_label_ends_where_its_function_does(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", LOST);
	expect_name(s, label(s, "whole"), "whole");
	expect_name(s, label(s, "whole") + 7, "whole");
	expect_name(s, label(s, "inner") + 7, "inner");
	expect_name(s, led(s, "behind_at"), NULL);
	end_scene(s);
}

/* Even if it has no entry itself: another function with one is in between. */
static void a_label_does_not_reach_over_another_function(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", LOST);
	expect_name(s, led(s, "gap_at"), NULL);
	end_scene(s);
}

static void a_symbol_that_says_how_large_it_is_is_believed(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", LOST);
	expect_name(s, led(s, "part_at"), "sized");
	end_scene(s);
}

static void code_without_a_name_begins_where_its_entry_does(void **state)
{
	struct xc_code_range range;
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", LOST);
	xc_addr lost = led(s, "lost_at");
	assert_true(xc_disas_range(s->process, lost + 5, &range));
	assert_null(range.function);
	assert_string_equal(range.how, "call frame information");
	assert_true(range.lo == lost && range.hi == lost + 23 && range.end_known);
	end_scene(s);
}

static void a_label_has_its_end_from_its_entry(void **state)
{
	struct xc_code_range range;
	(void)state;
	struct scene *s = make_scene("gcc -x assembler", LOST);
	xc_addr whole = label(s, "whole");
	assert_true(xc_disas_range(s->process, whole + 5, &range));
	assert_string_equal(range.function, "whole");
	assert_true(range.lo == whole && range.hi == whole + 15 && range.end_known);
	assert_true(xc_disas_range(s->process, label(s, "inner") + 1, &range));
	assert_string_equal(range.function, "inner");
	assert_true(range.lo == label(s, "inner") && range.hi == whole + 15);
	assert_true(xc_disas_range(s->process, label(s, "dummy"), &range));
	assert_string_equal(range.how, "symbol");
	assert_false(range.end_known);
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_does_not_name_a_function_behind_it),
		cmocka_unit_test(a_label_ends_where_its_function_does),
		cmocka_unit_test(a_label_does_not_reach_over_another_function),
		cmocka_unit_test(a_symbol_that_says_how_large_it_is_is_believed),
		cmocka_unit_test(code_without_a_name_begins_where_its_entry_does),
		cmocka_unit_test(a_label_has_its_end_from_its_entry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
