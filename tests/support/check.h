/* check: cmocka and what our tests say about errors. */
#ifndef XC_TEST_CHECK_H
#define XC_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/error.h"

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif

/* The call succeeds. */
#define CHECK_OK(call) check_ok((call), #call)

/* The call fails with this code, and its message contains `part`. */
#define CHECK_ERROR(call, code, part) check_error((call), (code), (part), #call)

static inline void check_ok(struct xc_error *err, const char *call)
{
	if (err)
		fail_msg("%s: %s", call, err->message);
}

static inline void check_error(struct xc_error *err, enum xc_error_code code, const char *part, const char *call)
{
	if (!err)
		fail_msg("%s: no error", call);
	if (err->code != code || !strstr(err->message, part))
		fail_msg("%s: error %d \"%s\", not %d \"%s\"", call, (int)err->code, err->message, (int)code, part);
	xc_error_free(err);
}

#endif
