/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "batch/signature/classgroup.h"

static void expect(const struct xc_record *record, const char *wanted)
{
	struct xc_arena arena = {0};
	assert_string_equal(xc_classgroup(record, record->class_name, &arena), wanted);
	xc_arena_fini(&arena);
}

#define EXPECT(wanted, ...) expect(&(struct xc_record){__VA_ARGS__}, wanted)

static void of_bad_accesses_only_the_access_counts(void **state)
{
	(void)state;
	EXPECT("read", .class_name = "null-read");
	EXPECT("read", .class_name = "wild-read", .kind = "tainted");
	EXPECT("read", .class_name = "use-after-free", .kind = "read");
	EXPECT("write", .class_name = "heap-overrun", .kind = "write");
	EXPECT("write", .class_name = "write-rodata");
	EXPECT("exec", .class_name = "use-after-free", .kind = "call");
	EXPECT("exec", .class_name = "use-after-free", .kind = "call", .headline = "SIGSEGV: jumped to 0x55e951c88");
	/* the target of the call could not be read: another compiler reads it earlier */
	EXPECT("read", .class_name = "use-after-free", .kind = "call", .headline = "SIGSEGV: read 8 bytes at 0x55e9");
	EXPECT("exec", .class_name = "pc-control", .kind = "ret");
	EXPECT("access", .class_name = "use-after-free");
	EXPECT("access", .class_name = "heap-overrun", .kind = "odd");
	EXPECT("read", .class_name = "protected-access", .headline = "SIGSEGV: read 8 bytes at 0x7f0000");
	EXPECT("write", .class_name = "protected-access", .headline = "SIGSEGV: wrote 8 bytes at 0x7f0000");
	EXPECT("read", .class_name = "format-string", .headline = "SIGSEGV: read 1 byte at 0x6");
	EXPECT("access", .class_name = "protected-access", .headline = "SIGSEGV");
	EXPECT("access", .class_name = "protected-access");
}

static void what_a_runtime_noticed_is_told_by_its_kind(void **state)
{
	(void)state;
	EXPECT("heap:double free", .class_name = "heap-corruption", .kind = "double free");
	EXPECT("heap:damage", .class_name = "heap-corruption", .kind = "overrun");
	EXPECT("heap:damage", .class_name = "heap-corruption", .kind = "underrun");
	EXPECT("heap:damage", .class_name = "heap-corruption", .kind = "list damage");
	EXPECT("heap", .class_name = "heap-corruption");
	EXPECT("exception:std::out_of_range", .class_name = "uncaught-exception", .kind = "std::out_of_range");
	EXPECT("panic:index", .class_name = "panic", .kind = "index");
	EXPECT("sent:SIGQUIT", .class_name = "dump-request", .signal = "SIGQUIT");
}

static void an_assertion_is_its_text(void **state)
{
	(void)state;
	EXPECT("abort:assertion:n < 4096", .class_name = "assertion", .expression = "n  <\n  4096 ");
	EXPECT("abort:assertion:magic != 0xdeadbeef", .class_name = "assertion", .expression = "magic != 0xdeadbeef");
#define LONG "the_first_eighty_characters_of_an_assertion_do_not_tell_it_from_another_one_that_begins_so == "
	EXPECT("abort:assertion:" LONG "1", .class_name = "assertion", .expression = LONG "1");
	EXPECT("abort:assertion", .class_name = "assertion");
}

static void other_classes_are_groups_of_their_own(void **state)
{
	(void)state;
	EXPECT("stack-overflow", .class_name = "stack-overflow", .kind = "recursion");
	EXPECT("low-memory", .class_name = "low-memory");
	EXPECT("unknown", .class_name = NULL);
}

static void groups_that_somebody_noticed_speak(void **state)
{
	(void)state;
	assert_true(xc_classgroup_speaks("abort"));
	assert_true(xc_classgroup_speaks("abort:assertion:x"));
	assert_true(xc_classgroup_speaks("heap:damage"));
	assert_false(xc_classgroup_speaks("read"));
	assert_false(xc_classgroup_speaks("sent:SIGQUIT"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_bad_accesses_only_the_access_counts),
		cmocka_unit_test(what_a_runtime_noticed_is_told_by_its_kind),
		cmocka_unit_test(an_assertion_is_its_text),
		cmocka_unit_test(other_classes_are_groups_of_their_own),
		cmocka_unit_test(groups_that_somebody_noticed_speak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
