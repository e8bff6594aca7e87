/* Dies of SIGSEGV after it has deleted its own executable; a copy is kept as deleted.kept. */
#include <unistd.h>

#include "crash.h"

static char own_path[4096];

static NOINLINE void remove_self(void)
{
	ssize_t size = readlink("/proc/self/exe", own_path, sizeof own_path - 1);

	if (size <= 0 || unlink(own_path))
		_exit(2);
	KEEP(size);
	crash();
}

int main(void)
{
	remove_self();
	return 2;
}
