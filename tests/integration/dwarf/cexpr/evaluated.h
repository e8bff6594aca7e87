/* evaluated: expressions in the frames of a program of two units that crashed. */
#ifndef XC_TEST_EVALUATED_H
#define XC_TEST_EVALUATED_H

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/format/format.h"
#include "tests/support/opened.h"
#include "tests/support/scratch.h"

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

static inline int open_fixture(void **state)
{
	(void)state;
	const char *other = scratch_file("other.c", other_unit, strlen(other_unit));
	xc_auto(xc_freep) char *compiler = xc_asprintf("gcc -g -O0 -fno-pie -no-pie %s -x c", scratch_word(other));
	fixture.process = died(compiler, main_unit);
	CHECK_OK(xc_frame_scope_open(&fixture.at, fixture.process, NULL, 0));
	return 0;
}

static inline int close_fixture(void **state)
{
	(void)state;
	xc_frame_scope_fini(&fixture.at);
	xc_arena_fini(&fixture.arena);
	close_process(fixture.process);
	return 0;
}

/* `spot` is the second line of the error's lines: the caret. */
static inline void expect_error(const char *expression, const char *part, const char *mark)
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

#endif
