/* compiled: makes functions while it runs, of which one takes three times as long as the other, and writes their names into
 * /tmp/perf-PID.map; with an argument into jit-PID.dump in that directory, with lines. For x86-64. Says "ready" and runs
 * until it is killed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push rbp; mov rbp, rsp; mov ecx, COUNT; loop: dec ecx; jnz loop; pop rbp; ret */
static const uint8_t text[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
enum { LOOP = 9 };

static FILE *out;
static int is_dump;

static void put(uint64_t number, size_t size)
{
	fwrite(&number, size, 1, out);
}

static void put_header(void)
{
	put(0x4A695444, 4), put(1, 4), put(40, 4), put(62, 4), put(0, 4), put((uint64_t)getpid(), 4), put(0, 8),
		put(0, 8);
}

static void put_line(uint64_t at, unsigned line, const char *file)
{
	put(at, 8), put(line, 4), put(0, 4);
	fwrite(file, strlen(file) + 1, 1, out);
}

/* The loop is on the line after that of the function. */
static void put_function(uint64_t at, const char *name, unsigned line)
{
	put(2, 4), put(16 + 16 + 17 + sizeof "/app/main.js" - 1 + 18, 4), put(1, 8), put(at, 8), put(2, 8);
	put_line(at, line, "/app/main.js");
	put_line(at + LOOP, line + 1, "\xff");
	put(0, 4), put(16 + 40 + strlen(name) + 1 + sizeof text, 4), put(2, 8);
	put((uint64_t)getpid(), 4), put((uint64_t)getpid(), 4), put(at, 8), put(at, 8), put(sizeof text, 8), put(1, 8);
	fwrite(name, strlen(name) + 1, 1, out);
	fwrite(text, sizeof text, 1, out);
}

static void (*make(uint8_t *at, uint32_t count, const char *name, unsigned line))(void)
{
	void (*function)(void);
	memcpy(at, text, sizeof text);
	memcpy(at + 5, &count, sizeof count);
	if (is_dump)
		put_function((uint64_t)(uintptr_t)at, name, line);
	else
		fprintf(out, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof text, name);
	memcpy(&function, &at, sizeof at);
	return function;
}

/* A profiler learns of it by this mapping. */
static int open_out(const char *directory)
{
	char path[256];
	snprintf(path, sizeof path, directory ? "%s/jit-%d.dump" : "%s/perf-%d.map", directory ? directory : "/tmp",
		 (int)getpid());
	is_dump = directory != NULL;
	out = fopen(path, "w+");
	if (!out)
		return 0;
	if (is_dump)
		put_header();
	fflush(out);
	return !is_dump || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) != MAP_FAILED;
}

int main(int argc, char **argv)
{
	enum { PAGE = 4096, COUNT = 1000000 };
	uint8_t *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || !open_out(argc > 1 ? argv[1] : NULL))
		return 1;
	void (*lazy)(void) = make(code, COUNT, "old:lazy /app.js:1", 1);
	lazy = make(code, COUNT, "Lazy:short name /app.js:1", 5); /* once more at the same place */
	void (*hot)(void) = make(code + 64, 3 * COUNT, "Hot:long name /app.js:2", 7);
	fclose(out);
	mprotect(code, PAGE, PROT_READ | PROT_EXEC);
	puts("ready");
	fflush(stdout);
	for (;;) {
		lazy();
		hot();
	}
}
