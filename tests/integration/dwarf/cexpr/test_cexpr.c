/* layer: dwarf */
/* Expressions: the meaning of names in a scope, operators on pointers, types and memory, and error messages. Arithmetic
 * is compared with the compiler's in tests/property/test_cexpr.c. */
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/format/format.h"
#include "dwarf/elf/symbol.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

static const char other_unit[] =
	"static int counter = 22; int shared = 5; static int only_here = 6;\n"
	"struct differs { char c[3]; } differs_there; struct same { int x; } same_there;\n"
	"static int node = 3, color = 4, flexible_tag = 5;\n"
	"int other(void) { static int calls = 44; return counter + calls++ + only_here + node + color; }\n";

static const char main_unit[] =
	"struct node { struct node *next; int value; char name[8]; unsigned flags : 3; int length_of_it;\n"
	"  union { int as_int; float as_float; }; };\n"
	"typedef struct node node_t; typedef int (*operation)(int, char *);\n"
	"enum color { RED, GREEN, BLUE = 7 };\n"
	"node_t *again = 0; operation last;\n"
	"struct flexible { int count; short items[]; };\n"
	"static int counter = 11; extern int shared; int other(void);\n"
	"struct differs { char c[5]; } differs_here; struct same { int x; } same_here;\n"
	"static __attribute__((noinline)) int node(int p) { return p + counter; } static int color = 8;\n"
	"struct node second = { 0, 2, \"second\", 5, 20, { 1065353216 } };\n"
	"struct node first = { &second, 1, \"first\", 3, 10, { 0 } };\n"
	"struct node several[2] = { { 0, 7, \"seven\", 0, 0, { 0 } }, { 0, 8, \"eight\", 0, 0, { 0 } } };\n"
	"int counted = 3; int four __attribute__((vector_size(16))) = {10, 20, 30, 40};\n"
	"struct node *head = &first, *nothing = 0, *wild = (struct node *)0x10;\n"
	"void *opaque = &first; long numbers[5] = {10, 20, 30, 40, 50}; int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
	"enum color paint = BLUE; volatile double ratio = 2.5; const char *greeting = \"hello\"; __thread int private "
	"= 77;\n"
	"static int plus(int a, char *b) { return a + !b; } operation op = plus;\n"
	"struct { struct flexible head; short tail[3]; } flexible = { { 3 }, { 7, 8, 9 } };\n"
	"static void __attribute__((noinline)) inner(int depth, struct node *node) {\n"
	"  int local = depth * 2; { int local = depth * 3; static int calls = 33; calls++;\n"
	"  *(volatile int *)0 = local + calls; } node->value = local; }\n"
	"int main(void) { int in_main = 99; int shared = 1234; private = 78; struct node here = first;\n"
	"  inner(21, &here); return in_main + other() + counter + shared + node(color); }\n";

struct fixture {
	struct xc_process *process;
	struct xc_frame_scope at;
	struct xc_arena arena;
};

static struct fixture fixture;

static int open_fixture(void **state)
{
	(void)state;
	const char *other = scratch_file("other.c", other_unit, strlen(other_unit));
	xc_auto(xc_freep) char *compiler = xc_asprintf("gcc -g -O0 -fno-pie -no-pie %s -x c", scratch_word(other));
	fixture.process = died(compiler, main_unit);
	CHECK_OK(xc_frame_scope_open(&fixture.at, fixture.process, NULL, 0));
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	xc_frame_scope_fini(&fixture.at);
	xc_arena_fini(&fixture.arena);
	close_process(fixture.process);
	return 0;
}

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

/* `spot` is the second line of the error's lines: the caret. */
static void expect_error(const char *expression, const char *part, const char *mark)
{
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&fixture.at, expression, &fixture.arena, &value);
	if (!err)
		fail_msg("%s: no error", expression);
	xc_auto(xc_freep) char *lines = xc_asprintf("%s\n%s", expression, mark);
	if (!strstr(err->message, part) || !err->lines || (mark && strcmp(err->lines, lines) != 0))
		fail_msg("%s: \"%s\", not \"%s\"\n%s\nnot\n%s", expression, err->message, part, err->lines, mark);
	xc_error_free(err);
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

