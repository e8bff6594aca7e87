/* names: see names.h. */
#include "triage/util/names.h"

#include <stddef.h>
#include <ctype.h>
#include <string.h>

const char *xc_names_find(const char *const *names, const char *name)
{
	for (; name && *names; names++)
		if (strcmp(*names, name) == 0)
			return *names;
	return NULL;
}

const char *xc_names_begin(const char *const *names, const char *name)
{
	for (; name && *names; names++)
		if (strncmp(*names, name, strlen(*names)) == 0)
			return *names;
	return NULL;
}

bool xc_names_in(const char *const *names, const char *text)
{
	for (; text && *names; names++)
		if (strstr(text, *names))
			return true;
	return false;
}

bool xc_names_next_word(const char **at, char word[XC_NAMES_WORD])
{
	size_t len = 0;
	while (**at && !isalpha((unsigned char)**at))
		++*at;
	for (const char *from = *at; isalpha((unsigned char)**at); ++*at) {
		bool begins = *at > from && isupper((unsigned char)**at) && !isupper((unsigned char)(*at)[-1]);
		if (begins)
			break;
		if (len + 1 < XC_NAMES_WORD)
			word[len++] = (char)tolower((unsigned char)**at);
	}
	word[len] = '\0';
	return len != 0;
}
