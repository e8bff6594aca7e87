/* layer: dwarf tier: long */
#include "dwarf/lookup/lookup.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dwarf/index/index.h"
#include "tests/support/grid.h"
#include "tests/support/looked.h"

static const char c_source[] =
	"struct node { struct node *next; long value; };\n"
	"enum colour { RED, GREEN = 7 };\n"
	"typedef struct node node_t;\n"
	"union both { int i; float f; };\n"
	"struct hidden;\n"
	"node_t head; static enum colour paint; struct hidden *secret; extern int elsewhere;\n"
	"static int helper(node_t *n) { return n->value + paint; }\n"
	"int main(void) { union both b = {1}; return *(volatile int *)0 + helper(&head) + b.i + (secret != 0); }\n";

static const char rust_source[] =
	"trait Shape { fn area(&self) -> f32; fn grow(&mut self); }\n"
	"struct Round { radius: f32 }\n"
	"impl Shape for Round { fn area(&self) -> f32 { self.radius } fn grow(&mut self) { self.radius += 1.0 } }\n"
	"fn main() {\n"
	"	let mut round = Round { radius: 2.0 };\n"
	"	{ let all: &mut dyn Shape = &mut round; all.grow(); }\n"
	"	let one: &dyn Shape = &round;\n"
	"	println!(\"{}\", one.area());\n"
	"	unsafe { *(one.area() as usize as *mut u8) = 1; }\n"
	"}\n";

