/* Dies of SIGSEGV by calling what is no function. Arguments: unmapped (pc is the bad address),
 * noncanonical (the call itself faults, no address), data (a writable page: SEGV_ACCERR on the fetch),
 * return (the return address is overwritten: no caller can be found at the top of the stack). */
#include <stdint.h>
#include <string.h>

#include "crash.h"

typedef int (*handler)(int code, const char *text);

static unsigned char writable[64] = {0xc3};

static NOINLINE int call(handler function, int code)
{
	return function(code, "wild") + code;
}

/* Replaces its own return address, which lies above the saved frame pointer. */
static NOINLINE void return_to(uintptr_t target)
{
	uintptr_t *frame = __builtin_frame_address(0);

	frame[1] = target;
	__asm__ volatile("" : : : "memory");
}

static int dispatch(const char *how)
{
	if (strcmp(how, "unmapped") == 0)
		return call((handler)(uintptr_t)opaque((void *)0xdead0000beefUL), 1);
	if (strcmp(how, "noncanonical") == 0)
		return call((handler)(uintptr_t)opaque((void *)0x4141414142424242UL), 2);
	if (strcmp(how, "data") == 0)
		return call((handler)(uintptr_t)opaque(writable), 3);
	if (strcmp(how, "return") == 0)
		return_to(0xdead0000beefUL);
	return 0;
}

int main(int argc, char **argv)
{
	return argc == 2 ? dispatch(argv[1]) : 2;
}
