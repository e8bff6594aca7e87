/* layer: dwarf tier: long */
/* Places: functions, inlined functions, blocks and lines of code addresses. The programs are compiled while the test
 * runs. */
#include "tests/support/grid.h"
#include "tests/support/scene.h"

#include <dwarf.h>

#include "dwarf/disas/disas_range.h"

static const char inlined[] =
	/* 1 */ "volatile int sink; static int *volatile null;\n"
		/* 2 */ "static inline __attribute__((always_inline)) int innermost(int a) {\n"
		/* 3 */ "  *(volatile int *)null = a;\n"
		/* 4 */ "  return a; }\n"
		/* 5 */ "static inline __attribute__((always_inline)) int middle(int a) {\n"
		/* 6 */ "  { int scaled = a * 3;\n"
		/* 7 */ "    return innermost(scaled) + 1; } }\n"
		/* 8 */ "__attribute__((noinline, noclone)) int outer(int a) {\n"
		/* 9 */ "  int r = 0;\n"
		/* 10 */ "  r += middle(a);\n"
		/* 11 */ "  sink = r; return r; }\n"
		/* 12 */ "int main(int argc, char **argv) {\n"
		/* 13 */ "  return outer(argc) + 1; }\n";

static const struct xc_place *place_of_crash(struct xc_process *p)
{
	uint64_t pc = 0;
	assert_true(xc_regs_get(&p->threads[0].regs, p->arch->pc, &pc));
	return xc_debuginfo_place(p, pc);
}

static void expect_inlined(const char *compiler)
{
	static const struct {
		const char *function;
		unsigned line;
	} want[] = {{"innermost", 3}, {"middle", 7}, {"outer", 10}};
	struct xc_process *p = died(compiler, inlined);
	const struct xc_place *place = place_of_crash(p);
	print_message("# %s\n", compiler);
	assert_int_equal(place->level_count, XC_COUNT(want));
	for (size_t i = 0; i < XC_COUNT(want); i++) {
		assert_string_equal(place->levels[i].function, want[i].function);
		assert_int_equal(place->levels[i].line, want[i].line);
		check_text(place->levels[i].file, "<stdin>");
	}
	close_process(p);
}

static void inline_chains_name_each_function_and_where_it_was_called(void **state)
{
	(void)state;
	static const char *const compilers[] = {
		"gcc -g -O2 -x c",
		"gcc -g -O2 -gdwarf-4 -x c",
		"gcc -g -O3 -x c",
		"gcc -gdwarf-3 -O2 -x c",
		"gcc -g -Og -x c",
		"gcc -g -O2 -gz=zlib -x c",
		"clang -g -O2 -x c",
		"clang -g -O2 -gdwarf-4 -x c",
		"clang -g -O3 -gdwarf-5 -x c",
		"gcc -g -O2 -flto -x c",
		"gcc -g -O2 -static -x c",
		"gcc -g -O2 -fdebug-types-section -x c",
		"clang -g -O2 -gdwarf-aranges -x c",
		"gcc -g -O2 -ffunction-sections -Wl,--gc-sections -x c",
	};
	for (size_t i = 0; i < XC_COUNT(compilers); i++)
		expect_inlined(compilers[i]);
}

