#include "core/io/replace.h"

#include <unistd.h>

void xc_replace_like(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode &= (mode_t)~S_IRWXG;
	fchmod(fd, mode); /* behind that: a change of owner may take rights away */
}
