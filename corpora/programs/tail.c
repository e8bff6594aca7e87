/* Dies of SIGSEGV below a tail call (build with -O2): middle() is no longer on the stack, only call sites tell. */
#include "crash.h"

static NOINLINE int bottom(int value)
{
	crash();
	return value + 1;
}

static NOINLINE int middle(int value)
{
	return bottom(value * 2);
}

static NOINLINE int top(int value)
{
	int result = middle(value + 1);

	KEEP_VALUE(result);
	return result + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return top(argc + 10);
}
