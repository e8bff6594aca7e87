/* xmltext: XML 1.0 (2.2 Characters) also forbids U+FFFE and U+FFFF. Escaping as a name removes other control
 * characters. */
#include "core/text/xmltext.h"

#include <ctype.h>
#include <string.h>

bool xc_xmltext_is_command(const char *at, const char *start)
{
	const bool begins = at == start || isspace((unsigned char)at[-1]);
	return (at[0] == '#' && at[1] == '#') || (begins && at[0] == ':' && at[1] == ':');
}

void xc_xmltext(struct xc_text *text, const char *name)
{
	struct xc_text clean = {0};
	xc_text_name(&clean, name);
	const char *bytes = xc_text_string(&clean);
	for (size_t i = 0; bytes[i]; i++) {
		bool forbidden = !strncmp(bytes + i, "\xef\xbf\xbe", 3) || !strncmp(bytes + i, "\xef\xbf\xbf", 3);
		if (bytes[i] == '&')
			xc_text_add(text, "&amp;");
		else if (bytes[i] == '<')
			xc_text_add(text, "&lt;");
		else if (bytes[i] == '>')
			xc_text_add(text, "&gt;");
		else if (bytes[i] == '"')
			xc_text_add(text, "&quot;");
		else if (xc_xmltext_is_command(bytes + i, bytes))
			xc_text_printf(text, "&#%d;", bytes[i]);
		else if (forbidden)
			xc_text_add(text, "\xef\xbf\xbd");
		else
			xc_text_char(text, bytes[i]);
		i += forbidden ? 2 : 0;
	}
	xc_text_fini(&clean);
}
