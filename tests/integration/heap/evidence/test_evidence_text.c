/* layer: heap */
/* texts by content: blocks without a typed pointer to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap/types/typing.h"
#include "tests/support/allocation_log.h"

/* The count is the start of the characters; "" is not text. */
static const char source[] =
	"#include <string.h>\n"
	"unsigned long kept[64]; int k;\n"
	"static void keep(const char *type, size_t at, const void *bytes, size_t len, size_t size) {\n"
	"  char *p = (char *)calloc(1, size); memcpy(p, bytes, len); note(p, type, at); kept[k++] = (unsigned long)p; "
	"p = 0; }\n"
	"int main() {\n"
	"  keep(\"char\", 0, \"four\", 5, 24);\n"
	"  keep(\"\", 0, \"not\", 4, 24);\n"
	"  keep(\"char\", 0, \"a longer text\\nwith\\tlines\", 25, 40);\n"
	"  keep(\"char\", 0, \"\\xc3\\xa4\\xc3\\xb6\\xe2\\x82\\xac\", 8, 24);\n"
	"  keep(\"\", 0, \"\\xc3\\x28\\xc3\\x28 torn\", 10, 24);\n"
	"  keep(\"\", 0, \"bell\\x07 within\", 12, 24);\n"
	"  keep(\"\", 0, \"not ended by anything...\", 24, 24);\n"
	"  char text[400]; memset(text, 'x', sizeof text); text[300] = 0;\n"
	"  keep(\"char\", 0, text, 301, 400);\n"
	"  char head[400] = {20, 25, 1}; memset(head + 3, 'h', 20); keep(\"char\", 3, head, 24, 29);\n"
	"  head[2] = 2; keep(\"\", 0, head, 24, 29);\n"               /* another kind of header */
	"  head[2] = 1; head[0] = 19; keep(\"\", 0, head, 24, 29);\n" /* another length */
	"  head[0] = 20; keep(\"\", 0, head, 24, 200);\n"             /* more room than the header says */
	"  char two[400] = {44, 1, 44, 1, 2}; memset(two + 5, 't', 300); keep(\"char\", 5, two, 306, 306);\n"
	"  int numbers[6] = {1, 2, 3, 4, 5, 6}; keep(\"\", 0, numbers, 24, 24);\n"
	"  for (int i = 0; i < 40; i++) { unsigned long p = (unsigned long)kept + i * 3; keep(\"\", 0, &p, 8, 24); }\n"
	"  abort(); }\n";

static void texts_are_told_by_their_bytes(void **state)
{
	(void)state;
	struct booked b = booked_open("g++ -g -O1 -x c++", source);
	struct xc_typing *typing;
	CHECK_OK(xc_typing_of(b.heap, &typing));
	for (uint64_t i = 0; i < b.count; i++) {
		struct booking booking = booked_get(&b, i);
		const struct xc_typed *typed = xc_typing_get(typing, xc_blocks_find(&b.heap->blocks, booking.block));
		if (!*booking.type) {
			if (typed && typed->shape == XC_TYPED_TEXT)
				fail_msg("block %lu is taken for a text", (unsigned long)i);
			continue;
		}
		if (!typed || typed->shape != XC_TYPED_TEXT || typed->offset != booking.count)
			fail_msg("block %lu is no text at %lu", (unsigned long)i, (unsigned long)booking.count);
		assert_int_equal(typed->confidence, XC_TYPE_WEAK);
		assert_string_equal(xc_type_name(typed->type), booking.type);
	}
	booked_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts_are_told_by_their_bytes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
