/* names: see names.h. */
#include "triage/util/names.h"

#include <stddef.h>
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
