/* layer: dwarf */
/* Containers with randomly damaged memory: words are replaced by others, by addresses of other containers and nodes, or
 * by noise. Every walk ends, and every text has a bounded length (run it in MODE=asan). */
#include <sys/mman.h>

#include "tests/support/property.h"
#include "tests/support/containers.h"

#include "dwarf/view/view.h"

enum { CASES = 3000, DAMAGES = 12, MOST_STEPS = 5000, LONGEST = 16384 };

static struct compiled *program;
static uint8_t *data, *sound; /* the program's data in use, and a copy of the original */
static size_t size;
static xc_addr data_addr;

/* The pages are a private mapping of the file: once writable, they are private copies. */
static void find_data(void)
{
	struct xc_value first = value_of(program, "three");
	const struct xc_segment *s = xc_space_find(program->process->space, first.addr);
	data_addr = s->lo;
	size = (size_t)(s->hi - s->lo + 1);
	data = (uint8_t *)(uintptr_t)s->bytes;
	uintptr_t page = (uintptr_t)data & ~(uintptr_t)4095;
	assert_int_equal(mprotect((void *)page, (uintptr_t)data + size - page, PROT_READ | PROT_WRITE), 0);
	sound = xc_alloc(size);
	memcpy(sound, data, size);
}

static void damage(struct rng *rng)
{
	memcpy(data, sound, size);
	for (size_t i = 1 + rng_below(rng, DAMAGES); i > 0; i--) {
		uint64_t word, *at = (uint64_t *)(void *)data + rng_below(rng, size / 8);
		switch (rng_below(rng, 5)) {
		case 0:
			word = data_addr + rng_below(rng, size) / 8 * 8;
			break;
		case 1:
			memcpy(&word, data + rng_below(rng, size / 8) * 8, sizeof word);
			break;
		case 2:
			word = rng_below(rng, 20);
			break;
		case 3:
			word = rng_next(rng);
			break;
		default:
			memcpy(&word, at, sizeof word);
			word ^= UINT64_C(1) << rng_below(rng, 64);
		}
		memcpy(at, &word, sizeof word);
	}
}

static void look_at(struct rng *rng, const struct xc_value *value)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_view view;
	struct xc_view_child child;
	struct xc_text text = {0};
	unsigned steps = 0;
	options.symbols = false;
	if (xc_view_open(value, &view) == XC_VIEW_FOUND) {
		while (xc_view_next(&view, &child) && steps < MOST_STEPS)
			steps++;
	}
	PROPERTY_CHECK(rng, steps < MOST_STEPS);
	xc_format_value(&text, value, &options);
	PROPERTY_CHECK(rng, text.len > 0 && text.len < LONGEST);
	xc_text_fini(&text);
}

PROPERTY(damaged_containers_end, 1000, CASES)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, child;
	damage(rng);
	while (dwarf_get_units(program->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
		for (bool more = xc_die_child(&die, &child); more; more = xc_die_next(&child)) {
			struct xc_expr_context context = static_context(program);
			struct xc_value value;
			if (dwarf_tag(&child) != DW_TAG_variable || !dwarf_hasattr(&child, DW_AT_location))
				continue;
			xc_expr_variable(&context, &child, &value);
			look_at(rng, &value);
		}
	}
}

static int setup(void **state)
{
	(void)state;
	program = compile_containers();
	find_data();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	release(program);
	free(sound);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_containers_end)};
	return cmocka_run_group_tests(tests, setup, teardown);
}
