/* A program with a damaged heap: `stay` overwrites the header of one block permanently; `pass` overwrites and restores
 * the headers of one block after another, so that each look finds a different one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 2000, SIZE = 200 };

static size_t *blocks[BLOCKS];

static void wait_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(SIZE);
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1 && strcmp(argv[1], "stay") == 0) {
		*(blocks[BLOCKS / 2] - 1) = 0x4141414141414141;
		printf("%p\n", (void *)blocks[BLOCKS / 2]);
		for (;;)
			wait_ms(900);
	}
	puts("passing");
	for (int i = 0;; i = (i + 1) % BLOCKS) {
		volatile size_t *header = blocks[i] - 1;
		size_t sound = *header;
		*header = 0x4141414141414141;
		wait_ms(10);
		*header = sound;
	}
}
