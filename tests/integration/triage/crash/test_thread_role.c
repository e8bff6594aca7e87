/* layer: triage */
/* The role of a thread is the function that it was started with, and no other. */
#include "tests/support/opened.h"

#include "triage/locks/waits.h"

#define THREAD                                                                                                         \
	"#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\nvolatile int sink; int ready[2];\n"           \
	"__attribute__((noinline)) void inner(void) { char c = 1; sink += write(ready[1], &c, 1);\n"                   \
	"	for (;;) pause(); }\n"                                                                                       \
	"__attribute__((noinline)) void outer(void) { inner(); sink++; }\n"
#define MAIN                                                                                                           \
	"int main(void) { pthread_t t; char c; if (pipe(ready)) return 1; pthread_create(&t, 0, begin, 0);\n"          \
	"	sink = read(ready[0], &c, 1); abort(); }\n"

static const char named[] = THREAD "void *begin(void *a) { outer(); sink++; return a; }\n" MAIN;
static const char nameless[] = THREAD "static void *begin(void *a) { outer(); sink++; return a; }\n" MAIN;

static void expect(const char *compiler, const char *program, const char *role)
{
	struct xc_process *p = died(compiler, program);
	const struct xc_waits *waits = xc_waits_of(p);
	assert_int_equal(waits->count, 2);
	const char *got = waits->items[1].role;
	if (!role)
		assert_null(got);
	else
		assert_string_equal(got, role);
	close_process(p);
}

static void it_is_the_start_function(void **state)
{
	(void)state;
	expect("gcc -O0 -g -pthread -x c", named, "begin");
	expect("gcc -O1 -s -rdynamic -pthread -x c", named, "begin");
	expect("clang -O1 -g -pthread -x c", nameless, "begin");
}

/* The functions that it calls have names. */
static void it_is_not_known_where_that_has_no_name(void **state)
{
	(void)state;
	expect("gcc -O0 -s -rdynamic -pthread -x c", nameless, NULL);
	expect("gcc -O1 -s -rdynamic -pthread -x c", nameless, NULL);
	expect("clang -O1 -s -rdynamic -pthread -x c", nameless, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_start_function),
		cmocka_unit_test(it_is_not_known_where_that_has_no_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
