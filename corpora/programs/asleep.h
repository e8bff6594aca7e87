/* Until a program's threads are where they are going to stay: how long that takes is the machine's affair. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a thread of this process was scheduled, if it sleeps now; -1 if it does not. */
static long naps_of(const char *thread)
{
	char path[64], line[512];
	long naps = 0;

	snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", thread);
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(line, 1, sizeof line - 1, file) : 0;
	if (file)
		fclose(file);
	line[len] = '\0';
	const char *state = strrchr(line, ')');
	if (!state || strncmp(state, ") S", 3) != 0)
		return -1;
	snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", thread);
	if (!(file = fopen(path, "r")) || fscanf(file, "%*s %*s %ld", &naps) != 1) {
		fprintf(stderr, "no schedstat: there is no telling when threads are at rest\n");
		exit(2);
	}
	fclose(file);
	return naps;
}

/* The sum over all threads but the one that asks; -1 unless they all sleep. */
static long naps_of_others(void)
{
	DIR *threads = opendir("/proc/self/task");
	long naps = threads ? 0 : -1;

	for (const struct dirent *thread; naps >= 0 && (thread = readdir(threads));) {
		if (thread->d_name[0] == '.' || atoi(thread->d_name) == gettid())
			continue;
		long more = naps_of(thread->d_name);
		naps = more < 0 ? -1 : naps + more;
	}
	if (threads)
		closedir(threads);
	return naps;
}

/* Until all other threads sleep and none ran between two looks: then none will run any more, unless one has a pause on its way. */
static inline void await_others(void)
{
	long naps, before = -1;

	while ((naps = naps_of_others()) < 0 || naps != before) {
		before = naps;
		usleep(2000);
	}
}

#endif
