/* compiled: makes functions while it runs, of which one takes three times as long as the other, and writes their names into
 * /tmp/perf-PID.map. For x86-64. Says "ready" and runs until it is killed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push rbp; mov rbp, rsp; mov ecx, COUNT; loop: dec ecx; jnz loop; pop rbp; ret */
static const uint8_t text[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

static void (*make(uint8_t *at, uint32_t count, FILE *map, const char *name))(void)
{
	void (*function)(void);
	memcpy(at, text, sizeof text);
	memcpy(at + 5, &count, sizeof count);
	fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof text, name);
	memcpy(&function, &at, sizeof at);
	return function;
}

int main(void)
{
	enum { PAGE = 4096, COUNT = 1000000 };
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!map || code == MAP_FAILED)
		return 1;
	void (*lazy)(void) = make(code, COUNT, map, "old:lazy /app.js:1");
	lazy = make(code, COUNT, map, "Lazy:short name /app.js:1"); /* once more at the same place */
	void (*hot)(void) = make(code + 64, 3 * COUNT, map, "Hot:long name /app.js:2");
	fclose(map);
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	puts("ready");
	fflush(stdout);
	for (;;) {
		lazy();
		hot();
	}
}
