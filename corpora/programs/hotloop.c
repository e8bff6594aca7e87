/* Killed from outside (SIGABRT after "ready") inside a hot loop that no CFI describes. Arguments: leaf (the asm
 * function spin_leaf keeps no frame: the return address is on top of the stack), frame (spin_frame pushes
 * registers and moves the stack pointer), chain (the asm function calls back into C first). */
#include <stdio.h>
#include <string.h>

#include "crash.h"

long spin_leaf(long start);
long spin_frame(long start);
long call_back(long (*function)(long), long value);

static NOINLINE long run(long (*spin)(long), long start)
{
	long result;

	puts("ready");
	fflush(stdout);
	result = spin(start);
	KEEP(result);
	return result + start;
}

static NOINLINE long spin_in_c(long value)
{
	volatile long counter = value;

	puts("ready");
	fflush(stdout);
	for (;;)
		counter++;
	return counter;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "leaf") == 0)
		return (int)run(spin_leaf, 100);
	if (strcmp(how, "frame") == 0)
		return (int)run(spin_frame, 200);
	if (strcmp(how, "chain") == 0)
		return (int)call_back(spin_in_c, 300) + 1;
	return 2;
}
