/* denied ERROR PROGRAM [ARGUMENTS]: run it where perf_event_open is refused: EPERM, as filters of containers do; EACCES, as
 * kernel.perf_event_paranoid does when it is 3 or 4; ENOSYS, a kernel without it. */
#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
	const uint32_t error = !strcmp(words[1], "EACCES") ? EACCES : !strcmp(words[1], "ENOSYS") ? ENOSYS : EPERM;
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	(void)count;
	if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(error), SCMP_SYS(perf_event_open), 0) || seccomp_load(filter))
		return 99;
	return execv(words[2], words + 2);
}
