/* triage_inputs: notes go to standard error, because they concern this machine and are not part of the answer. */
#include "cli/triage/triage_inputs.h"

#include <string.h>

#include "batch/input/journal.h"
#include "core/base/say.h"

static void report(const struct xc_inputs *inputs)
{
	for (size_t i = 0; i < inputs->note_count; i++)
		xc_say("%s", inputs->notes[i]);
	if (inputs->unnoted)
		xc_say("and %zu more that could not be searched", inputs->unnoted);
}

static struct xc_error *read_journal(const char *path, struct xc_inputs *inputs, struct xc_arena *arena,
				     const char **digest_out)
{
	struct xc_journal *journal;
	struct xc_error *err = xc_journal_read(path, &journal);
	if (err)
		return xc_error_wrap(err, "--journal");
	const size_t known = xc_journal_hint(journal, inputs);
	if (journal->count && !known)
		xc_say("--journal: none of its %zu crashes belongs to a given core", journal->count);
	*digest_out = xc_journal_digest(journal, arena);
	xc_journal_free(journal);
	return NULL;
}

static bool reads_standard_input(const struct xc_words *operands)
{
	for (size_t i = 0; i < operands->count; i++)
		if (!strcmp(operands->items[i], "-"))
			return true;
	return false;
}

struct xc_error *xc_triage_inputs(const struct xc_job *job, const char *journal, struct xc_arena *arena,
				  struct xc_inputs **inputs_out, const char **digest_out)
{
	const struct xc_words *names = &job->operands;
	if (journal && !strcmp(journal, "-") && reads_standard_input(names))
		return xc_error_new(XC_ERR_USAGE, "standard input is the list of cores: it cannot be the journal, too");
	struct xc_error *err = xc_inputs_find(names->items, names->count, inputs_out);
	if (err)
		return err;
	if (!xc_switch_or(job->common.quiet, false)) {
		report(*inputs_out);
		if (!(*inputs_out)->count)
			xc_say("no core was found; `xcore doctor` shows whether this machine writes any, and where");
	} else if ((*inputs_out)->unread) /* a failure, not a consequence of the options */
		xc_say("%zu %s could not be read: without -q they are named", (*inputs_out)->unread,
		       (*inputs_out)->unread == 1 ? "file or directory" : "files and directories");
	*digest_out = NULL;
	return journal ? read_journal(journal, *inputs_out, arena, digest_out) : NULL;
}
