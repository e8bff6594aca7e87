#include "profile/data/profile_scrub.h"

#include <stdlib.h>

#include "core/base/say.h"
#include "core/report/scrub.h"

/* Files hold all texts, also those that nothing refers to any longer. */
static void redact_text(struct xc_intern *texts, uint32_t number, uint32_t redacted)
{
	if (number)
		texts->texts[number] = texts->texts[redacted];
}

static void redact_facts(struct xc_profile_facts *facts, struct xc_intern *texts, uint32_t redacted)
{
	for (size_t i = 0; i < facts->count; i++) {
		struct xc_profile_fact *fact = &facts->rows[i];
		if (!fact->secret)
			continue;
		redact_text(texts, fact->text, redacted);
		redact_text(texts, fact->hint, redacted);
		*fact = (struct xc_profile_fact){.kind = XC_FIELD_TEXT,
						 .key = fact->key,
						 .label = fact->label,
						 .quiet = fact->quiet,
						 .text = redacted};
	}
}

/* Which texts are names of functions. Malloc'ed. */
static bool *find_names(const struct xc_profile_data *d)
{
	bool *is_name = xc_alloc(d->texts.count * sizeof *is_name);
	for (size_t i = 0; i < d->function_count; i++)
		is_name[d->functions[i].name] = true;
	return is_name;
}

void xc_profile_scrub(struct xc_profile_data *d)
{
	if (!xc_say_redacts())
		return;
	const uint32_t redacted = xc_profile_data_add_text(d, XC_REDACTED);
	redact_facts(&d->target, &d->texts, redacted);
	redact_facts(&d->account, &d->texts, redacted);
	xc_auto(xc_freep) bool *is_name = find_names(d);
	for (size_t i = 0; i < d->texts.count; i++) {
		xc_auto(xc_text_fini) struct xc_text clean = {0};
		xc_say_redacted(&clean, d->texts.texts[i], is_name[i] ? XC_SAY_NAME : XC_SAY_PROSE);
		d->texts.texts[i] = xc_arena_strdup(&d->texts.arena, xc_text_string(&clean));
	}
}
