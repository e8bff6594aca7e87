/* lastwords: libc keeps the text of its last words in __abort_msg (exported, GLIBC_PRIVATE), a pointer to
 * { uint32 size; char text[]; } (glibc 2.36, assert/assert.c and sysdeps/posix/libc_fatal.c). */
#include "lastwords.h"

#include <signal.h>
#include <string.h>

#include "../dwarf/symbol.h"

enum { MESSAGE_MAX = 1024, MESSAGE_TEXT = 4 };

void xc_lastwords_read(struct xc_inquiry *q)
{
	char text[MESSAGE_MAX + 1];
	const struct xc_process *p = q->process;
	xc_addr at;
	uint64_t message;
	if (q->fault.signal != SIGABRT || !xc_symbol_find(p, "__abort_msg", NULL, &at) ||
	    !xc_space_peek_uint(p->space, at, p->arch->word, &message) || !message ||
	    xc_space_peek_string(p->space, message + MESSAGE_TEXT, text, MESSAGE_MAX, NULL) < 0)
		return;
	size_t len = strlen(text);
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		text[--len] = '\0';
	if (len)
		q->verdict->message = xc_arena_strdup(&q->report->arena, text);
}
