/* layer: heap
 *
 * Windows over memory that is read piece by piece, as that of running processes is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "heap/blocks/window.h"

enum { LO = 0x10000, SIZE = 16 << 20 };

static uint64_t taken; /* bytes that were copied */

/* Each byte encodes its place. */
static uint8_t byte_at(uint64_t offset)
{
	return (uint8_t)(offset * 31 ^ offset >> 9);
}

static size_t read_back(void *context, uint64_t offset, void *buf, size_t len)
{
	(void)context;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = byte_at(offset + i);
	taken += len;
	return len;
}

static const struct xc_backing backing = {.read = read_back};

static struct xc_space *make_space(void)
{
	struct xc_space *space = xc_space_new();
	xc_space_add(space, &(struct xc_segment){
				    .lo = LO, .hi = LO + SIZE - 1, .provenance = XC_FROM_LIVE, .backing = &backing});
	xc_space_seal(space);
	taken = 0;
	return space;
}

static void check(struct xc_window *window, uint64_t offset, uint64_t len)
{
	const uint8_t *bytes = xc_window(window, LO + offset, len);
	assert_non_null(bytes);
	assert_int_equal(bytes[0], byte_at(offset));
	assert_int_equal(bytes[len - 1], byte_at(offset + len - 1));
}

static void a_walk_upwards_copies_each_byte_once_or_twice(void **state)
{
	(void)state;
	struct xc_space *space = make_space();
	struct xc_window window;
	xc_window_init(&window, space);
	for (uint64_t offset = 0; offset + 64 <= SIZE; offset += 48)
		check(&window, offset, 64);
	assert_true(taken >= SIZE - 64 && taken < SIZE + SIZE / 8);
	xc_window_fini(&window);
	xc_space_free(space);
}

static void jumping_about_copies_little(void **state)
{
	(void)state;
	struct xc_space *space = make_space();
	struct xc_window window;
	uint64_t at = 12345;
	xc_window_init(&window, space);
	for (int i = 0; i < 10000; i++) {
		at = (at * 6364136223846793005u + 1442695040888963407u);
		check(&window, (at >> 33) % (SIZE - 64), 64);
	}
	assert_true(taken < 10000 * 8192);
	xc_window_fini(&window);
	xc_space_free(space);
}

static void what_is_not_there_is_not_shown(void **state)
{
	(void)state;
	struct xc_space *space = make_space();
	struct xc_window window;
	uint64_t len;
	xc_window_init(&window, space);
	assert_null(xc_window(&window, LO - 1, 1));
	assert_null(xc_window(&window, LO + SIZE - 4, 8));
	assert_null(xc_window(&window, LO, 0));
	assert_null(xc_window(&window, LO, XC_WINDOW_COPY + 1));
	assert_null(xc_window(&window, UINT64_MAX - 3, 8));
	check(&window, SIZE - 8, 8);
	check(&window, 4096, XC_WINDOW_COPY);
	assert_non_null(xc_window_run(&window, LO + SIZE - 4, 100, &len));
	assert_int_equal(len, 4);
	xc_window_fini(&window);
	xc_space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_walk_upwards_copies_each_byte_once_or_twice),
		cmocka_unit_test(jumping_about_copies_little),
		cmocka_unit_test(what_is_not_there_is_not_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
