/* A forked child dies of SIGSEGV; its parent waits for it and ends with status 0. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash.h"

static NOINLINE void child_main(pid_t parent, int channel)
{
	KEEP(parent);
	KEEP(channel);
	crash();
	_exit(2);
}

int main(void)
{
	pid_t parent = getpid(), child = fork();
	int status;

	if (child < 0)
		return 2;
	if (child == 0)
		child_main(parent, 5);
	if (waitpid(child, &status, 0) != child)
		return 2;
	return WIFSIGNALED(status) ? 0 : 2;
}
