/* wordlist: words of a command line, borrowed: "--sysroot=/srv/a b". */
#ifndef XC_WORDLIST_H
#define XC_WORDLIST_H

#include <stddef.h>

struct xc_wordlist {
	const char *const *items;
	size_t count;
};

#endif
