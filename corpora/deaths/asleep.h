/* Until others sleep: how long that takes is the machine's affair. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How often a thread was scheduled if it sleeps now; -1 if it does not. */
static long naps_of(pid_t process, const char *thread)
{
	char path[64], line[512];
	long naps = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)process, thread);
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(line, 1, sizeof line - 1, file) : 0;
	if (file)
		fclose(file);
	line[len] = '\0';
	const char *state = strrchr(line, ')');
	if (!state || strncmp(state, ") S", 3) != 0)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)process, thread);
	if ((file = fopen(path, "r"))) {
		if (fscanf(file, "%*s %*s %ld", &naps) != 1)
			naps = 0;
		fclose(file);
	}
	return naps;
}

/* The sum over all threads of a process but the one that asks; -1 unless they all sleep. */
static long naps_of_all(pid_t process)
{
	char path[64];
	long naps = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)process);
	DIR *threads = opendir(path);
	for (const struct dirent *thread; threads && naps >= 0 && (thread = readdir(threads));) {
		if (thread->d_name[0] == '.' || atoi(thread->d_name) == gettid())
			continue;
		long more = naps_of(process, thread->d_name);
		naps = more < 0 ? -1 : naps + more;
	}
	if (threads)
		closedir(threads);
	return threads ? naps : -1;
}

/* Waits until all threads of the process, but the one that waits, sleep and go on sleeping; 20 seconds at most. */
static inline void await_asleep(pid_t process)
{
	long before = -1;
	for (int looks = 0; looks < 1000; looks++) {
		long naps = naps_of_all(process);
		if (naps >= 0 && naps == before)
			return;
		before = naps;
		usleep(20000);
	}
}

#endif