static void errors_show_the_spot(void **state)
{
	(void)state;
	expect_error("head->foo", "no member `foo` in `struct node`", "      ^~~");
	expect_error("head->lenght_of_it", "did you mean `length_of_it`?", "      ^~~~~~~~~~~~");
	expect_error("1 + head.length", "did you mean `length_of_it`?", "         ^~~~~~");
	expect_error("*wild", "cannot read 32 bytes at 0x10: not mapped", "^");
	expect_error("1 + wild->value", "cannot read 4 bytes at 0x18: not mapped", "          ^~~~~");
	expect_error("wild->next->value", "cannot read 8 bytes at 0x10: not mapped", "      ^~~~");
	expect_error("nothing->value", "cannot read 4 bytes at 0x8: not mapped", "         ^~~~~");
	expect_error("numbers + head", "cannot be added", "        ^");
	expect_error("*opaque", "points to an unknown type", "^");
	expect_error("first + 1", "`struct node` is not a number", "      ^");
	expect_error("counter.x", "`int` has no members", "        ^");
	expect_error("counter[1]", "`int` has no elements", "       ^~~");
	expect_error("&1", "is not in memory", " ^");
	expect_error("&first.flags", "a bit-field has no address", "       ^~~~~");
	expect_error("1 / (counter - 11)", "division by zero", "  ^");
	expect_error("1 << 32", "a shift by 32 of the 32 bits", "  ^~");
	expect_error("counter = 3", "nothing can be assigned", "        ^");
	expect_error("counter++", "nothing can be assigned", "       ^~");
	expect_error("plus(1, 0)", "functions cannot be called", "    ^");
	expect_error("numbers[", "expected a value, but the expression ends", "        ^");
	expect_error("(1 + 2", "expected ), but the expression ends", "      ^");
	expect_error("1 2", "expected the end or an operator, found `2`", "  ^");
	expect_error("", "expected a value, but the expression ends", "^");
	expect_error("sizeof(struct nowhere)", "no struct `nowhere`", "              ^~~~~~~");
	expect_error("struct node", "`struct node` is a type, not a value", "^~~~~~~~~~~");
	expect_error("0x", "a number without digits", "^~");
	expect_error("099", "not an octal number", "^~~");
	expect_error("99999999999999999999", "more than 64 bits", "^~~~~~~~~~~~~~~~~~~~");
	expect_error("'ab", "a quote without its end", "^~~");
	expect_error("numbers[0]@0", "0 elements", "          ^");
	expect_error("(unsigned float)1", "do not form a type", " ^~~~~~~~~~~~~~");
	expect_error("(int)1e30", "1e+30 does not fit `int`", "^~~~~");
	expect_error("1 # 2", "found `#`", "  ^");
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

static void unknown_names_are_helped_with(void **state)
{
	(void)state;
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&fixture.at, "in_main", &fixture.arena, &value);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "no `in_main` here (frame 0, inner)"));
	assert_non_null(strstr(err->hint, "frame 1, main: --frame 1"));
	xc_error_free(err);
	err = xc_cexpr_value(&fixture.at, "greting", &fixture.arena, &value);
	assert_non_null(strstr(err->hint, "greeting"));
	xc_error_free(err);
}

/* A caller that only needs to know whether a name exists does not wait for a search of all names. */
static void unknown_names_are_not_helped_with_when_nobody_reads_it(void **state)
{
	(void)state;
	static const char *const names[] = {"greting", "in_main", "(struct greting *)0"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		struct xc_frame_scope terse = fixture.at;
		struct xc_value value;
		terse.without_hints = true;
		struct xc_error *err = xc_cexpr_value(&terse, names[i], &fixture.arena, &value);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_NOT_FOUND);
		assert_null(err->hint);
		xc_error_free(err);
	}
}

static void several_statics_of_one_name_are_listed(void **state)
{
	(void)state;
	/* a frame in no unit: no `counter` is preferred */
	struct xc_frame_scope nowhere = {.process = fixture.process, .thread = fixture.at.thread};
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&nowhere, "counter", &fixture.arena, &value);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_USAGE);
	assert_non_null(strstr(err->message, "`counter` is ambiguous: "));
	assert_non_null(strstr(err->message, "other.c:1"));
	assert_non_null(strstr(err->message, "<stdin>:"));
	xc_error_free(err);
	CHECK_OK(xc_cexpr_value(&nowhere, "shared", &fixture.arena, &value));
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

/* A text of n times `before`, then `middle`, then n times `after`. */
static char *repeated(const char *before, const char *middle, const char *after, size_t n)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < n; i++)
		xc_text_add(&text, before);
	xc_text_add(&text, middle);
	for (size_t i = 0; i < n; i++)
		xc_text_add(&text, after);
	return xc_text_take(&text);
}

static void hostile_expressions_end_in_an_error(void **state)
{
	(void)state;
	static const struct {
		const char *before, *middle, *after, *part;
		size_t n;
	} cases[] = {{"(", "1", ")", "nested more than", 5000},
		     {"- ", "1", "", "nested more than", 5000},
		     {"", "1", "+1", "operators in a row", 3000},
		     {"", "numbers", "[0]", "operators in a row", 3000},
		     {"1?", "1", ":1", "nested more than", 3000},
		     {"(int(*)(", "", "", "", 1500},
		     {"(", "int(*)", ")", "", 3000},
		     {"sizeof(int", "1", "[2])", "", 1000},
		     {"(int ", "(", "*", "", 3000},
		     {"", "1", "+counter", "more than 500 names", 600},
		     {"a<", "b", ">", "", 3000},
		     {"", "1", "          ", "more than 16384 bytes", 3000}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *text = repeated(cases[i].before, cases[i].middle, cases[i].after, cases[i].n);
		struct xc_value value;
		struct xc_error *err = xc_cexpr_value(&fixture.at, text, &fixture.arena, &value);
		if (!err || !strstr(err->message, cases[i].part))
			fail_msg("case %zu: %s", i, err ? err->message : "no error");
		xc_error_free(err);
	}
}

static void a_frame_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct xc_frame_scope s;
	CHECK_ERROR(xc_frame_scope_open(&s, fixture.process, NULL, 1000), XC_ERR_NOT_FOUND,
		    "no frame 1000: the stack of");
	xc_frame_scope_fini(&s);
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
		cmocka_unit_test(errors_show_the_spot),
		cmocka_unit_test(unknown_names_are_helped_with),
		cmocka_unit_test(unknown_names_are_not_helped_with_when_nobody_reads_it),
		cmocka_unit_test(several_statics_of_one_name_are_listed),
		cmocka_unit_test(a_tag_is_a_type_whatever_else_has_its_name),
		cmocka_unit_test(a_type_that_units_define_differently_is_that_of_the_unit_or_ambiguous),
		cmocka_unit_test(a_function_in_two_pieces_has_an_address),
		cmocka_unit_test(hostile_expressions_end_in_an_error),
		cmocka_unit_test(a_frame_that_is_not_there_is_an_error),
	};
	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