static void the_blocks_of_a_level_end_with_its_function(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O0 -x c", "int main(void) {\n int a = 1; { int b = 2; { int c = a + b;\n"
						       "  *(volatile int *)0 = c; } }\n return a; }\n");
	const struct xc_place *place = place_of_crash(p);
	assert_int_equal(place->level_count, 1);
	const struct xc_level *level = &place->levels[0];
	assert_int_equal(level->block_count, 3);
	assert_int_equal(dwarf_tag(&level->blocks[0]), DW_TAG_lexical_block);
	assert_int_equal(dwarf_tag(&level->blocks[1]), DW_TAG_lexical_block);
	assert_int_equal(dwarf_tag(&level->blocks[2]), DW_TAG_subprogram);
	assert_ptr_equal(level->blocks[2].addr, level->die.addr);
	close_process(p);
}

/* ---- names ---- */

static const char cxx[] =
	"volatile int sink;\n"
	"namespace shop { struct Order { int n; Order(int a) : n(a) {} int total(int) const; template <class T> T "
	"twice(T);\n"
	"  struct Item { __attribute__((noinline)) static int cost(int a) { *(volatile int *)0 = a; return a; } }; };\n"
	"  __attribute__((noinline)) int Order::total(int a) const { return Item::cost(a + n) + sink; }\n"
	"  template <class T> __attribute__((noinline)) T Order::twice(T a) { return T(total((int)a) + sink); } }\n"
	"namespace { __attribute__((noinline)) int hidden(int a) { shop::Order o(a); return o.twice<int>(a) + sink; } "
	"}\n"
	"int main(int argc, char **) { auto f = [](int a) __attribute__((noinline)) { return hidden(a) + sink; }; "
	"return f(argc) + sink; }\n";

static void functions_of_cxx_are_named_by_where_they_stand(void **state)
{
	(void)state;
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -fno-ipa-cp -x c++",
						"clang++ -g -O0 -x c++", "g++ -gdwarf-4 -O0 -x c++"};
	static const char *const names[] = {"shop::Order::Item::cost", "shop::Order::total", "shop::Order::twice<int>",
					    "(anonymous namespace)::hidden"};
	GRID(c, XC_COUNT(compilers)) {
		print_message("# %s\n", compilers[c]);
		struct xc_process *p = died(compilers[c], cxx);
		struct xc_unwinder *u = xc_unwinder_new(p);
		struct xc_frame frame;
		const char *stop;
		assert_true(xc_unwind_first(u, &p->threads[0], &frame));
		for (size_t i = 0; i < XC_COUNT(names); i++) {
			assert_string_equal(function_of(p, &frame), names[i]);
			assert_true(xc_unwind_step(u, &frame, &frame, &stop));
		}
		xc_unwinder_free(u);
		close_process(p);
	}
}

static const char lambdas[] =
	"volatile int sink;\nnamespace shop { struct Order { int n; int go(); };\n"
	"  __attribute__((noinline)) int Order::go() { auto outer = [this](int a) __attribute__((noinline)) {\n"
	"    auto inner = [=](int b) __attribute__((noinline)) { *(volatile int *)0 = a + b + n; return b; };\n"
	"    return inner(a) + sink; };\n  return outer(n) + sink; } }\n"
	"int main(int argc, char **) { shop::Order o{argc}; int (*f)(shop::Order *) = [](shop::Order *p)\n"
	"    { return p->go() + sink; }; return f(&o) + sink; }\n";

/* gcc gives them no linkage names. */
static void a_lambda_is_named_by_the_function_that_it_stands_in(void **state)
{
	(void)state;
	static const char *const names[] = {"shop::Order::go::{lambda}::operator()::{lambda}::operator()",
					    "shop::Order::go::{lambda}::operator()",
					    "shop::Order::go",
					    "main::{lambda}::operator()",
					    "main::{lambda}::_FUN",
					    "main"};
	struct xc_process *p = died("g++ -g -O0 -x c++", lambdas);
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		assert_string_equal(function_of(p, &frame), names[i]);
		assert_true(xc_unwind_step(u, &frame, &frame, &stop));
	}
	xc_unwinder_free(u);
	close_process(p);
}

/* Nor do members of local classes: two have the same name here. */
static void a_local_class_is_named_by_the_function_that_it_stands_in(void **state)
{
	(void)state;
	static const char source[] =
		"volatile int sink;\nnamespace shop { __attribute__((noinline)) int pack(int n) {\n"
		"    struct Step { int a; __attribute__((noinline)) int run(int b) {\n"
		"      struct Last { __attribute__((noinline)) bool operator()(int c) { return *(volatile int *)0 + c; "
		"} };\n"
		"      return Last()(a + b) + sink; } };\n"
		"    return Step{n}.run(n) + sink; } }\n"
		"int main(int argc, char **) { struct Step { int a; __attribute__((noinline)) int run(int b) { return "
		"shop::pack(a + b) + sink; } };\n"
		"  return Step{argc}.run(1) + sink; }\n";
	static const char *const names[] = {"shop::pack::Step::run::Last::operator()", "shop::pack::Step::run",
					    "shop::pack", "main::Step::run", "main"};
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -fno-ipa-cp -fno-ipa-sra -x c++",
						"g++ -gdwarf-4 -O0 -x c++"};
	GRID(c, XC_COUNT(compilers)) {
		print_message("# %s\n", compilers[c]);
		struct xc_process *p = died(compilers[c], source);
		struct xc_unwinder *u = xc_unwinder_new(p);
		struct xc_frame frame;
		const char *stop;
		assert_true(xc_unwind_first(u, &p->threads[0], &frame));
		for (size_t i = 0; i < XC_COUNT(names); i++) {
			assert_string_equal(function_of(p, &frame), names[i]);
			assert_true(xc_unwind_step(u, &frame, &frame, &stop));
		}
		xc_unwinder_free(u);
		close_process(p);
	}
}

