/* layer: triage tier: long */
/* Returns to an address that was written through a pointer of an object elsewhere. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n"                                                                   \
	"struct builder { char *tail, *end; char bytes[32]; };\nstruct pool { struct builder *free[3]; int count; "    \
	"};\n"                                                                                                         \
	"static volatile int zero;\n"                                                                                  \
	"__attribute__((noinline)) void put(struct builder *b, const char *text) { while (*text) *b->tail++ = "        \
	"*text++; }\n"                                                                                                 \
	"__attribute__((noinline)) int amount(struct builder *b, const char *text) { int n = strlen(text); b->tail = " \
	"(char *)__builtin_frame_address(0) + 8; put(b, text); return n + zero; }\n"                                   \
	"__attribute__((noinline)) int smash(const char *text) { char *at = (char *)__builtin_frame_address(0) + 8; "  \
	"while (*text) *at++ = *text++; return zero; }\n"                                                              \
	"__attribute__((noinline)) int add(struct builder *b, const char *text) { return amount(b, text) + zero; }\n"

static void expect(const char *source, const struct wanted *want)
{
	static const char *const compilers[] = {"gcc -x c -g -O0", "clang -x c -g -O0"};
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void the_pointer_that_stands_behind_what_it_wrote_is_told(void **state)
{
	(void)state;
	expect(HEAD
	       "int main(void) { struct pool pool = {{0}}; pool.free[1] = calloc(1, sizeof **pool.free); pool.count = "
	       "2; return add(pool.free[1], \"|-| \") + pool.count; }\n",
	       &(struct wanted){.class_name = "pc-control",
				.kind = "ret",
				.says = "likely by a write through `pool.free[1]->tail`, which leads there",
				.also = "bytes of the return address at 0x"});
	expect(HEAD "int main(void) { struct builder *b = calloc(1, sizeof *b); return add(b, \"abcdefgh\"); }\n",
	       &(struct wanted){.class_name = "pc-control",
				.kind = "ret",
				.says = "perhaps by a write through `b->tail`",
				.also = "leads to the byte behind the return address"});
}

static void a_pointer_that_leads_elsewhere_is_not(void **state)
{
	(void)state;
	expect(HEAD "struct span { struct span *up; const char *name; }; struct context { struct span *current; }; "
		    "__attribute__((noinline)) int handle(struct context *c) { struct span s = {c->current, \"h\"}; "
		    "c->current = (struct span *)((char *)__builtin_frame_address(0) - 0); int n = smash(\"|-| \"); "
		    "c->current = s.up; return n; } int main(void) { struct context *c = calloc(1, sizeof *c); return "
		    "handle(c); }\n",
	       &(struct wanted){.class_name = "pc-control", .kind = "ret", .without = "written through"});
	expect(HEAD "int main(void) { struct builder b = {b.bytes, b.bytes + 32, {0}}; put(&b, \"abc\"); return "
		    "smash(\"|-| \") + b.bytes[0]; }\n",
	       &(struct wanted){.class_name = "pc-control", .kind = "ret", .without = "written through"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pointer_that_stands_behind_what_it_wrote_is_told),
		cmocka_unit_test(a_pointer_that_leads_elsewhere_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
