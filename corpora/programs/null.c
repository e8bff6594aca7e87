/* Dies of SIGSEGV at an address in the first page, or at one that it may not touch that way.
 * Arguments: read (field of a NULL struct), write, call (NULL function pointer), readonly (write to a constant:
 * SEGV_ACCERR), guard (read of a PROT_NONE page). */
#include <string.h>
#include <sys/mman.h>

#include "crash.h"

struct session {
	char name[16];
	int (*on_close)(struct session *self, int why);
	unsigned refs;
	long bytes_out;
};

static NOINLINE long read_field(const struct session *session)
{
	return session->bytes_out + 1;
}

static NOINLINE void write_field(struct session *session, unsigned refs)
{
	session->refs = refs;
}

static NOINLINE int call_pointer(struct session *session, int why)
{
	return session->on_close(session, why) + 1;
}

static NOINLINE void write_constant(char *text)
{
	text[0] = 'X';
}

static NOINLINE int read_guard(const int *page)
{
	return page[3] + 1;
}

static int dispatch(const char *how)
{
	struct session *none = opaque(NULL);
	struct session live = {.name = "live", .refs = 2};

	if (strcmp(how, "read") == 0)
		return (int)read_field(none);
	if (strcmp(how, "write") == 0)
		write_field(none, live.refs);
	if (strcmp(how, "call") == 0)
		return call_pointer(opaque(&live), 7);
	if (strcmp(how, "readonly") == 0)
		write_constant(opaque("a constant"));
	if (strcmp(how, "guard") == 0)
		return read_guard(mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	return 0;
}

int main(int argc, char **argv)
{
	return argc == 2 ? dispatch(argv[1]) : 2;
}
