/* layer: triage */
/* Stacks that are used up by what a few frames hold: this is no recursion. */
#include "tests/integration/triage/stack/overflow_program.h"

static void a_frame_larger_than_the_stack_is_no_recursion(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "NO long work(long at) { char buffer[1 << 20]; ((volatile char *)buffer)[at] = 1; KEEP(buffer);\n"
		     " return buffer[at]; }\nint main(void) { limit(); return (int)work(never + 6); }\n";
	static const char *const probing[] = {"gcc -g -O2 -fstack-clash-protection -x c",
					      "clang -g -O0 -fstack-clash-protection -x c"};
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "large-frame", .function = "work",
	       .expression = "buffer", .says = "work has a frame of 1.00 MiB");
	EXPECT(probing, source, .class_name = "stack-overflow", .kind = "large-frame", .function = "work");
}

static void the_frame_is_blamed_not_the_function_that_filled_it(void **state)
{
	(void)state;
	static const char source[] = HEAD "NO void fill(char *to, size_t n) { void *(*volatile set)(void *, int, "
					  "size_t) = memset; set(to, 1, n); }\n"
					  "NO long work(void) { char buffer[1 << 20]; fill(buffer, sizeof buffer); "
					  "KEEP(buffer); return buffer[5]; }\n"
					  "int main(void) { limit(); return (int)work(); }\n";
	EXPECT(both, source, .class_name = "stack-overflow", .kind = "large-frame", .function = "work");
}

/* Three functions, none of which has half of what is used. */
static void a_stack_that_several_functions_fill_is_small(void **state)
{
	(void)state;
#define ROOM "char room[90000]; room[at] = 1; KEEP(room); "
	static const char source[] = HEAD "NO long third(long at) { " ROOM "return room[5]; }\n"
					  "NO long second(long at) { " ROOM "return third(at + 1) + room[5]; }\n"
					  "NO long first(long at) { " ROOM "return second(at + 1) + room[5]; }\n"
					  "int main(void) { limit(); return (int)first(never + 6); }\n";
	EXPECT(gcc, source, .class_name = "stack-overflow", .kind = "", .says = "no function recurs");
#undef ROOM
}

static void frames_sized_as_they_run_are_alloca(void **state)
{
	(void)state;
	static const char taken[] = HEAD
		"NO long work(size_t n) { char *room = alloca(n); memset(room, 1, n); KEEP(*room); return room[0]; }\n"
		"int main(void) { limit(); return (int)work((size_t)large); }\n";
	static const char array[] =
		HEAD "NO long work(size_t n) { char room[n]; room[0] = 1; KEEP(room); return room[n - 1]; }\n"
		     "int main(void) { limit(); return (int)work((size_t)large); }\n";
	EXPECT(both, taken, .class_name = "stack-overflow", .kind = "alloca", .function = "work");
	EXPECT(both, array, .class_name = "stack-overflow", .kind = "alloca", .function = "work");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_larger_than_the_stack_is_no_recursion),
		cmocka_unit_test(the_frame_is_blamed_not_the_function_that_filled_it),
		cmocka_unit_test(a_stack_that_several_functions_fill_is_small),
		cmocka_unit_test(frames_sized_as_they_run_are_alloca),
	};
	return cmocka_run_group_tests_name("large_frame", tests, NULL, NULL);
}
