/* layer: triage */
/* The argument of free() when glibc found the heap damaged; the truth is in the source. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\nstruct order { long id; char name[40]; }; volatile int sink;\n"     \
	"__attribute__((noinline)) void drop(char *it) { free(it); sink = 1; }\n"
static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void expect_all(const char *source, const struct wanted *want)
{
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_block_that_was_freed_twice_is_told_as_free(void **state)
{
	(void)state;
	expect_all(HEAD "int main(void) { char *volatile a = malloc(40); drop(a); drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "double free",
				    .function = "drop",
				    .says = "which is free already: free block (heap, tcache, 40 bytes)",
				    .without = "overwritten"});
}

static void a_pointer_that_is_no_block_is_told_as_what_it_is(void **state)
{
	(void)state;
	expect_all(
		HEAD
		"int main(void) { char local[64]; memset(local, 0, 64); drop(local + 16); return sink + local[3]; }\n",
		&(struct wanted){.class_name = "heap-corruption",
				 .kind = "bad pointer",
				 .function = "drop",
				 .says = "which is: stack of thread"});
	expect_all(HEAD "int main(void) { char *volatile a = calloc(1, 40); drop(a + 16); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "bad pointer",
				    .function = "drop",
				    .says = "40 bytes) +0x10"});
}

/* glibc prints "double free or corruption" for both. */
static void an_overrun_is_no_double_free(void **state)
{
	(void)state;
	expect_all(HEAD
		   "char *volatile b; int main(void) { char *volatile a = malloc(2008); b = malloc(2008); malloc(40);\n"
		   " ((volatile size_t *)(a + 2008))[0] = 0x7e0; drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption", .kind = "overrun", .function = "drop"});
	expect_all(HEAD "char *volatile b; int main(void) { char *volatile a = malloc(2008); b = malloc(40); drop(a); "
			"drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "double free",
				    .function = "drop",
				    .says = "which is free already"});
}

/* glibc prints "munmap_chunk(): invalid pointer" if the bytes written over the header have the bit of a mapped chunk,
 * and "free(): invalid pointer" if the size is so large that the block would end past all memory. */
static void a_block_whose_header_was_overwritten_is_no_bad_pointer(void **state)
{
	static const char *const writes[] = {"for (int i = 0; i < 32; i++) ((volatile char *)a)[i] = 'B';",
					     "((volatile size_t *)a)[3] = ~(size_t)15;"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(writes); i++) {
		xc_auto(xc_freep) char *source = xc_asprintf(
			HEAD "char *volatile b; int main(void) { char *volatile a = malloc(24); b = malloc(24); "
			     "malloc(40);\n %s drop(b); return sink; }\n",
			writes[i]);
		expect_all(source, &(struct wanted){.class_name = "heap-corruption",
						    .kind = "overrun",
						    .function = "drop",
						    .says = "was likely written past its end"});
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_was_freed_twice_is_told_as_free),
		cmocka_unit_test(a_pointer_that_is_no_block_is_told_as_what_it_is),
		cmocka_unit_test(an_overrun_is_no_double_free),
		cmocka_unit_test(a_block_whose_header_was_overwritten_is_no_bad_pointer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
