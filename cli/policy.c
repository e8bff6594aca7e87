/* policy: each word of --fail-on is a row: a test of the target, or a severity that the verdict must reach. */
#include "cli/policy.h"

#include <string.h>

#include "triage/cause.h"
#include "triage/util/severity.h"

static bool crashed(const struct xc_process *process, const struct xc_report *report)
{
	(void)report;
	return !process->live && process->signal.known && process->signal.number != 0;
}

static bool unverified(const struct xc_process *process, const struct xc_report *report)
{
	(void)report;
	for (size_t i = 0; i < process->module_count; i++) {
		enum xc_identity identity = process->modules[i]->identity;
		if (identity == XC_UNVERIFIED || identity == XC_REFUSED)
			return true;
	}
	return false;
}

static bool lacks_file(const struct xc_module *module)
{
	return module->kind != XC_MODULE_VDSO && (module->identity == XC_NO_FILE || module->identity == XC_REFUSED);
}

static bool missing(const struct xc_process *process, const struct xc_report *report)
{
	if (process->missing_bytes || (process->core && process->core->cut) || (report && report->incomplete))
		return true;
	for (size_t i = 0; i < process->module_count; i++)
		if (lacks_file(process->modules[i]))
			return true;
	return false;
}

static const struct rule {
	const char *word;
	bool (*hit)(const struct xc_process *process, const struct xc_report *report);
	const char *severity; /* met when the verdict is of this severity or worse */
} rules[] = {
	{"crash", crashed, NULL},   {"missing", missing, NULL}, {"unverified", unverified, NULL}, {"low", NULL, "low"},
	{"medium", NULL, "medium"}, {"high", NULL, "high"},     {"critical", NULL, "critical"},
};

static const struct rule *rule_named(const char *word, size_t len)
{
	for (size_t i = 0; i < XC_COUNT(rules); i++)
		if (strlen(rules[i].word) == len && strncmp(rules[i].word, word, len) == 0)
			return &rules[i];
	return NULL;
}

/* The next rule of a list with commas. False at its end; *rule_out is NULL for an unknown word. */
static bool next_rule(const char **list, const struct rule **rule_out, size_t *len_out)
{
	if (!**list)
		return false;
	*len_out = strcspn(*list, ",");
	*rule_out = rule_named(*list, *len_out);
	return true;
}

static void step(const char **list, size_t len)
{
	*list += len;
	if (**list == ',')
		(*list)++;
}

struct xc_error *xc_policy_check(const struct xc_words *words)
{
	const struct rule *rule;
	size_t len;
	for (size_t i = 0; i < words->count; i++) {
		for (const char *list = words->items[i]; next_rule(&list, &rule, &len); step(&list, len)) {
			if (!rule)
				return xc_error_new(
					XC_ERR_USAGE,
					"--fail-on: '%.*s' is not one of crash, low, medium, high, critical, missing, "
					"unverified",
					(int)len, list);
		}
	}
	return NULL;
}

static bool verdict_reaches(const char *severity, struct xc_process *process, const struct xc_report *report)
{
	struct xc_report *own = NULL;
	if (!report->verdict) {
		own = xc_report_new("verdict");
		xc_cause(own, process, NULL);
		report = own;
	}
	const struct xc_verdict *verdict = report->verdict;
	bool reached =
		verdict && verdict->severity && xc_severity_rank(verdict->severity) >= xc_severity_rank(severity);
	xc_report_free(own);
	return reached;
}

const char *xc_policy_hit(const struct xc_words *words, struct xc_process *process, const struct xc_report *report)
{
	const struct rule *rule;
	size_t len;
	for (size_t i = 0; i < words->count; i++) {
		for (const char *list = words->items[i]; next_rule(&list, &rule, &len); step(&list, len)) {
			if (!rule)
				continue;
			if (rule->hit ? rule->hit(process, report) : verdict_reaches(rule->severity, process, report))
				return rule->word;
		}
	}
	return NULL;
}

bool xc_policy_incomplete(const struct xc_process *process, const struct xc_report *report)
{
	return missing(process, report);
}
