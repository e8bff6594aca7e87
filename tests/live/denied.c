/* denied PROGRAM [ARGUMENTS]: run it where perf_event_open is refused, as in many containers. */
#include <errno.h>
#include <seccomp.h>
#include <unistd.h>

int main(int count, char **words)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	(void)count;
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(perf_event_open), 0) || seccomp_load(filter))
		return 99;
	return execv(words[1], words + 1);
}
