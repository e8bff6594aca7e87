/* framed: the rule that decides about a frame. */
#ifndef XC_TEST_FRAMED_H
#define XC_TEST_FRAMED_H

#include <stdio.h>
#include <string.h>

#include "batch/signature/framerules.h"
#include "tests/support/check.h"

enum { ALL = 0x3f, FATE = ALL & ~(1u << XC_FRAMES_NOT_APP) };

static inline void add(struct xc_framerules *rules, const char *text)
{
	CHECK_OK(xc_framerules_add(rules, text, strlen(text), "mine.txt"));
}

static enum xc_language language; /* of all requested frames */

static inline const struct xc_framerule *match(const struct xc_framerules *rules, unsigned sections, const char *name,
					       const char *module, const char *path)
{
	const struct xc_framerule_frame frame = {name, module, path, language};
	return xc_framerules_match(rules, sections, &frame);
}

/* "SKIP-ABOVE abort", or "-". */
static inline const char *found(const struct xc_framerules *rules, const char *name, const char *module,
				const char *path)
{
	static char text[256];
	const struct xc_framerule *rule = match(rules, FATE, name, module, path);
	snprintf(text, sizeof text, "%s %s", rule ? xc_framerules_section(rule->section) : "-",
		 rule ? rule->pattern : "");
	return text;
}

#endif
