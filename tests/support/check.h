/* check: cmocka plus assertions on errors. */
#ifndef XC_TEST_CHECK_H
#define XC_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"

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

/* The call fails with this code. Its message contains `part`. */
#define CHECK_ERROR(call, code, part) check_error((call), (code), (part), #call)

/* Skip this test with a reason. cmocka does not print reasons; tests/run reads this line. */
static inline void check_skip(const char *reason)
{
	print_message("# skip reason: %s\n", reason);
	skip();
}

static inline bool check_has(const char *tool)
{
	char path[PATH_MAX];
	for (const char *at = getenv("PATH"); at && *at;) {
		const size_t len = strcspn(at, ":");
		snprintf(path, sizeof path, "%.*s/%s", (int)len, at, tool);
		if (access(path, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* Skip this test if the tool is missing. */
static inline void check_needs(const char *tool)
{
	char reason[64];
	snprintf(reason, sizeof reason, "there is no %s here", tool);
	if (!check_has(tool))
		check_skip(reason);
}

/* Kill the program with SIGPROF after this much more CPU time; 0 cancels the limit. Independent of the machine's
 * load. */
static inline void check_effort(int seconds)
{
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = seconds}}, NULL);
}

/* Slowdown factor of this machine, relative to the one on which limits were set; at least 1. */
static inline double check_slowness(void)
{
	const double usual = 0.0045;
	double best = 0;
	for (int tries = 0; tries < 5; tries++) {
		register uint64_t state = 1;
		const clock_t from = clock();
		for (int i = 0; i < 4000000; i++) {
			state = state * 6364136223846793005 + 1442695040888963407;
			__asm__ volatile("" : "+r"(state)); /* keeps the compiler from merging steps */
		}
		const double took = (double)(clock() - from) / CLOCKS_PER_SEC;
		best = tries == 0 || took < best ? took : best;
	}
	return best > usual ? best / usual : 1;
}

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
