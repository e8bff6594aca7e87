#include "dwarf/elf/budget.h"

static uint64_t budget = UINT64_MAX;
static bool fell_short;

void xc_budget_set(uint64_t amount)
{
	budget = amount;
	fell_short = false;
}

void xc_budget_add(uint64_t amount)
{
	budget += amount;
}

bool xc_budget_spend(uint64_t amount)
{
	return xc_spend(&budget, amount);
}

bool xc_budget_is_spent(void)
{
	return budget == 0;
}

void xc_budget_fall_short(void)
{
	fell_short = true;
}

bool xc_budget_is_short(void)
{
	return fell_short || xc_budget_is_spent();
}
