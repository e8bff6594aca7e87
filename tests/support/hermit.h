/* hermit: a user without other processes on this machine, for limits that count them. */
#ifndef XC_HERMIT_H
#define XC_HERMIT_H

#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

/* Root becomes such a user, in the group of nobody. False where a name space has no other users. */
static inline bool hermit_become(void)
{
	const uid_t pid = (uid_t)getpid(), wide = 2000000000 + pid, narrow = 1000 + pid % 64000;
	return !setgid(65534) && (!setuid(wide) || !setuid(narrow));
}

#endif
