/* Dies of SIGILL because what the standard leaves undefined is trapped.
 * flags: -fsanitize=undefined -fsanitize-undefined-trap-on-error */
#include <limits.h>

#include "death.h"

volatile long sink;

static NOINLINE int next_number(int number)
{
	return number + 1; /* dies: overflow */
}

static NOINLINE long pick(long i)
{
	static const long numbers[4] = {1, 2, 3, 4};
	return numbers[i]; /* dies: bounds */
}

static NOINLINE int shift(int by)
{
	return 1 << by; /* dies: shift */
}

static void die_overflow(void)
{
	sink = next_number((int)opaque_long(INT_MAX));
}

static void die_bounds(void)
{
	sink = pick(opaque_long(7));
}

static void die_shift(void)
{
	sink = shift((int)opaque_long(40));
}

DEATHS({"overflow", die_overflow}, {"bounds", die_bounds}, {"shift", die_shift})
