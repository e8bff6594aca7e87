/* threadlabel: see threadlabel.h. */
#include "core/text/threadlabel.h"

void xc_threadlabel(struct xc_text *text, int tid, const char *name)
{
	xc_text_printf(text, "thread %d", tid);
	if (!name)
		return;
	xc_text_add(text, " \"");
	xc_text_name(text, name);
	xc_text_char(text, '"');
}
