/* layer: heap
 *
 * A variant's tag member that debug information places so far after the object that its end is a small number again in
 * 32 bits. Nothing is read there, and the targets of the object's pointers are still found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/graph/claim.h"
#include "heap/types/typing.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

enum { HITS = 9 };

/* Real C has the member at 256 MiB. */
static const char assembled[] = "gcc -g -O0 -dA -x c -S -o - - |"
				" sed 's/0x10000000\\(.*member_location\\)/0xfffffffe\\1/;"
				" s/0x20000000\\(.*byte_size\\)/0x10\\1/' |"
				" gcc -x assembler";

static const char source[] =
	"#include <stdlib.h>\n"
	"enum kind { ONE, TWO };\n"
	"struct hit { struct hit *next; enum kind kind __attribute__((aligned(1 << 28))); };\n"
	"struct hit *top;\n"
	"int main(void) { for (int i = 0; i < 9; i++) { struct hit *h = calloc(1, 16); h->next = top; top = h; }\n"
	"abort(); }\n";

static size_t typed_as_hits(struct xc_heap *heap)
{
	struct xc_typing *typing;
	size_t count = 0;
	CHECK_OK(xc_typing_of(heap, &typing));
	for (uint32_t i = 0; i < heap->blocks.count; i++)
		count += xc_typing_get(typing, i) && strcmp(xc_typing_name(typing, i), "struct hit") == 0;
	return count;
}

static void tag_behind_the_object_is_not_read(void **state)
{
	(void)state;
	struct xc_process *process = died(assembled, source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	assert_int_equal(typed_as_hits(heap), HITS);
	xc_heap_close(heap);
	close_process(process);
}

static void cast_by_a_member_behind_the_object_is_none(void **state)
{
	static const struct xc_claim_rule rule = {.type = "hit", .field = "next", .by = "kind", .cast = "char *"};
	(void)state;
	struct xc_process *process = died(assembled, source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	CHECK_OK(xc_claim_add_rule(heap, &rule));
	assert_int_equal(typed_as_hits(heap), HITS);
	xc_heap_close(heap);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tag_behind_the_object_is_not_read),
		cmocka_unit_test(cast_by_a_member_behind_the_object_is_none),
	};
	return cmocka_run_group_tests_name("typing_tag", tests, NULL, NULL);
}
