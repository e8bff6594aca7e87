/* abort_message: libraries store the message of an abort behind a symbol.
 *
 *	__abort_msg         glibc 2.36: -> { uint32 size; char text[]; }, exported as GLIBC_PRIVATE
 *	                    (assert/assert.c, sysdeps/posix/libc_fatal.c)
 *	__glib_assert_msg   GLib 2.74: -> text (glib/gtestutils.c)
 *	gMozCrashReason     Firefox: -> text (mfbt/Assertions.h)
 *
 * musl 1.2 only prints its messages (src/exit/assert.c). GLib's message comes first: the abort() that follows it has
 * none. */
#include "triage/crash/abort_message.h"

#include <signal.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "dwarf/stack/frame_walk.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

enum { MESSAGE_MAX = 1024, FRAMES = 64 };

static const struct {
	const char *symbol;
	unsigned text; /* offset of the text from the target of the symbol's pointer */
} keepers[] = {{"__glib_assert_msg", 0}, {"gMozCrashReason", 0}, {"__abort_msg", 4}};

/* The text of a symbol, in the report's arena; NULL when there is none. */
static const char *read_text(const struct xc_crash_context *crash, const char *symbol, unsigned offset)
{
	char text[MESSAGE_MAX + 1];
	const struct xc_process *p = crash->process;
	xc_addr at;
	uint64_t message;
	if (!xc_symbol_find(p, symbol, NULL, &at) || !xc_space_peek_uint(p->space, at, p->arch->word, &message) ||
	    !message || xc_space_peek_string(p->space, message + offset, text, MESSAGE_MAX, NULL) < 0)
		return NULL;
	size_t len = strlen(text);
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		text[--len] = '\0';
	return len ? xc_arena_strdup(&crash->report->arena, text) : NULL;
}

void xc_abort_message_read(struct xc_crash_context *crash)
{
	/* Firefox crashes by writing to NULL */
	for (size_t i = 0; i < XC_COUNT(keepers) && !crash->verdict->message; i++)
		if (crash->fault.signal == SIGABRT ||
		    (crash->fault.signal == SIGSEGV && strcmp(keepers[i].symbol, "gMozCrashReason") == 0))
			crash->verdict->message = read_text(crash, keepers[i].symbol, keepers[i].text);
}

bool xc_abort_message_handled(struct xc_crash_context *crash, const struct xc_thread *thread)
{
	struct xc_unwinder *unwinder = xc_unwinder_new(crash->process);
	struct xc_frame_walk walk;
	bool handler = false, aborts = false;
	xc_frame_walk_begin(&walk, crash->process, unwinder, thread, FRAMES);
	while (!aborts && xc_frame_walk_next(&walk)) {
		const struct xc_place *place = walk.context.place;
		const char *name = xc_place_outer_function(place);
		handler |= walk.frame.signal;
		aborts = handler && name && strcmp(name, "abort") == 0;
	}
	xc_unwinder_free(unwinder);
	if (aborts && !crash->verdict->message)
		crash->verdict->message = read_text(crash, "__abort_msg", keepers[XC_COUNT(keepers) - 1].text);
	return aborts;
}
