/* profile_facts: the lines that account for a profile, or describe its target: fields and messages of a section, kept
 * with the profile's texts. */
#ifndef XC_PROFILE_FACTS_H
#define XC_PROFILE_FACTS_H

#include "core/report/report.h"
#include "core/text/intern.h"

struct xc_profile_fact {
	uint32_t kind;       /* enum xc_field_kind */
	uint32_t note;       /* 0: a field; else a message: enum xc_severity, plus 1 */
	uint32_t quiet;      /* 1: JSON only */
	uint32_t secret;     /* 1: the user's data */
	uint32_t key, label; /* of a field: texts, 0: none */
	uint32_t text, hint; /* of a message, or a field's */
	uint64_t number;
	double real;
};

struct xc_profile_facts {
	struct xc_profile_fact *rows;
	size_t count, room;
};

/* Keep the fields and messages of a section, in order. Text number 0 is none. */
void xc_profile_facts_keep(struct xc_profile_facts *facts, struct xc_intern *texts, const struct xc_section *section);

/* Add them to a section. */
void xc_profile_facts_show(const struct xc_profile_facts *facts, const struct xc_intern *texts,
			   struct xc_section *section);

#endif
