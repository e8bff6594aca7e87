/* replace: a file that is to take the name of an older one, which it is not otherwise to differ from. */
#ifndef XC_REPLACE_H
#define XC_REPLACE_H

#include <sys/stat.h>

/* Give an open file the rights, group and owner of the older one, as far as this process may: rights of a group that cannot be kept are nobody's. */
void xc_replace_like(int fd, const struct stat *old);

#endif
