/* layer: dwarf */
#include "dwarf/index/index.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/grid.h"
#include "tests/support/looked.h"

/* The core of a program built by a command in a separate directory. */
static const char *core_of(const char *command)
{
	static int number;
	char name[32], line[2048];
	snprintf(name, sizeof name, "made-%d/x", number++);
	scratch_file(name, "", 0);
	*strrchr(name, '/') = '\0';
	snprintf(line, sizeof line, "cd %s && %s", scratch_word(scratch_path(name)), command);
	if (system(line) != 0)
		fail_msg("%s", line);
	snprintf(line, sizeof line, "%s/program", name);
	return dying_core(scratch_path(line), NULL);
}

static struct xc_process *made(const char *command)
{
	return open_core(core_of(command));
}

#define DIES "int main(void) { return *(volatile int *)0; }"

static size_t types_named(const struct xc_process *p, const char *name)
{
	return count_of(p, (struct xc_query){.name = name, .kinds = XC_NAME_TYPE});
}

/* Two units make two structs of one line and size. */
static void structs_that_a_macro_makes_differ_are_two(void **state)
{
	(void)state;
	struct xc_process *p = made(
		"printf 'struct clock { int hour;\n#ifdef NEW\nlong zone;\n#else\nlong __zone;\n#endif\n};\n' >c.h; "
		"printf '#include \"c.h\"\nstruct clock a; int f(void) { return a.hour; }\n' >a.c; "
		"printf '#define NEW\n#include \"c.h\"\nstruct clock b; " DIES "\n' >b.c; "
		"printf '#include \"c.h\"\nstruct clock c;\n' >c.c; gcc -g a.c b.c c.c -o program");
	assert_int_equal(types_named(p, "clock"), 2);
	close_process(p);
}

/* Files of one program give their own types the same name, on the same line. */
static void private_types_of_c_that_differ_are_two(void **state)
{
	(void)state;
	struct xc_process *p = made(
		"printf 'typedef int handle_t; typedef struct { int a; } priv; enum mode { OFF, ON }; typedef long "
		"same;\nhandle_t h1; priv p1; enum mode m1; same s1; " DIES "\n' >a.c; "
		"printf 'typedef char handle_t; typedef struct { int b; } priv; enum mode { IN, OUT }; typedef long "
		"same;\nhandle_t h2; priv p2; enum mode m2; same s2;\n' >b.c; gcc -g a.c b.c -o program");
	assert_int_equal(types_named(p, "handle_t"), 2);
	assert_int_equal(types_named(p, "priv"), 2);
	assert_int_equal(types_named(p, "mode"), 2);
	assert_int_equal(types_named(p, "same"), 1);
	close_process(p);
}

/* The first unit with the class needs less of it than the second. */
static void nested_types_that_another_unit_completes_are_found(void **state)
{
	static const char *const compilers[] = {"g++",           "clang++ -fno-standalone-debug",
						"g++ -gdwarf-4", "g++ -flto -O1",
						"g++ -gdwarf64", "g++ -fdebug-types-section"};
	char command[1024];
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		snprintf(command, sizeof command,
			 "echo 'template <class T> struct Box { T v; struct Inner { T a[3]; }; typedef long Alias; "
			 "Inner *p; "
			 "}; struct Widget { struct Impl; Impl *impl; int poke(); };' >b.h; "
			 "echo '#include \"b.h\"\nBox<int> a; Widget w; int b(); int main() { return b() + w.poke() + "
			 "*(volatile int *)0; }' >a.cc; "
			 "echo '#include \"b.h\"\nBox<int> c; Box<int>::Inner in; Box<int>::Alias al = 1; struct "
			 "Widget::Impl { struct Deep { char d[5]; } deep; }; Widget::Impl im; Widget w2; int b() { "
			 "return "
			 "al + in.a[0] + im.deep.d[0]; } int Widget::poke() { return w2.impl != 0; }' >b.cc; "
			 "%s -g a.cc b.cc -o program",
			 compilers[i]);
		struct xc_process *p = made(command);
		assert_int_equal(size_of(p, "Box<int>::Inner"), 12);
		assert_int_equal(size_of(p, "Box<int>::Alias"), 8);
		assert_int_equal(size_of(p, "Widget::Impl::Deep"), 5);
		close_process(p);
	}
}

/* clang puts DW_AT_const_value, the variable's initial value, at the class's declaration. */
static void a_variable_is_preferred_to_its_first_value(void **state)
{
	(void)state;
	struct xc_process *p = died("clang++ -g -std=c++17 -x c++",
				    "struct Holder { static inline long total = 7; int x; } holder;\n"
				    "int main() { return ++Holder::total + holder.x + *(volatile int *)0; }\n");
	struct xc_definition total = one(p, "Holder::total", XC_NAME_VARIABLE);
	assert_true(dwarf_hasattr(&total.die, DW_AT_location));
	close_process(p);
}

/* ---- names in other units ---- */

static bool has_code(const struct xc_process *p, const char *name)
{
	struct xc_definition d = one(p, name, XC_NAME_FUNCTION);
	return dwarf_hasattr(&d.die, DW_AT_low_pc) || dwarf_hasattr(&d.die, DW_AT_ranges);
}

static const char shared[] =
	"echo 'struct Shape { __attribute__((noinline)) int area(int); static int made; __attribute__((noinline)) int "
	"hidden(int n) { return n + x; } int x; }; static __attribute__((noinline)) int copy(int n) { return n + 3; }' "
	">s.h; "
	"echo '#include \"s.h\"\nint Shape::made = 3; int Shape::area(int n) { return n + ++made; } int other(int); "
	"int main() { Shape s{1}; return s.area(copy(2)) + other(s.hidden(1)) + *(volatile int *)0; }' >a.cc; "
	"echo '#include \"s.h\"\nint other(int n) { Shape s{2}; return s.hidden(copy(n)); }' >b.cc; ";

