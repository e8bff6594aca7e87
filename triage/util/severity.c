#include "triage/util/severity.h"

#include <string.h>

#include "core/base/base.h"

static const char *const names[] = {"info", "low", "medium", "high", "critical"};

unsigned xc_severity_rank(const char *severity)
{
	for (unsigned i = 0; severity && i < XC_COUNT(names); i++)
		if (!strcmp(severity, names[i]))
			return i;
	return 0;
}

const char *xc_severity_name(unsigned rank)
{
	return names[rank < XC_COUNT(names) ? rank : XC_COUNT(names) - 1];
}
