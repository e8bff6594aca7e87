/* layer: heap */
/* vtables as evidence: the confidence for a block with a vptr, and classes without debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap/types/typing.h"
#include "tests/support/grid.h"
#include "tests/support/allocation_log.h"

/* Only objects that no typed pointer leads to. */
static const char source[] =
	"#include <new>\n"
	"struct base { virtual ~base() {} virtual int f() { return 1; } long a; };\n"
	"struct derived : base { int f() override { return 2; } long b[6]; };\n"
	"struct other { virtual ~other() {} long o; };\n"
	"struct multiple : base, other { long m; };\n"
	"struct rowed { virtual ~rowed() {} long r[12]; };\n"
	"struct small { virtual ~small() {} };\n"
	"unsigned long kept[64]; int k;\n"
	"static void keep(void *p) { kept[k++] = (unsigned long)p; }\n"
	"int main() {\n"
	"  keep(note(new base, \"base exact\"));\n"
	"  keep(note(new derived, \"derived exact\"));\n"
	"  keep(note(new small, \"small exact\"));\n"
	"  keep(note((char *)new derived[5] - 8, \"derived strong\", 5));\n"
	"  keep(note((char *)malloc(7 * sizeof(derived)), \"derived strong\", 7));\n"
	"  for (int i = 0; i < 7; i++) new ((char *)kept[k - 1] + i * sizeof(derived)) derived;\n"
	"  keep(new (note((char *)calloc(1, 4000), \"base weak\")) base);\n"
	"  keep(new (note((char *)calloc(1, sizeof(derived) + 50), \"derived strong\")) derived);\n"
	"  keep(note((char *)calloc(1, 32), \"\")); ((unsigned long *)kept[k - 1])[1] = *(unsigned long *)kept[0];\n"
	"  keep(note((char *)calloc(1, 240), \"\")); ((unsigned long *)kept[k - 1])[0] = 2;\n" /* not an array of two */
	"  ((unsigned long *)kept[k - 1])[1] = *(unsigned long *)kept[1];\n"
	"  keep(note(new multiple, \"multiple exact\")); unsigned long second = ((unsigned long *)kept[k - 1])[2];\n"
	/* no object starts like that */
	"  keep(note((char *)calloc(1, 40), \"\")); *(unsigned long *)kept[k - 1] = second;\n"
	"  keep(note((char *)malloc(9 * sizeof(rowed)), \"rowed strong\", 9));\n"
	"  for (int i = 0; i < 9; i++) new ((char *)kept[k - 1] + i * sizeof(rowed)) rowed;\n"
	"  abort(); }\n";

static void check(const char *compiler, bool described)
{
	struct booked b = booked_open(compiler, source);
	struct xc_typing *typing;
	CHECK_OK(xc_typing_of(b.heap, &typing));
	for (uint64_t i = 0; i < b.count; i++) {
		struct booking booking = booked_get(&b, i);
		const struct xc_typed *typed = xc_typing_get(typing, xc_blocks_find(&b.heap->blocks, booking.block));
		char said[300] = "";
		if (typed && strcmp(typed->via, "vtable") == 0)
			snprintf(said, sizeof said, "%s %s", xc_type_name(typed->type),
				 xc_confidence_word((enum xc_confidence)typed->confidence));
		if (!described && booking.count > 1)
			continue;                /* the start of elements is unknown */
		if (!described && *booking.type) /* and so is the size of an object */
			assert_int_equal(strcspn(said, " "), strcspn(booking.type, " "));
		else if (strcmp(said, booking.type) != 0)
			fail_msg("%s: 0x%lx is %s, taken for %s", compiler, (unsigned long)booking.block, booking.type,
				 said);
		if (described && *booking.type)
			assert_int_equal(typed->shape, booking.count > 1 ? XC_TYPED_ARRAY : XC_TYPED_ONE);
		if (booking.count == 5 && described)
			assert_int_equal(typed->offset, 8);
	}
	booked_close(&b);
}

static void objects_are_as_sure_as_they_fill_their_blocks(void **state)
{
	(void)state;
	static const char *const compilers[] = {"g++ -g -O0 -x c++", "clang++ -g -O2 -x c++", "g++ -g -O2 -x c++"};
	GRID(i, XC_COUNT(compilers))
		check(compilers[i], true);
}

static void classes_without_debug_information_have_names(void **state)
{
	(void)state;
	GRID(i, 2)
		check(i ? "clang++ -s -rdynamic -O2 -x c++" : "g++ -s -rdynamic -O2 -x c++", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_as_sure_as_they_fill_their_blocks),
		cmocka_unit_test(classes_without_debug_information_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
