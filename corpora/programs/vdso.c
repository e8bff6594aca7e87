/* Dies of SIGSEGV inside the vDSO, which writes the time to a bad address. The coarse clock is read without any clock
 * source, so that the vDSO answers itself on every machine. */
#include <time.h>

#include "crash.h"

static NOINLINE int ask_time(clockid_t clock, struct timespec *where)
{
	int result = clock_gettime(clock, where);

	KEEP(result);
	return result + 1;
}

int main(void)
{
	return ask_time(CLOCK_REALTIME_COARSE, opaque((void *)0x1000)) + 2;
}
