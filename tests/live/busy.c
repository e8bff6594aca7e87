/* busy: a process that updates its memory, for throughput measurements.
 *
 *	busy COUNTER-FILE CPU
 *
 * Updates 64 MiB at random, pinned to one processor, and counts its updates in COUNTER-FILE (8 bytes). Prints its pid
 * and the address of its memory. */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

enum { WORDS = 8 << 20 };

uint64_t *busy_words;
uint64_t busy_size = WORDS * sizeof(uint64_t);

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	cpu_set_t cpus;
	if (fd < 0 || ftruncate(fd, 4096))
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[2]), &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	volatile uint64_t *counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	busy_words = malloc(WORDS * sizeof *busy_words);
	for (size_t i = 0; i < WORDS; i++)
		busy_words[i] = i;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (uint64_t at = 1;; ++*counter)
		for (int i = 0; i < 1000; i++) {
			at = at * 6364136223846793005u + 1442695040888963407u;
			busy_words[at >> 41] ^= at;
		}
}
