/* layer: triage tier: long */
/* Blocks that are too small because the product that they were asked for did not fit into 32 bits. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n"                                              \
	"#define NOINLINE __attribute__((noinline))\nvolatile uint32_t zero; void *volatile way;\n"

static const char *const compilers[] = {"gcc -g -O0 -w -x c", "clang -g -O0 -w -x c", "gcc -g -O2 -w -x c",
					"clang -g -O2 -w -x c"};

/* The owner is in the heap, or a variable. */
#define RASTER(make)                                                                                                   \
	HEAD "struct raster { uint32_t width, height, depth; uint8_t *pixels; };\nstruct raster whole;\n"              \
	     "NOINLINE void fill(struct raster *r) { for (uint64_t i = 0; i < (uint64_t)r->width * r->height * "       \
	     "r->depth; i++) r->pixels[i] = (uint8_t)(i * 7 + 1); }\n"                                                 \
	     "NOINLINE void make(struct raster *r, uint32_t w, uint32_t h, uint32_t d) { r->width = w; r->height = "   \
	     "h; r->depth = d; r->pixels = malloc(r->width * r->height * r->depth); }\n"                               \
	     "int main(void) { struct raster *r = " make "; make(r, 65537 + zero, 16384, 4);\n"                        \
	     "way = malloc(5000); fill(r); return 0; }\n"

static void the_owners_numbers_multiply_to_more_than_32_bits(void **state)
{
	(void)state;
	GRID(i, XC_COUNT(compilers)) {
		judged_expect(compilers[i], RASTER("malloc(sizeof *r)"), true,
			      &(struct wanted){.class_name = "heap-overrun",
					       .kind = "write",
					       .says = "likely the size wrapped: width * height * depth = 4295032832 "
						       "does not fit in 32 bits"});
		judged_expect(compilers[i], RASTER("&whole"), true,
			      &(struct wanted){.class_name = "heap-overrun",
					       .says = "likely the size wrapped: width * height * depth = 4295032832 "
						       "does not fit in 32 bits"});
	}
}

static void a_count_times_the_size_of_an_element_does_not_fit(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"struct point { double x, y, z; };\nstruct cloud { const char *name; uint32_t count; struct point "
		"*points; };\n"
		"NOINLINE struct cloud *load(uint32_t n) { struct cloud *c = malloc(sizeof *c); c->name = "
		"\"cloud\"; c->count = n; uint32_t bytes = n * sizeof *c->points; c->points = malloc(bytes); "
		"return c; }\n"
		"NOINLINE void clear(struct cloud *c) { for (uint32_t i = 0; i < c->count; i++) c->points[i].x = "
		"c->points[i].y = c->points[i].z = i * 0.5 + 1; }\n"
		"int main(void) { struct cloud *c = load(178957000 + zero); way = malloc(300); clear(c); return 0; "
		"}\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(
			compilers[i], source, true,
			&(struct wanted){.class_name = "heap-overrun",
					 .says = "likely the size wrapped: count * 24 = 4294968000 does not fit in "
						 "32 bits"});
}

static void the_variables_of_a_function_do(void **state)
{
	(void)state;
	static const char source[] = HEAD
		"NOINLINE void decode(uint32_t rows, uint32_t columns) { uint16_t *cells = malloc(rows * columns * 2); "
		"way = malloc(100); for (uint64_t i = 0; i < (uint64_t)rows * columns; i++) cells[i] = (uint16_t)(i | "
		"0x101); }\nint main(void) { decode(32768 + zero, 65540); return 0; }\n";
	judged_expect(compilers[0], source, true,
		      &(struct wanted){.class_name = "heap-overrun",
				       .says = "likely the size wrapped: rows * columns * 2 = 4295229440 does not fit "
					       "in 32 bits"});
}

/* The block has all that was asked for: the loop does not end. Large numbers beside it are no factors. */
static void a_loop_that_is_too_long_has_not_wrapped(void **state)
{
	(void)state;
	static const char source[] =
		HEAD "struct raster { uint32_t width, height, seed, mask; uint8_t *pixels; };\n"
		     "NOINLINE void fill(struct raster *r) { for (uint64_t i = 0; i < (uint64_t)r->seed; i++) "
		     "r->pixels[i] = (uint8_t)(i * 7 + 1); }\n"
		     "int main(void) { struct raster *r = malloc(sizeof *r); r->width = 256; r->height = 256 + zero; "
		     "r->seed = 0x9e3779b9; r->mask = 0xffff0000; r->pixels = malloc(r->width * r->height);\n"
		     "way = malloc(5000); fill(r); return 0; }\n";
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true,
			      &(struct wanted){.class_name = "heap-overrun", .without = "wrapped"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_owners_numbers_multiply_to_more_than_32_bits),
		cmocka_unit_test(a_count_times_the_size_of_an_element_does_not_fit),
		cmocka_unit_test(the_variables_of_a_function_do),
		cmocka_unit_test(a_loop_that_is_too_long_has_not_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
