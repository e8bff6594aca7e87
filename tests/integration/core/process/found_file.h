/* found_file: libraries to find, and what is expected of the finder. */
#ifndef XC_TEST_FOUND_FILE_H
#define XC_TEST_FOUND_FILE_H

#include "core/process/finder.h"
#include "tests/support/mapped_fixture.h"

#define ID_A "-Wl,--build-id=0xaaaaaaaaaaaaaaaaaaaa"
#define ID_B "-Wl,--build-id=0xbbbbbbbbbbbbbbbbbbbb"
static const char TEXT_A[] = "int answer(void) { return 42; }\n";
static const char TEXT_B[] = "int answer(void) { return 43; }\n";
static const char TEXT_LONG[] = "char bytes[20000] = {1}; int answer(void) { return bytes[0]; }\n";

static struct xc_finder none;

static inline void expect(struct mapped *m, enum xc_identity identity, const char *why)
{
	if (m->module->identity != identity)
		fail_msg("identity is %s: %s", xc_identity_text(m->module->identity), m->module->why);
	assert_int_equal(m->module->file != NULL, identity == XC_VERIFIED || identity == XC_UNVERIFIED);
	if (!why)
		assert_null(m->module->why);
	else if (!m->module->why || !strstr(m->module->why, why))
		fail_msg("why is \"%s\", not \"%s\"", m->module->why, why);
}

#endif