static void a_function_nested_in_another_is_one_of_its_own(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O0 -x c", "int main(void) { volatile int a = 1;\n"
						       "  int nested(int b) { *(volatile int *)0 = a + b; return b; }\n"
						       "  return nested(2) + a; }\n");
	const struct xc_place *place = place_of_crash(p);
	assert_int_equal(place->level_count, 1);
	check_text(place->levels[0].function, "nested");
	assert_int_equal(place->levels[0].line, 2);
	close_process(p);
}

/* ---- partial information ---- */

static void without_debug_information_the_symbol_is_told(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -O2 -x c", inlined);
	const struct xc_place *place = place_of_crash(p);
	assert_int_equal(place->level_count, 0);
	assert_string_equal(place->symbol, "outer");
	assert_true(place->symbol_offset < 64);
	close_process(p);
}

static void assembler_units_have_lines_and_symbols_but_no_functions(void **state)
{
	(void)state;
	struct scene *s =
		make_scene("gcc -g -x assembler", "\t.text\n\t.globl f\nf:\n\tnop\n\tnop\n\tret\n\t.size f,.-f\n");
	const struct xc_place *place = xc_debuginfo_place(s->process, label(s, "f") + 1);
	assert_true(place->line_only);
	assert_int_equal(place->level_count, 1);
	assert_null(place->levels[0].function);
	assert_int_equal(place->levels[0].line, 5);
	assert_string_equal(place->symbol, "f");
	assert_int_equal(place->symbol_offset, 1);
	end_scene(s);
}

static void an_address_outside_modules_has_no_place(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -g -x c", "int f(void) { return 1; }");
	const xc_addr addresses[] = {0, STACK_LO, UINT64_MAX, label(s, "f") - 0x100000};
	for (size_t i = 0; i < XC_COUNT(addresses); i++) {
		const struct xc_place *place = xc_debuginfo_place(s->process, addresses[i]);
		assert_null(place->module);
		assert_null(place->symbol);
		assert_int_equal(place->level_count, 0);
	}
	end_scene(s);
}

static void answers_are_kept_by_address(void **state)
{
	(void)state;
	struct scene *s = make_scene("gcc -g -x c", "int f(void) { return 1; }");
	const struct xc_place *first = xc_debuginfo_place(s->process, label(s, "f"));
	for (xc_addr i = 0; i < 3000; i++)
		xc_debuginfo_place(s->process, 0x10000000 + i);
	assert_ptr_equal(xc_debuginfo_place(s->process, label(s, "f")), first);
	assert_string_equal(first->levels[0].function, "f");
	end_scene(s);
}

/* Every byte of every function of two units, one with and one without .debug_aranges. */
static void units_without_aranges_are_found_beside_those_with(void **state)
{
	(void)state;
	struct scene *s = make_scene(
		"cat >\"$TMPDIR_XC/a.c\" && clang -g -O1 -c -o \"$TMPDIR_XC/a.o\" \"$TMPDIR_XC/a.c\" && "
		"echo 'int from_gcc(int a) { return a * 7; }' | gcc -g -O1 -c -o \"$TMPDIR_XC/b.o\" -x c - && "
		"gcc \"$TMPDIR_XC/a.o\" \"$TMPDIR_XC/b.o\" -x c",
		"int from_clang(int a) { return a * 3; }\n");
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "from_gcc" : "from_clang";
		const struct xc_place *place = xc_debuginfo_place(s->process, label(s, name) + 1);
		assert_int_equal(place->level_count, 1);
		assert_string_equal(place->levels[0].function, name);
		assert_int_equal(place->levels[0].line, 1);
	}
	end_scene(s);
}

