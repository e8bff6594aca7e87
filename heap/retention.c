#include "retention.h"

void xc_retention_free(struct xc_retention *retention)
{
	(void)retention;
}