static void check_shared(const char *compile, size_t copies)
{
	char command[2048];
	snprintf(command, sizeof command, "%s%s", shared, compile);
	struct xc_process *p = made(command);
	assert_true(has_code(p, "Shape::area"));
	assert_true(has_code(p, "Shape::hidden"));
	struct xc_definition made_variable = one(p, "Shape::made", XC_NAME_VARIABLE);
	assert_true(dwarf_hasattr(&made_variable.die, DW_AT_location));
	struct xc_definitions found = {0};
	CHECK_OK(xc_lookup(p, &(struct xc_query){.name = "copy", .kinds = XC_NAME_FUNCTION, .module = p->modules[0]},
			   &found));
	assert_int_equal(found.count, copies);
	for (size_t i = 0; i < found.count; i++)
		assert_true(dwarf_hasattr(&found.items[i].die, DW_AT_low_pc));
	xc_definitions_fini(&found);
	close_process(p);
}

static void what_dwz_shares_within_a_file_keeps_its_place(void **state)
{
	(void)state;
	check_shared("g++ -g -O1 a.cc b.cc -o program && dwz program", 2);
}

static void what_dwz_moves_to_another_file_keeps_its_place(void **state)
{
	(void)state;
	check_shared("g++ -g -O1 a.cc b.cc -o program && g++ -g -O1 -DX=1 b.cc a.cc -o second && "
		     "dwz -m common program second",
		     2);
}

static void what_link_time_optimisation_moves_keeps_its_place(void **state)
{
	(void)state;
	check_shared("g++ -g -O1 -flto -fno-ipa-icf a.cc b.cc -o program", 2);
}

/* Their entries have the same offsets in separate files. */
static void private_things_of_split_units_are_all_there(void **state)
{
	char name[32];
	(void)state;
	struct xc_process *p =
		made("for u in 1 2 3 4 5 6 7 8; do for i in $(seq 100); do echo \"static int f_${u}_$i(int n) { "
		     "return n + $i; } int g_${u}_$i(int n) { return f_${u}_$i(n); }\"; done >$u.c; done; echo '" DIES
		     "' >m.c; gcc -g -gsplit-dwarf *.c -o program");
	for (int unit = 1; unit <= 8; unit++) {
		for (int i = 1; i <= 100; i++) {
			snprintf(name, sizeof name, "f_%d_%d", unit, i);
			assert_true(has_code(p, name));
		}
	}
	close_process(p);
}

/* ---- independent of the threads' timing ---- */

/* The bytes of an index built by a number of threads; malloc'ed. */
static uint8_t *built_by(const char *core, unsigned jobs, uint64_t *size_out)
{
	static struct xc_finder finder;
	struct xc_process *p;
	finder = (struct xc_finder){.quiet = true, .jobs = jobs};
	CHECK_OK(xc_process_open_core(core, &(struct xc_open_options){.finder = &finder}, &p));
	xc_debugfiles_use(p, &finder);
	struct xc_index *index = xc_index_open(p, p->modules[0]);
	xc_index_rebuild(index);
	const struct xc_index_table *table = xc_index_table(index);
	*size_out = table->header.size;
	uint8_t *bytes = xc_alloc(*size_out);
	memcpy(bytes, table->bytes, *size_out);
	xc_index_close(index);
	close_process(p);
	return bytes;
}

/* Units large enough to give every thread some; every class and macro differs a little between units. */
static void an_index_does_not_depend_on_threads(void **state)
{
	static const char *const compilers[] = {"g++ -w -g3", "clang++ -w -g -gdwarf-5 -fdebug-macro",
						"g++ -w -g -O1 -flto"};
	char command[1024];
	(void)state;
	GRID(i, XC_COUNT(compilers)) {
		snprintf(command, sizeof command,
			 "for u in 1 2 3 4 5 6 7 8; do for i in $(seq %zu); do echo \"struct s_$i { struct in_$((u / "
			 "2)) { "
			 "int x; } *p; static int f(int n) { return n + $u; } }; s_$i v_${i}_$u; s_$i::in_$((u / 2)) "
			 "w_${i}_$u; "
			 "\n#define M_$i ($i + $((u / 3)))\nint g_${i}_$u(int n) { return s_$i::f(n); }\"; done "
			 ">$u.cc; done; "
			 "echo '" DIES "' >m.cc; %s *.cc -o program 2>/dev/null",
			 grid_count(100, 300), compilers[i]);
		const char *core = core_of(command);
		uint64_t size, again;
		uint8_t *bytes = built_by(core, 1, &size);
		for (unsigned jobs = 2; jobs < 8; jobs += (unsigned)grid_count(3, 1)) {
			uint8_t *others = built_by(core, jobs, &again);
			assert_int_equal(size, again);
			assert_memory_equal(bytes, others, size);
			free(others);
		}
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(structs_that_a_macro_makes_differ_are_two),
		cmocka_unit_test(private_types_of_c_that_differ_are_two),
		cmocka_unit_test(nested_types_that_another_unit_completes_are_found),
		cmocka_unit_test(a_variable_is_preferred_to_its_first_value),
		cmocka_unit_test(what_dwz_shares_within_a_file_keeps_its_place),
		cmocka_unit_test(what_dwz_moves_to_another_file_keeps_its_place),
		cmocka_unit_test(what_link_time_optimisation_moves_keeps_its_place),
		cmocka_unit_test(private_things_of_split_units_are_all_there),
		cmocka_unit_test(an_index_does_not_depend_on_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
