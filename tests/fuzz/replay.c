/* layer: core
 *
 * replay: runs one fuzz target on files and directories, for compilers without a fuzzer. Linked with each fuzz_*.c.
 * Prints TAP. A file that takes longer than 10 seconds ends the program (SIGALRM) like a crash; its name is the last
 * one printed. */
#ifndef XC_FUZZER /* clang's fuzzer brings its own main: tests/fuzz/run */

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS = 10, MAX_PATH = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

static void run_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size ? size : 1); /* exact size, so that ASan detects a read past it */
	FILE *file = fopen(path, "r");
	if (!data || !file || fread(data, 1, size, file) != size)
		fail(path);
	fclose(file);
	printf("# %s\n", path);
	fflush(stdout);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(data, size);
	alarm(0);
	printf("ok %u - %s\n", ++count, path);
	free(data);
}

static void run(const char *path)
{
	char below[MAX_PATH];
	struct dirent **entries;
	struct stat st;
	if (stat(path, &st) < 0)
		fail(path);
	if (!S_ISDIR(st.st_mode)) {
		run_file(path, (size_t)st.st_size);
		return;
	}
	int n = scandir(path, &entries, NULL, alphasort);
	if (n < 0)
		fail(path);
	for (int i = 0; i < n; i++) {
		snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			run(below);
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	if (count == 0) {
		fprintf(stderr, "usage: %s FILE|DIRECTORY…: nothing to run\n", argv[0]);
		return 1;
	}
	return 0;
}

#endif
