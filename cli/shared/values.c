#include "cli/shared/values.h"

void xc_value_settings_apply(const struct xc_value_settings *settings, struct xc_format_options *format)
{
	if (settings->depth)
		format->depth = settings->depth;
	if (settings->elements)
		format->elements = settings->elements;
	if (settings->length)
		format->length = settings->length;
	format->raw = settings->raw == XC_ON;
}
