/* threadwords: see threadwords.h. */
#include "core/text/threadwords.h"

void xc_thread_words(struct xc_text *text, int tid, const char *name)
{
	xc_text_printf(text, "thread %d", tid);
	if (!name)
		return;
	xc_text_add(text, " \"");
	xc_text_name(text, name);
	xc_text_char(text, '"');
}
