/* layer: triage tier: check */
/* Who set the member to NULL that a program dies of. */
#include "tests/support/grid.h"
#include "tests/support/many_deaths.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#define _GNU_SOURCE\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"                         \
	"struct buf { long used; char *data; };\n"                                                                     \
	"struct part { int id; struct buf *held; };\n"                                                                 \
	"struct conn { int fd; struct buf *out; struct part inner; struct conn *next; void (*done)(void); };\n"        \
	"volatile long zero; struct buf *shared; struct conn fixed;\n"                                                 \
	"static struct buf *fresh(void) { return calloc(1, sizeof(struct buf)); }\n"                                   \
	"static void nothing(void) { zero = 0; }\n"                                                                    \
	"__attribute__((noinline)) struct conn *made(void) { struct conn *c = calloc(1, sizeof *c); c->out = "         \
	"fresh();\n"                                                                                                   \
	"	c->inner.held = fresh(); c->done = nothing; c->next = calloc(1, sizeof *c); return c; }\n"                   \
	"static void detach(struct conn *c) { free(c->out); c->out = NULL; }\n"                                        \
	"static void detach_all(struct conn *head) {\n"                                                                \
	"	for (struct conn *at = head; at; at = at->next) { free(at->out); at->out = NULL; } }\n"                      \
	"static void unplug(struct part *p) { p->held = NULL; }\n"                                                     \
	"static void finish(struct conn *c) { c->done = NULL; }\n"                                                     \
	"static void close_shared(void) { shared = NULL; }\n"                                                          \
	"static void close_fixed(struct conn *c) { c->out = NULL; c->fd = -1; }\n"                                     \
	"static struct buf *volatile never;\n"                                                                         \
	"#define FAR __attribute__((noinline))\n"                                                                      \
	"FAR void use_out(struct conn *c) { zero = c->out->used; }\n"                                                  \
	"FAR void use_held(struct conn *c) { c->inner.held->used = zero + 1; zero = 1; }\n"                            \
	"FAR void use_done(struct conn *c) { c->done(); zero = 1; }\n"                                                 \
	"FAR void use_shared(void) { zero = shared->used; }\n"                                                         \
	"FAR void use_fixed(void) { zero = fixed.out->used; }\n"                                                       \
	"FAR void use_never(void) { struct buf *b = never; zero = b->used; }\n"

static const char *const bodies[] = {
	"struct conn *c = made(); detach(c); use_out(c);",
	"struct conn *c = made(); detach_all(c); use_out(c);",
	"struct conn *c = made(); unplug(&c->inner); use_held(c);",
	"struct conn *c = made(); finish(c); use_done(c);",
	"shared = fresh(); zero = 2; if (zero) close_shared(); use_shared();",
	"fixed.out = fresh(); zero = 2; if (zero) close_fixed(&fixed); use_fixed();",
	"use_never();",
	"struct conn *c = made(); use_held(c->next);",
};

static void expect(const struct wanted *cases, size_t first, size_t count)
{
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O2 -x c"};
	struct xc_text source = {0};
	many_deaths_begin(&source, HEAD);
	for (size_t i = 0; i < XC_COUNT(bodies); i++)
		many_deaths_add(&source, i, bodies[i]);
	many_deaths_end(&source);
	for (size_t i = 0; i < count; i++)
		GRID(k, XC_COUNT(compilers)) {
			struct wanted want = cases[i];
			want.argument = many_deaths_number(first + i);
			judged_expect(compilers[k], xc_text_string(&source), true, &want);
		}
	xc_text_fini(&source);
}

static void the_function_that_set_it_is_named(void **state)
{
	(void)state;
	static const struct wanted cases[] = {
		{.class_name = "null-read", .kind = "", .says = "set to NULL in ", .also = "detach ("},
		{.class_name = "null-read", .kind = "", .says = "set to NULL in ", .also = "detach_all ("},
		{.class_name = "null-write", .kind = "", .says = "set to NULL in unplug"},
		{.class_name = "call-null", .kind = "", .says = "set to NULL in finish"},
		{.class_name = "null-read", .kind = "", .says = "close_shared ("},
		{.class_name = "null-read", .kind = "", .says = "set to NULL in ", .also = "close_fixed ("},
	};
	expect(cases, 0, XC_COUNT(cases));
}

static void only_what_may_have_done_it_is_named(void **state)
{
	(void)state;
	static const struct wanted cases[] = {
		{.class_name = "null-read", .without = "set to NULL"},
		{.class_name = "null-write", .says = "set to NULL in unplug"},
	};
	expect(cases, 6, XC_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_function_that_set_it_is_named),
		cmocka_unit_test(only_what_may_have_done_it_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
