/* layer: dwarf */
/* Strings and slices of Go: as long as they say, not up to the next NUL; skipped without go. The expected values are
 * those that the program sets. */
#include <stdlib.h>

#include "tests/support/go_program.h"
#include "tests/support/opened.h"

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/format/format.h"

static const char source[] =
	"package main\nimport (\"os\"; \"runtime\"; \"syscall\")\ntype pair struct { key string; value []byte }\n"
	"var source = []byte(\"one two three\"); var text, empty string; var part []byte; var none []int\n"
	"var both pair; var several []string; var sink *int; var used int\n"
	"type ops struct { open func(int) int; close func(); name string }; var table ops; var made func() int\n"
	"//go:noinline\nfunc double(n int) int { return 2 * n }\n"
	"//go:noinline\nfunc counter(n int) func() int { return func() int { n++; return n } }\n"
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"
	"func main() { text = string(source)[:3]; part = source[4:7]; both = pair{text[1:], part[:1]}\n"
	"	table = ops{open: double, name: \"tape\"}; made = counter(table.open(2))\n"
	"	several = []string{text, text[:1]}; used = len(empty) + len(part) + len(none) + len(several) +\n"
	"	len(both.key) + made() + *sink }\n";

static void expect_symbol(const struct xc_frame_scope *at, struct xc_arena *arena, const char *expression,
			  const char *wanted)
{
	struct xc_value value;
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	CHECK_OK(xc_cexpr_value(at, expression, arena, &value));
	xc_format_value(&text, &value, &options);
	if (!xc_begins_with(xc_text_string(&text), "0x") || !strstr(xc_text_string(&text), wanted))
		fail_msg("%s: %s, not %s", expression, xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static void expect(const struct xc_frame_scope *at, struct xc_arena *arena, const char *expression, const char *wanted)
{
	struct xc_value value;
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	CHECK_OK(xc_cexpr_value(at, expression, arena, &value));
	xc_format_value(&text, &value, &options);
	if (strcmp(xc_text_string(&text), wanted) != 0)
		fail_msg("%s: %s, not %s", expression, xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static void strings_and_slices_end_where_their_length_says(void **state)
{
	(void)state;
	struct xc_frame_scope at;
	struct xc_arena arena = {0};
	char line[300];
	check_needs("go");
	struct xc_process *p = died(go_compiler("", line), source);
	CHECK_OK(xc_frame_scope_open(&at, p, NULL, 0));
	expect(&at, &arena, "'main.text'", "\"one\"");
	expect(&at, &arena, "'main.empty'", "\"\"");
	expect(&at, &arena, "'main.part'", "[]uint8 of length 3, capacity 9 = {116, 119, 111}");
	expect(&at, &arena, "'main.none'", "nil");
	expect(&at, &arena, "'main.several'", "[]string of length 2, capacity 2 = {\"one\", \"o\"}");
	expect(&at, &arena, "'main.both'", "{key = \"ne\", value = []uint8 of length 1, capacity 9 = {116}}");
	expect(&at, &arena, "'main.part'[1]", "119");
	/* a package's name alone is nothing: no quotes are needed */
	expect(&at, &arena, "main.text", "\"one\"");
	expect(&at, &arena, "main.part[1] + main.part.len", "122");
	expect(&at, &arena, "main.both.key", "\"ne\"");
	/* a variable of a function type is a pointer to a closure */
	expect_symbol(&at, &arena, "main.table.open", " <main.double>");
	expect_symbol(&at, &arena, "main.made", " <main.counter.func1");
	expect(&at, &arena, "main.table.close", "nil");
	xc_frame_scope_fini(&at);
	xc_arena_fini(&arena);
	close_process(p);
}

int main(void)
{
	setenv("GOTRACEBACK", "crash", 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_and_slices_end_where_their_length_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
