/* layer: lua
 *
 * Views of a space of many segments, against the flat array that contains all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/process/process.h"
#include "lua/vm/memory_view.h"
#include "tests/support/property.h"

enum { BASE = 0x7000, SIZE = 300000, PIECES = 200, ASKED = 3000 };

/* Addresses that share a slot are 256 MiB apart. */
static const xc_addr FAR = (xc_addr)XC_MEMORY_VIEWS << XC_MEMORY_VIEW_SHIFT;

static uint8_t memory[SIZE];

/* The segment of each byte; 0: none. */
static uint8_t owner[SIZE];

static void lay(struct xc_space *space, xc_addr base, size_t at, size_t size)
{
	xc_space_add(space, &(struct xc_segment){.lo = base + at, .hi = base + at + size - 1, .bytes = memory + at});
}

static void lay_some(struct rng *rng, struct xc_space *space)
{
	memset(owner, 0, sizeof owner);
	for (size_t at = rng_below(rng, 5000), number = 1; number < PIECES; number++) {
		size_t size = rng_below(rng, 3) ? 1 + rng_below(rng, 100) : 1 + rng_below(rng, 70000);
		if (size > SIZE - at)
			break;
		lay(space, BASE, at, size);
		lay(space, BASE + FAR, at, size);
		memset(owner + at, (int)number, size);
		at += size + (rng_below(rng, 2) ? 0 : rng_below(rng, 3000));
		if (at >= SIZE)
			break;
	}
	xc_space_seal(space);
}

PROPERTY(a_lens_shows_what_lies_in_one_segment_and_nothing_else, 20, 60)
{
	struct xc_process *made = xc_process_new("made", false);
	static struct xc_memory_views views;
	lay_some(rng, made->space);
	views.process = made;
	xc_memory_views_clear(&views);
	for (unsigned i = 0; i < ASKED; i++) {
		size_t at = rng_below(rng, SIZE), len = rng_below(rng, 4) ? 8 : rng_below(rng, 3000);
		bool whole = len > 0 && len <= SIZE - at && owner[at] != 0;
		for (size_t byte = 0; whole && byte < len; byte++)
			whole = owner[at + byte] == owner[at];
		xc_addr base = rng_below(rng, 2) ? BASE : BASE + FAR;
		const uint8_t *bytes = xc_memory_view_bytes(&views, base + at, len);
		PROPERTY_CHECK(rng, bytes == (whole ? memory + at : NULL));
	}
	PROPERTY_CHECK(rng, !xc_memory_view_at(&views, 0, 1) && !xc_memory_view_at(&views, UINT64_MAX, 8));
	xc_process_close(made);
}

static void without_a_process_nothing_is_seen(void **state)
{
	static struct xc_memory_views none;
	(void)state;
	assert_null(xc_memory_view_bytes(&none, 0, 1));
	assert_null(xc_memory_view_bytes(&none, BASE, 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lens_shows_what_lies_in_one_segment_and_nothing_else),
		cmocka_unit_test(without_a_process_nothing_is_seen),
	};
	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
