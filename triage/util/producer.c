#include "triage/util/producer.h"

#include <dwarf.h>

const char *xc_producer(const struct xc_place *place)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit = place->unit;
	return place->level_count && dwarf_attr(&unit, DW_AT_producer, &attr) ? dwarf_formstring(&attr) : NULL;
}
