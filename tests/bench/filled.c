/* Dies of SIGSEGV with N MiB (first argument) of written memory: cores that differ only in size. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int crash(const unsigned char *memory, size_t size)
{
	volatile int *nowhere = NULL;

	return *nowhere + memory[size - 1];
}

int main(int argc, char **argv)
{
	size_t size = argc == 2 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	unsigned char *memory =
		size ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

	if (memory == MAP_FAILED)
		return 2;
	memset(memory, 0x5a, size);
	return crash(memory, size);
}
