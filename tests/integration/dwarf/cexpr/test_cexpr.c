/* layer: dwarf */
/* Expressions: the meaning of names in a scope, operators on pointers, types and memory. Arithmetic is compared with the
 * compiler's in tests/property/test_cexpr.c. */
#include "tests/integration/dwarf/cexpr/evaluated.h"

static struct xc_value evaluate(const char *expression)
{
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&fixture.at, expression, &fixture.arena, &value);
	if (err)
		fail_msg("%s: %s\n%s", expression, err->message, err->lines ? err->lines : "");
	return value;
}

static void expect(const char *expression, const char *wanted)
{
	struct xc_value value = evaluate(expression);
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	xc_format_value(&text, &value, &options);
	if (strcmp(xc_text_string(&text), wanted) != 0)
		fail_msg("%s: %s, not %s", expression, xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static void expect_type(const char *expression, const char *wanted)
{
	struct xc_value value = evaluate(expression);
	if (strcmp(xc_type_name(value.type), wanted) != 0)
		fail_msg("%s: a %s, not a %s", expression, xc_type_name(value.type), wanted);
}

static void stand_in(unsigned row)
{
	xc_frame_scope_fini(&fixture.at);
	CHECK_OK(xc_frame_scope_open(&fixture.at, fixture.process, NULL, row));
}

static void names_mean_what_the_compiler_found(void **state)
{
	(void)state;
	expect("depth", "21");
	expect("local", "63");   /* of the inner block */
	expect("calls", "34");   /* a static local in scope */
	expect("counter", "11"); /* the unit's own, not that of other.c */
	expect("shared", "5");
	expect("only_here", "6"); /* a static of another unit, the only one */
	expect("node->value", "1");
	stand_in(1);
	expect("in_main", "99");
	expect("shared", "1234"); /* a local hides the global */
	expect("::shared", "5");
	expect("here.value", "1");
	stand_in(0);
}

static void a_name_may_say_where_it_is_from(void **state)
{
	(void)state;
	expect("other.c::counter", "22");
	expect("'other.c'::counter", "22");
	expect("other::calls", "44");
	expect("inner::calls", "34");
	expect("program!shared", "5");
	expect("program!other.c::counter", "22");
	expect_error("other.c::nowhere", "no `nowhere` in file `other.c`", "^~~~~~~~~~~~~~~~");
	expect_error("libnone.so!x", "no module `libnone.so`", "^~~~~~~~~~~~");
}

static void thread_local_variables_are_those_of_the_thread(void **state)
{
	(void)state;
	expect("private", "78");
	expect("*&private + 1", "79");
}

static uint64_t number_of(const struct xc_frame_scope *at, struct xc_arena *arena, const char *expression)
{
	struct xc_value value;
	uint64_t number = 0;
	CHECK_OK(xc_cexpr_value(at, expression, arena, &value));
	if (!xc_value_load(&value, &number))
		fail_msg("%s is no number", expression);
	return number;
}

/* In a method the name of a class means the class, of its bases and of the templates around it, too, not what debug
 * information calls so: their constructors. */
static void the_name_of_a_class_in_its_methods(void **state)
{
	(void)state;
	struct xc_frame_scope at;
	struct xc_arena arena = {0};
	struct xc_process *p =
		died("g++ -g -O0 -x c++",
		     "namespace app { struct base { long id[3]; base(int n) { id[0] = n; } virtual ~base() {} };\n"
		     "template <typename T> struct box { T all[5]; box() : all() {} };\n"
		     "struct item : base { item *next; box<int> rest; item() : base(7), next(0) {} ~item() {}\n"
		     "  __attribute__((noinline)) long work(void *raw) { return ((item *)raw)->id[0] + *(volatile int "
		     "*)0; } "
		     "}; }\n"
		     "int main() { app::item one; return (int)one.work(&one); }\n");
	CHECK_OK(xc_frame_scope_open(&at, p, NULL, 0));
	assert_int_equal(number_of(&at, &arena, "sizeof(base)"), 32);
	assert_int_equal(number_of(&at, &arena, "sizeof(item)"), 64);
	assert_int_equal(number_of(&at, &arena, "sizeof(app::item)"), 64);
	assert_int_equal(number_of(&at, &arena, "((item *)raw)->id[0]"), 7);
	assert_int_equal(number_of(&at, &arena, "(long)(item *)raw == (long)this"), 1);
	xc_frame_scope_fini(&at);
	xc_arena_fini(&arena);
	close_process(p);
}

/* musl's list of modules has other fields than glibc's. */
static void thread_local_variables_of_musl(void **state)
{
	(void)state;
	struct xc_frame_scope at;
	struct xc_arena arena = {0};
	check_needs("musl-gcc");
	struct xc_process *p =
		died("musl-gcc -g -O0 -x c", "__thread int private = 77; __thread char name[24] = \"tape\"; "
					     "__thread long late;\n"
					     "int main(void) { late = private + 1; *(volatile int *)0 = 1; }\n");
	CHECK_OK(xc_frame_scope_open(&at, p, NULL, 0));
	assert_int_equal(number_of(&at, &arena, "private * 1000 + late"), 77078);
	assert_int_equal(number_of(&at, &arena, "name[1]"), 'a');
	xc_frame_scope_fini(&at);
	xc_arena_fini(&arena);
	close_process(p);
}

static void members_and_pointers_are_followed(void **state)
{
	(void)state;
	expect("head->next->name", "\"second\"");
	expect("head.next.name", "\"second\"");
	expect("(*head).value", "1");
	expect("head->next->name[0]", "115 's'");
	expect("second.as_float", "1");
	expect("first.flags + 0", "3");
	expect("several->value", "7"); /* an array decays to a pointer */
	expect("*head->next", "{next = 0x0, value = 2, name = \"second\", flags = 5, length_of_it = 20, {as_int = "
			      "1065353216, as_float = 1}}");
	expect("((struct node *)opaque)->value", "1");
	expect("(node_t*)opaque == head", "1");
	expect("*(int *)((char *)head + 8)", "1");
	expect("{int} ((char *)head + 8)", "1");
	expect("{struct node *} head == &second", "1");
	expect("numbers[2]@3", "{30, 40, 50}");
	expect("*numbers@2", "{10, 20}");
	expect("grid[1][2] + (*grid)[1]", "8");
	expect("*grid@2", "{{1, 2, 3}, {4, 5, 6}}");
	expect("&numbers[4] - numbers", "4");
	expect("&head->value == (int *)((long)head + 8)", "1");
	expect("flexible.head.items[2]", "9");
	expect("flexible.head.items[0]@flexible.head.count", "{7, 8, 9}");
	expect("greeting[1]", "101 'e'");
	expect("*greeting@5", "\"hello\"");
	expect("nothing == 0 && !nothing", "1");
	expect("nothing && nothing->value", "0"); /* not read */
	expect("&nothing->value", "0x8");
	expect("op == plus", "1");
	expect("*op == inner", "0");
}

static void types_are_those_of_c(void **state)
{
	(void)state;
	expect_type("head->next", "struct node *");
	expect_type("&numbers", "long (*)[5]");
	expect_type("&grid[1]", "int (*)[3]");
	expect_type("(unsigned long long)1", "unsigned long long");
	expect_type("(char *(*)[3])0", "char *(*)[3]");
	expect_type("(int (*)(void))0", "int (*)(void)");
	expect_type("(int (*(*)(char, ...))[2])0", "int (*(*)(char, ...))[2]");
	expect_type("(struct node const * const *)0", "const struct node * const *");
	expect_type("(operation)0", "operation");
	expect_type("paint", "enum color");
	expect_type("(enum color)7", "enum color");
	expect("(enum color)7", "BLUE");
	expect("GREEN", "GREEN");
	expect("paint == BLUE", "1");
	expect("sizeof(struct node)", "32");
	expect("sizeof(node_t[2])", "64");
	expect("sizeof numbers / sizeof *numbers", "5");
	expect("sizeof wild->next->next->name", "8"); /* not read */
	expect("sizeof(numbers[0]@3)", "24");
	expect("sizeof(wild->value@(1 + counted))", "16");
	expect("&four[2] == (int *)&four + 2 && four[2] == 30", "1");
	expect("sizeof(struct node *)", "8");
	expect("alignof(struct node)", "8");
	expect("(char[4])head->next->name", "\"seco\"");
	expect("(short[])flexible.tail", "{7, 8, 9}");
	expect("(uint8_t)300", "44 ','");
}

static void types_can_be_asked_for_without_reading(void **state)
{
	(void)state;
	static const struct {
		const char *text, *type;
		bool named;
	} cases[] = {{"struct node", "struct node", true},
		     {"node_t *", "node_t *", true},
		     {"head->next->name", "char [8]", false},
		     {"*wild", "struct node", false},
		     {"wild->next->next", "struct node *", false},
		     {"numbers[0] + ratio", "double", false},
		     {"unsigned long [4]", "unsigned long [4]", true}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		const struct xc_type *type;
		bool named;
		CHECK_OK(xc_cexpr_type(&fixture.at, cases[i].text, &fixture.arena, &type, &named));
		if (strcmp(xc_type_name(type), cases[i].type) != 0)
			fail_msg("%s: %s, not %s", cases[i].text, xc_type_name(type), cases[i].type);
		assert_int_equal(named, cases[i].named);
	}
}

static void registers_are_those_of_the_frame(void **state)
{
	(void)state;
	expect_type("$pc", "void (*)(void)");
	expect("$rip == $pc", "1");
	expect("$fp > (void *)&local", "1");
	expect("(unsigned)$rip == (unsigned)(long)$pc", "1");
	expect("$eax == (int)$rax && $ax == (short)$rax && $al == (signed char)$rax", "1");
	expect_error("$foo", "has no such register", "^~~~");
	stand_in(1);
	expect("$pc > (void *)main && $pc < (void *)((char *)main + 500)", "1");
	stand_in(0);
}

/* The cold part is at another place: such a function has ranges and no DW_AT_low_pc. */
static void a_function_in_two_pieces_has_an_address(void **state)
{
	(void)state;
	struct xc_frame_scope at;
	struct xc_value value;
	xc_addr symbol;
	struct xc_process *p =
		died("gcc -g -O2 -x c",
		     "#include <stdlib.h>\nvolatile int sink, *volatile null;\n"
		     "__attribute__((noinline)) int body(int a)\n"
		     "{ if (__builtin_expect(a > 9, 0)) { sink = 3; abort(); } *null = a; return a + sink; }\n"
		     "int main(int c, char **v) { return body(c) + sink; }\n");
	assert_true(xc_symbol_find(p, "body.cold", NULL, &symbol));
	assert_true(xc_symbol_find(p, "body", NULL, &symbol));
	CHECK_OK(xc_frame_scope_open(&at, p, NULL, 0));
	CHECK_OK(xc_cexpr_value(&at, "body", &fixture.arena, &value));
	assert_true(value.addr == symbol);
	xc_frame_scope_fini(&at);
	close_process(p);
}

static void expect_number(const struct xc_frame_scope *scope, const char *text, uint64_t want)
{
	struct xc_value value;
	uint64_t bits = 0;
	struct xc_error *err = xc_cexpr_value(scope, text, &fixture.arena, &value);
	if (err)
		fail_msg("%s: %s", text, err->message);
	assert_true(xc_value_load(&value, &bits));
	if (bits != want)
		fail_msg("%s: %llu, want %llu", text, (unsigned long long)bits, (unsigned long long)want);
}

/* In C a tag has a name space of its own (C11 6.2.3). */
static void a_tag_is_a_type_whatever_else_has_its_name(void **state)
{
	(void)state;
	struct xc_frame_scope nowhere = {.process = fixture.process, .thread = fixture.at.thread};
	const struct xc_frame_scope *scopes[] = {&fixture.at, &nowhere};
	for (size_t i = 0; i < XC_COUNT(scopes); i++) {
		expect_number(scopes[i], "sizeof(struct node)", 32);
		expect_number(scopes[i], "sizeof(struct node *)", 8);
		expect_number(scopes[i], "sizeof(struct node[3])", 96);
		expect_number(scopes[i], "sizeof(enum color)", 4);
		expect_number(scopes[i], "(enum color)7", 7);
		expect_number(scopes[i], "((struct node *)&first)->value", 1);
		expect_number(scopes[i], "(*(struct node *)&second).value", 2);
		expect_number(scopes[i], "({struct node} &first).value", 1);
		expect_number(scopes[i], "sizeof(struct flexible)", 4);
		expect_number(scopes[i], "sizeof(struct same)", 4);
	}
	expect_number(&fixture.at, "color", 8);
	static const char *const wrong[][2] = {{"sizeof(union node)", "no union `node`"},
					       {"(enum node)1", "no enum `node`"},
					       {"sizeof(struct color)", "no struct `color`"},
					       {"sizeof(struct counter)", "no struct `counter`"},
					       {"color", "`color` is ambiguous"}};
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		struct xc_value value;
		struct xc_error *err = xc_cexpr_value(&nowhere, wrong[i][0], &fixture.arena, &value);
		if (!err || !strstr(err->message, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err ? err->message : "no error");
		xc_error_free(err);
	}
}

/* Many files of a C program have a `struct entry` of their own. The frame is in main's unit, in the library, or not
 * known. */
static void a_type_that_units_define_differently_is_that_of_the_unit_or_ambiguous(void **state)
{
	(void)state;
	struct xc_frame_scope nowhere = {.process = fixture.process, .thread = fixture.at.thread}, outer;
	struct xc_value value;
	expect_number(&fixture.at, "sizeof(struct differs)", 5);
	expect_number(&fixture.at, "((struct differs *)&differs_here)->c[0]", 0);
	CHECK_OK(xc_frame_scope_open(&outer, fixture.process, NULL, 2));
	assert_string_not_equal(outer.frame.module->path, fixture.at.frame.module->path);
	struct xc_error *err = xc_cexpr_value(&outer, "sizeof(struct differs)", &fixture.arena, &value);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_USAGE);
	assert_non_null(strstr(err->message, "`differs` is ambiguous: "));
	xc_error_free(err);
	expect_number(&outer, "sizeof(struct same)", 4);
	expect_number(&outer, "sizeof(struct other.c::differs)", 3);
	xc_frame_scope_fini(&outer);
	expect_number(&nowhere, "sizeof(struct other.c::differs)", 3);
}

static void macros_stand_for_their_values(void **state)
{
	static const char source[] =
		"#define LIMIT 42\n#define SHIFTED (1u << 4)\n#define ALIAS (LIMIT + SHIFTED)\n"
		"#define LOOP LOOP2\n#define LOOP2 LOOP\n#define TEXT \"text\"\n#define variable 5\n"
		"#undef variable\n#define PAGE 1\n#undef PAGE\n#define PAGE 2\n"
		"int variable = 7; int main(void) { return *(volatile int *)0; }\n";
	struct xc_frame_scope at;
	struct xc_value value;
	uint64_t bits;
	(void)state;
	struct xc_process *p = died("gcc -g3 -x c", source);
	struct xc_arena arena = {0};
	CHECK_OK(xc_frame_scope_open(&at, p, NULL, 0));
	CHECK_OK(xc_cexpr_value(&at, "ALIAS * 2 + LIMIT", &arena, &value));
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 158);
	CHECK_OK(xc_cexpr_value(&at, "variable", &arena, &value)); /* existing names come first */
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 7);
	struct xc_error *err = xc_cexpr_value(&at, "LOOP", &arena, &value);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	xc_error_free(err);
	err = xc_cexpr_value(&at, "PAGE", &arena, &value);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "several meanings"));
	xc_error_free(err);
	xc_frame_scope_fini(&at);
	xc_arena_fini(&arena);
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(macros_stand_for_their_values),
		cmocka_unit_test(names_mean_what_the_compiler_found),
		cmocka_unit_test(a_name_may_say_where_it_is_from),
		cmocka_unit_test(thread_local_variables_are_those_of_the_thread),
		cmocka_unit_test(thread_local_variables_of_musl),
		cmocka_unit_test(the_name_of_a_class_in_its_methods),
		cmocka_unit_test(members_and_pointers_are_followed),
		cmocka_unit_test(types_are_those_of_c),
		cmocka_unit_test(types_can_be_asked_for_without_reading),
		cmocka_unit_test(registers_are_those_of_the_frame),
		cmocka_unit_test(a_tag_is_a_type_whatever_else_has_its_name),
		cmocka_unit_test(a_type_that_units_define_differently_is_that_of_the_unit_or_ambiguous),
		cmocka_unit_test(a_function_in_two_pieces_has_an_address),
	};
	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
