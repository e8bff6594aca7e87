/* layer: lua
 *
 * xcore.cdef in scripts: declared types read memory like any. */
#include <stdio.h>
#include <sys/types.h>

#include "core/elf/arch.h"
#include "lua/vm/host.h"
#include "tests/support/check.h"

enum { MEMORY = 0x10000 };

/* The types that the scripts declare, as laid out by the compiler. */
struct item {
	struct item *next;
	unsigned kind : 3;
	int delta : 9;
	char name[6];
	enum { COLD, HOT = 5 } heat;
	union {
		double real;
		struct {
			short low, high;
		};
	};
};

static const char declaration[] = "struct item { struct item *next; unsigned kind : 3; int delta : 9; char "
				  "name[NAME_SIZE]; enum heat { COLD, HOT = 5 } "
				  "heat; union { double real; struct { short low, high; }; }; };";

static struct item items[2];
static char printed[4096];

static void collect(void *user, const char *line, size_t len)
{
	(void)user;
	size_t at = strlen(printed);
	snprintf(printed + at, sizeof printed - at, "%.*s\n", (int)len, line);
}

static struct xc_process *open_process(void)
{
	struct xc_process *process = xc_process_new("cdef", false);
	process->arch = xc_arch_host();
	items[0] = (struct item){.next = (void *)(MEMORY + sizeof items[0]), .kind = 6, .delta = -200, .name = "first"};
	items[1] = (struct item){.kind = 1, .delta = 255, .name = "last", .heat = HOT, .low = -7, .high = 9};
	struct xc_segment segment = {
		.lo = MEMORY, .hi = MEMORY + sizeof items - 1, .provenance = XC_FROM_CORE, .bytes = (void *)items};
	xc_space_add(process->space, &segment);
	xc_space_seal(process->space);
	return process;
}

static struct xc_error *run_in(struct xc_process *process, const char *code)
{
	struct xc_host_options options = {
		.process = process, .name = "test", .limits = xc_limits_defaults(), .output = collect};
	struct xc_host *host = xc_host_new(&options);
	printed[0] = '\0';
	struct xc_error *err = xc_host_run(host, "test", code, strlen(code), NULL, 0);
	xc_host_free(host);
	return err;
}

static struct xc_error *run(const char *code)
{
	struct xc_process *process = open_process();
	char *whole = xc_asprintf("local C = xcore.cdef[[\n#define NAME_SIZE (2 * 3)\n%s]] local t = xcore.target %s",
				  declaration, code);
	struct xc_error *err = run_in(process, whole);
	free(whole);
	xc_process_close(process);
	return err;
}

static void assert_prints(const char *code, const char *expected)
{
	CHECK_OK(run(code));
	assert_string_equal(printed, expected);
}

static void declared_types_read_memory(void **state)
{
	(void)state;
	assert_prints(
		"local item = t:value('struct item', 0x10000) "
		"while item do print(xcore.str(item.name), item.kind, item.delta, item.low, xcore.enum(item, 'heat')) "
		"item = item.next end",
		"first\t6\t-200\t0\tCOLD\nlast\t1\t255\t-7\tHOT\n");
	assert_prints("print(xcore.cast(0x10000, 'struct item *').next.high, xcore.cast(0x10000, C:type 'struct item "
		      "*').kind)",
		      "9\t6\n");
}

static void sizes_and_places_are_the_compilers(void **state)
{
	(void)state;
	char expected[64];
	snprintf(expected, sizeof expected, "%zu\t%zu\t%zu\n", sizeof(struct item), offsetof(struct item, high),
		 offsetof(struct item, name[2]));
	assert_prints("print(xcore.sizeof 'struct item', xcore.offsetof('struct item', 'high'), "
		      "xcore.offsetof('struct item', 'name[2]'))",
		      expected);
}

static void constants_come_by_name(void **state)
{
	(void)state;
	assert_prints("print(C:constant 'NAME_SIZE', C:constant 'HOT', C:type 'enum heat', t:has_type 'struct item')",
		      "6\t5\tenum heat\ttrue\n");
}

static void a_later_text_uses_an_earlier_one(void **state)
{
	(void)state;
	assert_prints("local D = xcore.cdef 'struct two { struct item a, b; };' "
		      "print(t:value('struct two', 0x10000).b.delta, C:type 'struct two')",
		      "255\tstruct two\n");
}

static void private_texts_may_contradict_each_other(void **state)
{
	(void)state;
	assert_prints("local one = xcore.cdef('struct trial { int a, b; };', {private = true}) "
		      "local two = xcore.cdef('enum { SIZE = 3 }; struct trial { char b; };', {private = true}) "
		      "print(xcore.sizeof(one:type 'struct trial'), xcore.sizeof(two:type 'struct trial'), t:has_type "
		      "'struct trial', two:constant 'SIZE', (pcall(one.constant, one, 'SIZE'))) "
		      "xcore.cdef 'struct trial { short only; };' print(xcore.sizeof 'struct trial')",
		      "8\t1\tfalse\t3\tfalse\n2\n");
}

static void texts_are_bounded_however_often_they_come(void **state)
{
	(void)state;
	for (int own = 0; own < 2; own++) {
		xc_auto(xc_freep) char *code = xc_asprintf("local text = ('/'):rep(1000000) for i = 1, 70 do "
							   "xcore.cdef(text, {private = %s}) end",
							   own ? "true" : "false");
		xc_auto(xc_error_freep) struct xc_error *err = run(code);
		assert_non_null(err);
		assert_non_null(strstr(err->message, "declarations of more than 64 MiB"));
	}
}

static void errors_say_where_in_the_text(void **state)
{
	(void)state;
	assert_prints("local ok, e = pcall(xcore.cdef, 'int a;\\nstruct b { foo_t x; };') print(e.kind, e.message)",
		      "format\tline 2, column 12: no type `foo_t` is declared\n");
	assert_prints("local ok, e = pcall(C.type, C, 'struct none') print(e.kind, e.message)",
		      "not_found\tno struct `none` is declared\n");
	assert_prints("local ok, e = pcall(C.constant, C, 'NONE') print(e.kind)", "not_found\n");
	assert_prints("local ok, e = pcall(xcore.sizeof, 'struct none') print(e.kind)", "not_found\n");
	CHECK_ERROR(run("xcore.cdef('int\\0x;')"), XC_ERR_FORMAT, "NUL bytes");
	CHECK_ERROR(run("C.type({}, 'int')"), XC_ERR_FORMAT, "xcore.Declarations expected");
}

static void without_a_target_declarations_are_not_read(void **state)
{
	(void)state;
	CHECK_OK(run_in(NULL, "local C = xcore.cdef 'struct a { int x; };' print(pcall(C.constant, C, 'A'))"));
	assert_non_null(strstr(printed, "there is no target"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(declared_types_read_memory),
		cmocka_unit_test(sizes_and_places_are_the_compilers),
		cmocka_unit_test(constants_come_by_name),
		cmocka_unit_test(a_later_text_uses_an_earlier_one),
		cmocka_unit_test(private_texts_may_contradict_each_other),
		cmocka_unit_test(texts_are_bounded_however_often_they_come),
		cmocka_unit_test(errors_say_where_in_the_text),
		cmocka_unit_test(without_a_target_declarations_are_not_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
