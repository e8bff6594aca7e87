#include "typing_engine.h"

uint32_t xc_typing_rule(const struct xc_engine *e, const struct xc_hit *hit)
{
	(void)e;
	(void)hit;
	return 0;
}

bool xc_typing_learn(struct xc_engine *e)
{
	(void)e;
	return false;
}

void xc_typing_rules_free(struct xc_engine *e)
{
	(void)e;
}