/* ---- call sites ---- */

static void a_call_site_is_found_by_its_return_address(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O2 -x c", "gcc -g -O2 -gdwarf-4 -x c", "clang -g -O2 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], inlined);
		struct xc_unwinder *u = xc_unwinder_new(p);
		struct xc_frame frame;
		const char *stop;
		Dwarf_Die site;
		assert_true(xc_unwind_first(u, &p->threads[0], &frame));
		assert_true(xc_unwind_step(u, &frame, &frame, &stop));
		const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(&frame));
		assert_string_equal(place->levels[0].function, "main");
		assert_true(xc_debuginfo_call_site(place, frame.pc - place->module->bias, &site));
		assert_false(xc_debuginfo_call_site(place, frame.pc - place->module->bias + 1, &site));
		xc_unwinder_free(u);
		close_process(p);
	}
}

/* Calls of getpid() and of local(), which jumps through a variable as a stub does, but is none. */
static const char stubs[] = "#include <unistd.h>\nvoid *slot; int *volatile null;\n"
			    "asm(\".text\\n.globl to_stub, to_local\\nunused: to_stub: call getpid@plt\\nto_local: "
			    "call .Llocal\\nret\\n\"\n"
			    "    \".size unused,1\\n.balign 16\\n.Llocal: jmp *slot(%rip)\\n\");\n"
			    "int main(void) { slot = null; return getpid() + (*null = 1); }\n";

static xc_addr called_at(struct xc_process *p, const char *name)
{
	xc_addr at;
	int32_t distance;
	assert_true(xc_symbol_find(p, name, NULL, &at));
	assert_int_equal(xc_space_peek(p->space, at + 1, &distance, sizeof distance), sizeof distance);
	return at + 5 + (xc_addr)(int64_t)distance;
}

static void a_stub_has_the_name_of_its_function(void **state)
{
	(void)state;
	static const char *const compilers[] = {
		"gcc -g -O1 -x c",
		"gcc -O1 -fcf-protection=full -Wl,-z,ibtplt -x c",
		"gcc -s -O1 -Wl,-z,now -Wl,--export-dynamic -x c",
		"gcc -O1 -no-pie -fno-pie -Wl,-z,lazy -x c",
		"clang -g -O1 -fuse-ld=lld -x c",
	};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], stubs);
		xc_addr stub = called_at(p, "to_stub"), local = called_at(p, "to_local");
		struct xc_code_range range;
		print_message("# %s\n", compilers[i]);
		for (xc_addr at = stub; at <= stub + 4; at += 4) {
			const struct xc_place *place = xc_debuginfo_place(p, at);
			assert_null(place->symbol);
			assert_string_equal(xc_place_function(place, 0), "getpid@plt");
			assert_true(xc_disas_range(p, at, &range));
			assert_true(range.lo == stub && range.hi == stub + 15);
		}
		assert_null(xc_debuginfo_place(p, local)->stub);
		assert_null(xc_debuginfo_place(p, stub + 0x100)->stub);
		close_process(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stub_has_the_name_of_its_function),
		cmocka_unit_test(inline_chains_name_each_function_and_where_it_was_called),
		cmocka_unit_test(the_blocks_of_a_level_end_with_its_function),
		cmocka_unit_test(functions_of_cxx_are_named_by_where_they_stand),
		cmocka_unit_test(a_lambda_is_named_by_the_function_that_it_stands_in),
		cmocka_unit_test(a_local_class_is_named_by_the_function_that_it_stands_in),
		cmocka_unit_test(a_function_nested_in_another_is_one_of_its_own),
		cmocka_unit_test(without_debug_information_the_symbol_is_told),
		cmocka_unit_test(assembler_units_have_lines_and_symbols_but_no_functions),
		cmocka_unit_test(an_address_outside_modules_has_no_place),
		cmocka_unit_test(answers_are_kept_by_address),
		cmocka_unit_test(units_without_aranges_are_found_beside_those_with),
		cmocka_unit_test(a_call_site_is_found_by_its_return_address),
	};
	setenv("TMPDIR_XC", scratch_dir(), 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
