/* triage_gate: findings precede gaps: a new problem is certain, whatever is unknown. */
#include "cli/triage/triage_gate.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"

static const char *const words[] = {"new", "unreadable", "low", "medium", "high", "critical", NULL};

const struct xc_option xc_triage_gate_options[] = {
	{.name = "fail-on",
	 .kind = XC_OPTION_LIST,
	 .offset = offsetof(struct xc_common, fail_on),
	 .value = "WHAT",
	 .about =
		 "exit with 1 if there is WHAT: new (a cluster that is not in the baseline, or has expired; without "
		 "a baseline, any cluster), a severity (low, medium, high, critical: an unaccepted cluster of at "
		 "least that severity), "
		 "or unreadable (a core without a verdict, or a file or directory that cannot be opened); several with "
		 "commas",
	 .words = words},
	{.name = "source-root",
	 .kind = XC_OPTION_LIST,
	 .offset = offsetof(struct xc_common, source_roots),
	 .value = "DIR",
	 .about = "the source directory at compile time: paths in exports are relative to it; nothing is read there",
	 .complete = XC_COMPLETE_DIR},
	{.name = "strict",
	 .kind = XC_OPTION_ON,
	 .offset = offsetof(struct xc_common, strict),
	 .about = "refuse files that cannot be verified; parts that are missing exit with 3 in any case"},
	{.name = NULL},
};

const char *const xc_triage_gate_statuses[6] = {
	"no condition for failure was met, even if there are crashes; with --shard: the part was written",
	"a cluster is new or has expired (--baseline), or a condition of --fail-on was met",
	"the command line is wrong",
	"parts are missing, or more cores, files and directories than --max-unreadable could not be read",
	("a named file or directory cannot be read or written or does not answer, a core could not be examined "
	 "here, or "
	 "--policy failed"),
	"an error of xcore itself",
};

/* The next word of a list with commas; NULL at its end. */
static const char *next_word(const char **list, size_t *len_out)
{
	const char *word = *list;
	if (!*word)
		return NULL;
	*len_out = strcspn(word, ",");
	*list += *len_out + (word[*len_out] == ',');
	return word;
}

static const char *known_word(const char *word, size_t len)
{
	for (size_t i = 0; words[i]; i++)
		if (strlen(words[i]) == len && !strncmp(words[i], word, len))
			return words[i];
	return NULL;
}

static struct xc_error *unknown_word(const char *word, size_t len)
{
	struct xc_text list = {0};
	for (size_t i = 0; words[i]; i++)
		xc_text_printf(&list, "%s%s", i ? ", " : "", words[i]);
	struct xc_error *err =
		xc_error_new(XC_ERR_USAGE, "--fail-on: '%.*s' is not one of %s", (int)len, word, xc_text_string(&list));
	xc_text_fini(&list);
	return err;
}

struct xc_error *xc_triage_gate_check(const struct xc_words *given)
{
	const char *word;
	size_t len;
	for (size_t i = 0; i < given->count; i++)
		for (const char *list = given->items[i]; (word = next_word(&list, &len));)
			if (!known_word(word, len))
				return unknown_word(word, len);
	return NULL;
}

/* Is the problem unaccepted? Known problems do not fail a run, however severe. Without a baseline nothing is known. */
static bool counts(const struct xc_problem *problem)
{
	return problem->state == XC_PROBLEM_NEW || problem->state == XC_PROBLEM_OPEN || problem->expired;
}

static size_t hits(const char *word, const struct xc_problems *problems)
{
	size_t count = 0;
	if (!strcmp(word, "unreadable"))
		return problems->failed_count + problems->unread;
	for (size_t i = 0; i < problems->count; i++) {
		const struct xc_problem *p = &problems->problems[i];
		if (!strcmp(word, "new"))
			count += counts(p);
		else
			count += counts(p) && xc_severity_rank(p->severity) >= xc_severity_rank(word);
	}
	return count;
}

static char *phrase_new(const struct xc_problems *problems, size_t count)
{
	const char *s = count == 1 ? "" : "s";
	size_t expired = 0;
	for (size_t i = 0; i < problems->count; i++)
		expired += problems->problems[i].expired;
	if (problems->counts[XC_PROBLEM_OPEN])
		return xc_asprintf("%zu cluster%s, and without --baseline all are new", count, s);
	if (!expired)
		return xc_asprintf("%zu new cluster%s", count, s);
	const size_t new = count - expired; /* as in the table: an expired problem is known, but no longer accepted */
	xc_auto(xc_freep) char *before = new ? xc_asprintf("%zu new cluster%s, ", new, new == 1 ? "" : "s") : NULL;
	return xc_asprintf("%s%zu expired cluster%s (known, but the day of expires= in the baseline is over)",
			   before ? before : "", expired, expired == 1 ? "" : "s");
}

static char *phrase_unreadable(const struct xc_problems *problems)
{
	const size_t count = problems->failed_count + problems->unread;
	if (problems->unread)
		return xc_asprintf("%zu %s could not be read", count,
				   count == 1 ? "file or directory" : "cores, files and directories");
	return xc_asprintf("%zu core%s could not be read", count, count == 1 ? "" : "s");
}

static char *phrase(const char *word, const struct xc_problems *problems, size_t count)
{
	const char *s = count == 1 ? "" : "s";
	if (!strcmp(word, "unreadable"))
		return phrase_unreadable(problems);
	if (!strcmp(word, "new"))
		return phrase_new(problems, count);
	return xc_asprintf("%zu cluster%s of severity %s or worse", count, s, word);
}

static bool fails_on(const char *word, const struct xc_problems *problems, char **why_out)
{
	const size_t count = hits(word, problems);
	if (count)
		*why_out = phrase(word, problems, count);
	return count != 0;
}

static bool policy_hit(const struct xc_triage_gate *gate, const struct xc_problems *problems, char **why_out)
{
	const char *word;
	size_t len;
	if (gate->baseline && fails_on("new", problems, why_out))
		return true;
	for (size_t i = 0; i < gate->fail_on->count; i++)
		for (const char *list = gate->fail_on->items[i]; (word = next_word(&list, &len));)
			if (fails_on(known_word(word, len), problems, why_out))
				return true;
	return false;
}

enum xc_exit xc_triage_gate(const struct xc_triage_gate *gate, const struct xc_problems *problems, char **why_out)
{
	*why_out = NULL;
	if (policy_hit(gate, problems, why_out))
		return XC_EXIT_POLICY;
	if (problems->missing_part_count) {
		*why_out = xc_asprintf("%zu part%s missing: %s%s", problems->missing_part_count,
				       problems->missing_part_count == 1 ? " is" : "s are", problems->missing_parts[0],
				       problems->missing_part_count == 1 ? "" : ", …");
		return XC_EXIT_INCOMPLETE;
	}
	if (gate->limited && problems->failed_count + problems->unread > gate->max_unreadable) {
		xc_auto(xc_freep) char *what = phrase_unreadable(problems);
		*why_out = xc_asprintf("%s, more than --max-unreadable %" PRIu64, what, gate->max_unreadable);
		return XC_EXIT_INCOMPLETE;
	}
	return XC_EXIT_DONE;
}
