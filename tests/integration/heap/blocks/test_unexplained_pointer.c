/* layer: heap */
/* A program with two variables that each hold a pointer, one to the start of a block and one into it; its symbols give
 * their addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/stack/variable.h"
#include "heap/blocks/unexplained_pointer.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

#define PROGRAM(fill)                                                                                                  \
	"#include <stdlib.h>\nstruct two { char pad[40]; char *at; } known; char *other, *freed;\n"                    \
	"int main(void) { " fill " abort(); }\n"

static struct xc_extent extent_of(struct xc_process *process, const char *name)
{
	struct xc_arena scratch = {0};
	struct xc_definition found;
	struct xc_value value;
	uint64_t size;
	assert_true(xc_lookup_one(process, &(struct xc_query){.name = name, .kinds = XC_NAME_VARIABLE}, &found));
	xc_variable_static(process, found.module, NULL, &found.die, &scratch, &value);
	assert_true(xc_type_size(value.type, &size));
	xc_arena_fini(&scratch);
	return (struct xc_extent){value.addr, value.addr + size - 1};
}

/* Whether the program has unexplained pointers if these variables are known. */
static bool strays(const char *source, const char *const *names)
{
	struct xc_process *process = died("gcc -g -O0 -x c", source);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_extents extents = {0};
	assert_true(heap->blocks.count > 0);
	for (; *names; names++) {
		struct xc_extent one = extent_of(process, *names);
		xc_extents_add(&extents, one.lo, one.hi - one.lo + 1);
	}
	bool any = xc_unexplained_pointer_exists(heap, process->modules[0], &extents);
	xc_extents_fini(&extents);
	xc_heap_close(heap);
	close_process(process);
	return any;
}

static void a_pointer_outside_of_what_is_known_is_a_stray(void **state)
{
	(void)state;
	const char *both = PROGRAM("known.at = malloc(40); other = (char *)malloc(400) + 399;");
	assert_true(strays(both, (const char *const[]){NULL}));
	assert_true(strays(both, (const char *const[]){"known", NULL}));
	assert_true(strays(both, (const char *const[]){"other", NULL}));
	assert_false(strays(both, (const char *const[]){"known", "other", NULL}));
	assert_false(strays(both, (const char *const[]){"other", "known", "other", NULL}));
}

static void pointers_to_freed_blocks_are_none(void **state)
{
	(void)state;
	const char *source = PROGRAM("known.at = malloc(40); freed = malloc(400); malloc(10); free(freed);");
	assert_true(strays(source, (const char *const[]){NULL}));
	assert_false(strays(source, (const char *const[]){"known", NULL}));
}

static void extents_that_overlap_or_wrap_are_one_or_none(void **state)
{
	struct xc_process *process = died("gcc -g -O0 -x c", PROGRAM("other = malloc(40);"));
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_extent other = extent_of(process, "other"), known = extent_of(process, "known");
	struct xc_extents extents = {0};
	(void)state;
	xc_extents_add(&extents, other.lo, 0);
	xc_extents_add(&extents, other.lo, UINT64_MAX);
	assert_int_equal(extents.count, 0);
	assert_true(xc_unexplained_pointer_exists(heap, process->modules[0], &extents));
	xc_addr lo = other.lo < known.lo ? other.lo : known.lo;
	xc_extents_add(&extents, lo, 0x1000); /* a large one, and small ones inside that end earlier */
	xc_extents_add(&extents, lo + 1, 1);
	xc_extents_add(&extents, lo, 2);
	assert_false(xc_unexplained_pointer_exists(heap, process->modules[0], &extents));
	assert_int_equal(extents.count, 1);
	xc_extents_fini(&extents);
	xc_heap_close(heap);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pointer_outside_of_what_is_known_is_a_stray),
		cmocka_unit_test(pointers_to_freed_blocks_are_none),
		cmocka_unit_test(extents_that_overlap_or_wrap_are_one_or_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