static void names_of_c_are_found(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -x c", c_source);
	struct xc_definition node = one(p, "node", XC_NAME_TYPE);
	assert_int_equal(dwarf_tag(&node.die), DW_TAG_structure_type);
	assert_int_equal(size_of(p, "node_t"), 16);
	assert_int_equal(size_of(p, "both"), 4);
	assert_int_equal(one(p, "GREEN", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(one(p, "head", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_true(one(p, "head", XC_NAME_ANY).external);
	assert_false(one(p, "paint", XC_NAME_ANY).external);
	assert_int_equal(one(p, "helper", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(size_of(p, "long int"), 8);
	assert_int_equal(count_of(p, (struct xc_query){.name = "nothing"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "head", .kinds = XC_NAME_TYPE}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "node", .tag = DW_TAG_union_type}), 0);
	close_process(p);
}

static void declarations_are_found_when_asked_for(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -x c", c_source);
	assert_int_equal(count_of(p, (struct xc_query){.name = "hidden"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "hidden", .declarations = true}), 1);
	assert_int_equal(count_of(p, (struct xc_query){.name = "elsewhere"}), 0);
	close_process(p);
}

static const char *macro(const struct xc_process *process, const char *name)
{
	return one(process, name, XC_NAME_MACRO).macro;
}

static void macros_that_stand_for_numbers_are_found(void **state)
{
	static const char source[] = "#define LIMIT 42\n#define SHIFTED (1 << 4)\n#define ALIAS LIMIT\n#define EMPTY\n"
				     "#define CALL(x) x\n#define CODE do { } while (0)\n#undef LIMIT\n"
				     "int main(void) { return *(volatile int *)0; }\n";
	static const char *const compilers[] = {"gcc -g3 -x c", "gcc -g3 -gdwarf-4 -x c", "gcc -g3 -gz -x c",
						"clang -g -gdwarf-5 -fdebug-macro -x c"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], source);
		assert_string_equal(macro(p, "LIMIT"), "42");
		assert_string_equal(macro(p, "SHIFTED"), "(1 << 4)");
		assert_string_equal(macro(p, "ALIAS"), "LIMIT");
		assert_int_equal(count_of(p, (struct xc_query){.name = "EMPTY", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "CALL", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "CODE", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "LIMIT"}), 0);
		close_process(p);
	}
}

static void check_process(struct xc_process *p)
{
	assert_int_equal(size_of(p, "outer::Box<unsigned long>"), 8);
	assert_int_equal(size_of(p, "outer::Box<long unsigned int>::Inner"), 16);
	assert_int_equal(size_of(p, "::outer::Shape::Corner"), 8);
	assert_int_equal(size_of(p, "outer::Versioned"), 11);
	assert_int_equal(size_of(p, "outer::v1::Versioned"), 11);
	assert_int_equal(one(p, "outer::unseen", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Mode::Fast", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Fast"}), 0);
	assert_int_equal(one(p, "outer::Good", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(one(p, "outer::limit", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(one(p, "outer::Shape::Corner::twin", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(one(p, "outer::Box<unsigned long>::count", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Box<unsigned long>::grow", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "Shape"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "Shape", .kinds = XC_NAME_TYPE, .anywhere = true}), 1);
	close_process(p);
}

static void check_cpp(const char *compiler)
{
	check_process(died(compiler, cpp_source));
}

/* Through an object file that is kept. */
static void check_split(const char *compiler)
{
	char command[1024];
	scratch_file("split/shape.cc", cpp_source, sizeof cpp_source - 1);
	snprintf(command, sizeof command, "cd %s && rm -f *.o *.dwo && %s -c shape.cc && %s -o program shape.o",
		 scratch_word(scratch_path("split")), compiler, compiler);
	if (system(command) != 0)
		fail_msg("%s", command);
	const char *core = dying_core(scratch_path("split/program"), NULL);
	check_process(open_in(core, scratch_path("split-cache")));
	check_process(open_in(core, scratch_path("split-cache"))); /* from the cached one */
}

static void names_of_cpp_are_found_as_gcc_writes_them(void **state)
{
	(void)state;
	check_cpp("g++ -g -x c++");
}

static void names_of_cpp_are_found_as_clang_writes_them(void **state)
{
	(void)state;
	check_cpp("clang++ -g -gdwarf-5 -x c++");
	check_cpp("clang++ -g -gsimple-template-names -x c++");
}

/* Many types with the same name and place: they are neither merged nor mistaken for each other. */
static void templates_without_their_arguments_are_told_apart(void **state)
{
	(void)state;
	struct xc_process *p =
		died("clang++ -g -gsimple-template-names -x c++",
		     "template <class T, int N> struct box { struct in { T t[N]; } i; };\n"
		     "template <char C> struct one { int x; };\n"
		     "box<int, 3> a; box<char, 5> b; box<int, 4>::in c; one<'a'> d; one<'b'> e; struct box2 {} f;\n"
		     "int main() { return *(volatile int *)0; }\n");
	assert_int_equal(size_of(p, "box<int, 3>"), 12);
	assert_int_equal(size_of(p, "box<char,5>"), 5);
	assert_int_equal(size_of(p, "box<char, 5>::in"), 5);
	assert_int_equal(size_of(p, "box<int, 4>::in"), 16);
	assert_int_equal(size_of(p, "one<'a'>"), 4);
	assert_int_equal(count_of(p, (struct xc_query){.name = "one<'c'>"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "box<int, 5>::in"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "one"}), 2);
	close_process(p);
}

static void names_of_cpp_are_found_in_dwarf_4_and_type_units(void **state)
{
	(void)state;
	check_cpp("g++ -g -gdwarf-4 -x c++");
	check_cpp("g++ -g -gdwarf-4 -fdebug-types-section -x c++");
	check_cpp("g++ -g -gdwarf-5 -fdebug-types-section -x c++");
	check_cpp("g++ -g -O2 -flto -x c++");
}

static void names_of_split_units_are_found(void **state)
{
	(void)state;
	check_split("clang++ -g -gdwarf-5 -gsplit-dwarf=single");
	check_split("g++ -g -gdwarf-5 -gsplit-dwarf");
	check_split("g++ -g -gdwarf-4 -gsplit-dwarf");
	check_split("g++ -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section");
}

/* ---- the cached file ---- */

/* ---- tables of the file ---- */

/* A table leads to the units, and their content equals that of the full index. */
static void check_table(const char *program)
{
	struct xc_process *p = open_in(dying_core(program, NULL), NULL);
	struct xc_index *index = xc_index_open(p, p->modules[0]);
	assert_false(xc_index_ready(index));
	struct xc_index *part = xc_index_partial(index, "outer::Shape", "Shape", 5);
	assert_non_null(part);
	assert_true(xc_index_table_count(xc_index_table(part)) > 0);
	xc_index_close(part);
	assert_null(xc_index_partial(index, "outer::Nothing", "Nothing", 7));
	xc_index_close(index);
	assert_int_equal(size_of(p, "outer::Shape"), 8);
	assert_int_equal(size_of(p, "outer::Box<unsigned long>::Inner"), 16); /* spelled differently there */
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Nothing"}), 0);
	close_process(p);
}

/* Enough units that one of them is a small part. */
static const char *program_of_units(const char *name, const char *compiler)
{
	char directory[512], command[2048];
	snprintf(directory, sizeof directory, "%s", scratch_path(name));
	mkdir(directory, 0700);
	snprintf(command, sizeof command, "%s/shape.cc", name);
	scratch_file(command, cpp_source, sizeof cpp_source - 1);
	snprintf(command, sizeof command,
		 "cd %s && for i in 1 2 3 4 5 6 7 8 9; do for k in $(seq 60); do echo \"struct filler_${i}_$k { int "
		 "n; "
		 "struct in { long m; } i; } v_${i}_$k; int f_${i}_$k(int n) { return n + $k; }\"; done >f$i.cc && "
		 "%s -c f$i.cc || exit 1; done && "
		 "%s -c shape.cc && %s *.o -o program",
		 scratch_word(directory), compiler, compiler, compiler);
	if (system(command) != 0)
		fail_msg("%s", command);
	snprintf(command, sizeof command, "%s/program", name);
	return scratch_path(command);
}

static void debug_names_lead_to_the_units(void **state)
{
	(void)state;
	check_table(program_of_units("with-names", "clang++ -g -gdwarf-5 -gpubnames"));
}

static void add_gdb_index(const char *program)
{
	char command[2048];
	snprintf(command, sizeof command,
		 "cd \"$(dirname %s)\" && gdb -nx -q --batch -ex 'save gdb-index .' program >log 2>&1 && "
		 "objcopy --add-section .gdb_index=program.gdb-index --set-section-flags .gdb_index=readonly program",
		 scratch_word(program));
	if (system(command) != 0)
		fail_msg("%s", command);
}

/* Built once; each caller gets a copy in a separate directory. */
static const char *with_gdb_index(const char *name)
{
	static const char *made;
	if (!made) {
		made = program_of_units("gdb-index", "g++ -g -gdwarf-4");
		add_gdb_index(made);
	}
	xc_auto(xc_freep) char *command =
		xc_asprintf("cp -r %s %s", scratch_word(scratch_path("gdb-index")), scratch_word(scratch_path(name)));
	assert_int_equal(system(command), 0);
	xc_auto(xc_freep) char *program = xc_asprintf("%s/program", name);
	return scratch_path(program);
}

static void a_gdb_index_leads_to_the_units(void **state)
{
	(void)state;
	check_table(with_gdb_index("whole-index"));
}

/* Whatever its bytes are, the names are those of .debug_info. */
static void a_damaged_gdb_index_misleads_nobody(void **state)
{
	(void)state;
	const char *program = with_gdb_index("bad-index");
	char path[600], command[1400];
	snprintf(path, sizeof path, "%s.gdb-index", program);
	off_t size = stat_of(path).st_size;
	const char *core = dying_core(program, NULL); /* of one crash: damaged data is not loaded */
	for (off_t at = 0; at < size; at += (off_t)(at < 64 ? grid_count(3, 1) : (size_t)size / grid_count(6, 24))) {
		flip(path, at);
		snprintf(command, sizeof command, "objcopy --update-section .gdb_index=%s %s", scratch_word(path),
			 scratch_word(program));
		assert_int_equal(system(command), 0);
		struct xc_process *p = open_in(core, NULL);
		assert_int_equal(size_of(p, "outer::Shape"), 8);
		assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Nothing"}), 0);
		close_process(p);
		flip(path, at);
	}
}

static bool collect(void *context, const char *name, const struct xc_definition *d)
{
	struct xc_text *text = context;
	if (d->kind == XC_NAME_TYPE && !strncmp(name, "outer::", 7))
		xc_text_printf(text, "%s\n", name);
	return true;
}

static void anonymous_namespaces_may_be_named(void **state)
{
	(void)state;
	struct xc_process *p = died("g++ -g -x c++", cpp_source);
	assert_int_equal(one(p, "outer::(anonymous namespace)::unseen", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	close_process(p);
}

/* One unit's assembler text many times, each with its own symbols: the assembler runs once, not for each of them. */
static const char copy_units[] = "{ unit = unit $0 \"\\n\" }\n"
				 "END { for (i = 1; i <= 270; i++) {\n"
				 "	one = unit\n"
				 "	gsub(/f_999/, \"f_\" i, one)\n"
				 "	gsub(/[.]L/, \"&\" i \"_\", one)\n"
				 "	gsub(/counter/, \"&\" i, one)\n"
				 "	gsub(/\"counter[0-9]+\"/, \"\\\"counter\\\"\", one)\n"
				 "	if (i > 1)\n"
				 "		gsub(/\t[.]file[^\\n]*\\n/, \"\", one)\n"
				 "	print one } }\n";

/* More units than can be listed have a variable of this name: the current unit's is included, and comes first. */
static void what_stands_near_is_found_among_many(void **state)
{
	char command[512];
	(void)state;
	scratch_file("many/copy.awk", copy_units, sizeof copy_units - 1);
	snprintf(command, sizeof command,
		 "cd %s && echo 'static int counter = 1; int f_999(void) { return counter; }' | gcc -g -S -x c -o - "
		 "- | "
		 "awk -f copy.awk >all.s && echo 'int main(void) { return *(volatile int *)0; }' >m.c && "
		 "gcc -g all.s m.c -o program",
		 scratch_word(scratch_path("many")));
	if (system(command) != 0)
		fail_msg("%s", command);
	struct xc_process *p = open_core(dying_core(scratch_path("many/program"), NULL));
	struct xc_definition near = one(p, "f_269", XC_NAME_FUNCTION), found;
	struct xc_query query = {.name = "counter", .kinds = XC_NAME_VARIABLE, .near = &near.die};
	struct xc_definitions all = {0};
	CHECK_OK(xc_lookup(p, &query, &all));
	assert_int_equal(all.count, XC_LOOKUP_MAX);
	assert_true(all.more);
	assert_ptr_equal(all.items[0].die.cu, near.die.cu);
	xc_definitions_fini(&all);
	assert_true(xc_lookup_one(p, &query, &found));
	assert_ptr_equal(found.die.cu, near.die.cu);
	close_process(p);
}

/* Structs that files of C keep to themselves: a file sees its own; who has only heard of them, sees none. */
static void a_declaration_is_that_of_its_own_unit_or_of_all(void **state)
{
	char command[1000];
	(void)state;
	scratch_file("units/none", "", 0);
	snprintf(
		command, sizeof command,
		"cd %s && echo 'struct state { long a; }; struct state *first_state(void) { static struct state s; "
		"return &s; "
		"}' >first.c && echo 'struct state { long a, b, c; }; struct shared { int a; }; struct shared shared;\n"
		"struct state *other_state(void) { static struct state s; return &s; }' >other.c &&\n"
		"echo 'struct state; struct shared; struct state *unknown; struct shared *known;\n"
		"int main(void) { return *(volatile int *)0 + (unknown != 0) + (known != 0); }' >m.c &&\n"
		"gcc -g first.c other.c m.c -o program",
		scratch_word(scratch_path("units")));
	if (system(command) != 0)
		fail_msg("%s", command);
	struct xc_process *p = open_core(dying_core(scratch_path("units/program"), NULL));
	struct xc_definition first = one(p, "first_state", XC_NAME_FUNCTION),
			     other = one(p, "other_state", XC_NAME_FUNCTION), main = one(p, "main", XC_NAME_FUNCTION),
			     found;
	struct xc_query query = {.name = "state", .kinds = XC_NAME_TYPE, .near = &first.die, .agreed = true};
	assert_true(xc_lookup_one(p, &query, &found));
	assert_int_equal(dwarf_bytesize(&found.die), 8);
	query.near = &other.die;
	assert_true(xc_lookup_one(p, &query, &found));
	assert_int_equal(dwarf_bytesize(&found.die), 24);
	query.near = &main.die;
	assert_false(xc_lookup_one(p, &query, &found));
	query.name = "shared";
	assert_true(xc_lookup_one(p, &query, &found));
	struct xc_definition unknown = one(p, "unknown", XC_NAME_VARIABLE), known = one(p, "known", XC_NAME_VARIABLE);
	struct xc_types *types = xc_types_of(p);
	const struct xc_type *of_unknown = xc_type_of(types, &unknown.die), *of_known = xc_type_of(types, &known.die);
	assert_true(xc_type_complete(xc_type_strip(of_unknown)->target)->is_declaration);
	assert_false(xc_type_complete(xc_type_strip(of_known)->target)->is_declaration);
	close_process(p);
}

/* The first search passes over other modules; that it has found nothing is no answer to a thorough one. */
static void a_thorough_search_is_not_spoiled_by_one_before(void **state)
{
	char command[1000];
	(void)state;
	scratch_file("far/none", "", 0);
	snprintf(command, sizeof command,
		 "cd %s && echo 'struct far { int a, b; }; struct far far; struct far *of_far(void) { return &far; }' "
		 ">far.c "
		 "&&\n"
		 "echo 'struct far; struct far *of_far(void); struct far *held;\n"
		 "int main(void) { held = of_far(); return *(volatile int *)0; }' >m.c &&\n"
		 "gcc -g -shared -fPIC far.c -o libfar.so && gcc -g m.c -o program -L. -lfar -Wl,-rpath,$PWD",
		 scratch_word(scratch_path("far")));
	if (system(command) != 0)
		fail_msg("%s", command);
	struct xc_process *p = open_core(dying_core(scratch_path("far/program"), NULL));
	struct xc_definition held = one(p, "held", XC_NAME_VARIABLE);
	struct xc_types *types = xc_types_of(p);
	const struct xc_type *far = xc_type_strip(xc_type_of(types, &held.die))->target;
	assert_true(xc_type_complete(far)->is_declaration);
	types->thorough = true;
	assert_false(xc_type_complete(far)->is_declaration);
	close_process(p);
}

/* Names of wide pointers are full paths. */
static void types_of_rust_are_found_by_their_paths(void **state)
{
	char command[512];
	(void)state;
	check_needs("rustc");
	scratch_file("rusty.rs", rust_source, sizeof rust_source - 1);
	snprintf(command, sizeof command, "cd %s && rustc -g rusty.rs 2>/dev/null", scratch_word(scratch_path("")));
	if (system(command) != 0)
		fail_msg("%s", command);
	struct xc_process *p = open_core(dying_core(scratch_path("rusty"), NULL));
	assert_int_equal(size_of(p, "rusty::Round"), 4);
	assert_int_equal(size_of(p, "&dyn rusty::Shape"), 16);
	assert_int_equal(size_of(p, "&mut dyn rusty::Shape"), 16);
	assert_int_equal(count_of(p, (struct xc_query){.name = "Shape", .kinds = XC_NAME_TYPE}), 0);
	close_process(p);
}

static void all_names_are_listed_in_the_order_of_the_file(void **state)
{
	(void)state;
	struct xc_process *p = died("g++ -g -x c++", cpp_source);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_lookup_each(p, p->modules[0], XC_NAME_ANY, collect, &text);
	assert_string_equal(xc_text_string(&text), "outer::v1::Versioned\nouter::Shape\nouter::Shape::Corner\n"
						   "outer::Mode\nouter::Old\nouter::Box<long unsigned int>\n"
						   "outer::Box<long unsigned int>::Inner\n");
	close_process(p);
}

static void near_names_are_offered(void **state)
{
	(void)state;
	struct xc_process *p = died("g++ -g -x c++", cpp_source);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_query query = {.name = "outer::Shap", .kinds = XC_NAME_TYPE, .module = p->modules[0]};
	assert_true(xc_lookup_similar(p, &query, 3, &text) > 0);
	assert_non_null(strstr(text.bytes, "outer::Shape"));
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_c_are_found),
		cmocka_unit_test(declarations_are_found_when_asked_for),
		cmocka_unit_test(names_of_cpp_are_found_as_gcc_writes_them),
		cmocka_unit_test(names_of_cpp_are_found_as_clang_writes_them),
		cmocka_unit_test(templates_without_their_arguments_are_told_apart),
		cmocka_unit_test(names_of_cpp_are_found_in_dwarf_4_and_type_units),
		cmocka_unit_test(names_of_split_units_are_found),
		cmocka_unit_test(macros_that_stand_for_numbers_are_found),
		cmocka_unit_test(debug_names_lead_to_the_units),
		cmocka_unit_test(a_gdb_index_leads_to_the_units),
		cmocka_unit_test(a_damaged_gdb_index_misleads_nobody),
		cmocka_unit_test(anonymous_namespaces_may_be_named),
		cmocka_unit_test(what_stands_near_is_found_among_many),
		cmocka_unit_test(a_declaration_is_that_of_its_own_unit_or_of_all),
		cmocka_unit_test(a_thorough_search_is_not_spoiled_by_one_before),
		cmocka_unit_test(types_of_rust_are_found_by_their_paths),
		cmocka_unit_test(all_names_are_listed_in_the_order_of_the_file),
		cmocka_unit_test(near_names_are_offered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
