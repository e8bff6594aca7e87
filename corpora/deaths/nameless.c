/* Dies of SIGSEGV in a function that has no symbol, behind start-up code whose symbols have no size. There is no debug information either.
 *
 * build gcc-nameless: -O1 -g0
 * build clang-nameless: -O1 -g0
 */
#include <stdlib.h>

#include "death.h"

struct message {
	long id;
	const char *text;
};

volatile long sink;

/* As what is stripped: assemblers keep no name of this kind. */
static long reply(const struct message *asked) __asm__(".Lreply");

NOINLINE static long reply(const struct message *asked)
{
	return asked->id + 1;
}

static void die_read(void)
{
	sink = reply(opaque(NULL));
	sink = 0;
}

DEATHS({"read", die_read})
