/* layer: heap tier: long
 *
 * Debug information that makes typing read the same bytes repeatedly, or compare everything with everything: the time
 * must be proportional to the memory. The programs are valid C; their types are unreasonable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "core/report/report.h"
#include "heap/types/typing.h"
#include "heap/query/typing_report.h"
#include "heap/session/session.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"

enum { SECONDS = 60 }; /* of CPU time, including sanitizers; without limits both took minutes or did not end */

static bool says_that_it_was_cut(struct xc_heap *heap)
{
	struct xc_report *report = xc_report_new("types");
	bool found = false;
	xc_typing_report(xc_report_section(report, "types", "Types"), heap, &(struct xc_typing_options){0});
	for (const struct xc_item *item = report->sections->items; item && !found; item = item->next)
		found = item->kind == XC_ITEM_MESSAGE && strstr(item->message.text, "taken too long");
	xc_report_free(report);
	return found;
}

/* The number of typed blocks, if it does not take too long; also checks that the steps are limited. */
static size_t typed_in_time(const char *source)
{
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_typing *typing;
	size_t typed = 0;
	clock_t before = clock();
	CHECK_OK(xc_typing_of(heap, &typing));
	assert_in_range((clock() - before) / CLOCKS_PER_SEC, 0, SECONDS);
	for (uint32_t i = 0; i < heap->blocks.count; i++)
		typed += xc_typing_get(typing, i) != NULL;
	assert_true(says_that_it_was_cut(heap));
	xc_heap_close(heap);
	close_process(process);
	return typed;
}

/* Six ways from each level to the next: 6^14 to the last one's pointers. Pointers with targets are still found.
 * same. */
static void arms_of_arrays_of_arms_are_looked_at_in_bounded_steps(void **state)
{
	(void)state;
	size_t typed = typed_in_time("#include <stdlib.h>\n"
				     "struct end { long number; struct end *next; };\n"
				     "union u0 { struct end *p; void *q; };\n"
				     "#define U(n, m) union u##n { union u##m a[2], b[2], c[2]; };\n"
				     "U(1,0) U(2,1) U(3,2) U(4,3) U(5,4) U(6,5) U(7,6) U(8,7) U(9,8) U(10,9) U(11,10) "
				     "U(12,11) U(13,12) U(14,13)\n"
				     "union u14 *top; struct end *ends;\n"
				     "int main(void) { top = calloc(1, sizeof *top); void **words = (void **)top;\n"
				     "for (int i = 0; i < 500; i++) { struct end *e = calloc(1, sizeof *e); words[i] = "
				     "e; e->next = ends; ends = e; }\n"
				     "abort(); }\n");
	assert_true(typed >= 501);
}

/* 6,000 types that fit any size, 4,000 sizes of blocks without evidence. */
static void many_types_and_many_sizes_are_compared_in_bounded_steps(void **state)
{
	struct xc_text source = {0};
	(void)state;
	xc_text_add(&source, "#include <stdlib.h>\n");
	for (unsigned i = 0; i < 6000; i++) {
		xc_text_printf(&source, "struct s%u { ", i);
		for (unsigned k = 0; k < 12; k++)
			if (i >> (k % 11) & 1)
				xc_text_printf(&source, "struct s%u *p%u; ", (i * 7 + k * 13) % 6000, k);
			else
				xc_text_printf(&source, "long n%u; ", k);
		xc_text_printf(&source, "char tail[]; }; struct s%u *g%u;\n", i, i);
	}
	xc_text_add(
		&source,
		"void *volatile hidden;\n"
		"int main(void) { for (unsigned long size = 96; size < 65536; size += 16)\n"
		"for (int i = 0; i < 8; i++) { void **p = malloc(size); for (unsigned k = 0; k < 12; k++) p[k] = 0;\n"
		"p[0] = hidden; p[3] = p; p[5] = hidden; hidden = p; }\n"
		"abort(); }\n");
	typed_in_time(xc_text_string(&source));
	xc_text_fini(&source);
}

/* Two thousand types, each with ten members of the one before: 10^8 members within eight levels of each. */
static void members_of_members_are_indexed_in_bounded_steps(void **state)
{
	struct xc_text source = {0};
	(void)state;
	xc_text_add(&source, "#include <stdlib.h>\nunion s0 { long n; };\n");
	for (unsigned i = 1; i < 2000; i++) {
		xc_text_printf(&source, "union s%u { union s%u ", i, i - 1);
		for (unsigned k = 0; k < 10; k++)
			xc_text_printf(&source, "%sm%u", k ? ", " : "", k);
		xc_text_printf(&source, "; } *g%u;\n", i);
	}
	xc_text_add(&source, "int main(void) { g1999 = malloc(sizeof *g1999); abort(); }\n");
	typed_in_time(xc_text_string(&source));
	xc_text_fini(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arms_of_arrays_of_arms_are_looked_at_in_bounded_steps),
		cmocka_unit_test(members_of_members_are_indexed_in_bounded_steps),
		cmocka_unit_test(many_types_and_many_sizes_are_compared_in_bounded_steps),
	};
	return cmocka_run_group_tests_name("typing_effort", tests, NULL, NULL);
}
