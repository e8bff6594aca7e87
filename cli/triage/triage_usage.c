/* triage_usage: each option has a row with the modes in which it has an effect. In another mode it is refused, because
 * a run that ignores an option looks like one that obeyed it. */
#include "cli/triage/triage_usage.h"

#include <string.h>
#include <sys/stat.h>

#include "batch/problems/baseline.h"
#include "batch/export/export.h"
#include "cli/triage/triage.h"
#include "cli/triage/triage_gate.h"

/* The modes of a run, and its kinds of output. */
enum {
	WHOLE = 1, /* from cores to problems */
	MERGE = 2,
	SHARD = 4,
	PLAN = 8,
	EMIT = 16,
	ENDS = WHOLE | MERGE | EMIT, /* modes that produce problems */
	/* modes that examine cores; a planner accepts the options of those who examine */
	LOOKS = WHOLE | SHARD | PLAN | EMIT,
	EXPLAINS = 32, /* --explain has its own output */
	KEEPS = 64,    /* so has --keep */
	ALL = ENDS | LOOKS | EXPLAINS | KEEPS,
};

static const struct rule {
	const char *name;
	unsigned roads;
} rules[] = {
	{"export", ENDS | KEEPS},
	{"baseline", ENDS | KEEPS},
	{"update-baseline", ENDS | KEEPS},
	{"today", ENDS | KEEPS},
	{"fail-on", ENDS | KEEPS},
	{"max-unreadable", ENDS | KEEPS},
	{"source-root", ENDS | KEEPS},
	{"manifest", ENDS | KEEPS},
	{"limit", ENDS | KEEPS},
	{"format", ENDS},
	{"frames", ENDS | EXPLAINS | KEEPS},
	{"policy", ENDS | EXPLAINS | KEEPS},
	{"max-instructions", ENDS | EXPLAINS | KEEPS},
	{"max-memory", ENDS | EXPLAINS | KEEPS},
	{"max-time", ENDS | EXPLAINS | KEEPS},
	{"explain", ENDS | EXPLAINS},
	{"keep", ENDS | KEEPS},
	{"prune", WHOLE | KEEPS},
	{"plan-file", SHARD},
	{"run", SHARD},
	{"shards", MERGE | EMIT},
	{"exe", LOOKS | EXPLAINS | KEEPS},
	{"sysroot", LOOKS | EXPLAINS | KEEPS},
	{"debug-dir", LOOKS | EXPLAINS | KEEPS},
	{"store", LOOKS | EXPLAINS | KEEPS},
	{"no-host-files", LOOKS | EXPLAINS | KEEPS},
	{"journal", LOOKS | EXPLAINS | KEEPS},
	{"timeout", LOOKS | EXPLAINS | KEEPS},
	{"worker-memory", LOOKS | EXPLAINS | KEEPS},
	{"max-core-size", LOOKS | EXPLAINS | KEEPS},
	{"resume", WHOLE | SHARD | EXPLAINS | KEEPS},
	{"strict", LOOKS | EXPLAINS | KEEPS},
	{"stats", 0},
	{"swap", 0},
	{"max-read-rate", 0},
	{"max-read-time", 0},
	{"plugin-path", 0},
	{"max-output", 0},
	{"redact", LOOKS | EXPLAINS | KEEPS},
	{"no-redact", ALL}, /* a merge shows everything in its records */
};

static const struct way {
	unsigned road;
	const char *name, *why;
} ways[] = {
	{MERGE, "--merge", "it merges existing records"},
	{SHARD, "--shard", "it only makes records: give it to --merge"},
	{PLAN, "--plan", "it only lists cores"},
	{EMIT, "--emit", "it only writes a job file"},
	{EXPLAINS, "--explain", "it only shows which frames count"},
	{KEEPS, "--keep", "it only writes a list"},
};

static unsigned roads_of(const struct xc_triage_settings *s)
{
	unsigned road = s->merge == XC_ON ? MERGE : s->shard ? SHARD : s->plan == XC_ON ? PLAN : s->emit ? EMIT : WHOLE;
	return road | (s->explain == XC_ON ? EXPLAINS : 0) | (s->keep == XC_ON ? KEEPS : 0);
}

void xc_triage_given(const struct xc_job *job, const char *const *names, struct xc_arena *arena, struct xc_words *words)
{
	const struct xc_common usual = xc_common_defaults();
	const struct xc_option_set common = {xc_common_options, (void *)(uintptr_t)&job->common};
	const struct xc_option_set own = {job->command->options, job->settings};
	for (const char *const *name = names; *name; name++) {
		xc_options_given(&common, &usual, *name, arena, words);
		xc_options_given(&own, NULL, *name, arena, words);
	}
}

static bool is_given(const struct xc_job *job, const char *name)
{
	const char *const names[] = {name, NULL};
	struct xc_arena arena = {0};
	struct xc_words words = {0};
	xc_triage_given(job, names, &arena, &words);
	bool given = words.count != 0;
	xc_words_fini(&words);
	xc_arena_fini(&arena);
	return given;
}

static struct xc_error *check_roads(const struct xc_job *job)
{
	const unsigned roads = roads_of(job->settings);
	for (size_t i = 0; i < XC_COUNT(rules); i++) {
		if (!(roads & ~rules[i].roads) || !is_given(job, rules[i].name))
			continue;
		if (!rules[i].roads)
			return xc_error_new(XC_ERR_USAGE, "--%s has no effect in triage", rules[i].name);
		for (size_t k = 0; k < XC_COUNT(ways); k++)
			if (ways[k].road & roads & ~rules[i].roads)
				return xc_error_new(XC_ERR_USAGE, "--%s has no effect with %s: %s", rules[i].name,
						    ways[k].name, ways[k].why);
		return xc_error_new(XC_ERR_USAGE,
				    rules[i].roads == SHARD ? "--%s goes with --shard"
							    : "--%s goes with --emit or --merge",
				    rules[i].name);
	}
	return NULL;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The file's name within its directory; NULL if there is no such directory. */
static const char *name_in(const char *file, struct stat *directory_out)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	xc_auto(xc_freep) char *directory = xc_asprintf("%.*s.", (int)(name - file), file);
	return stat(directory, directory_out) ? NULL : name;
}

/* For files that do not exist yet. A dangling link is itself replaced (output.h). */
static bool shares_name(const char *one, const char *other)
{
	struct stat a, b;
	const char *name = name_in(one, &a), *other_name = name_in(other, &b);
	return name && other_name && is_same(&a, &b) && !strcmp(name, other_name);
}

/* Several answers may go to standard output, one after the other. In a file, the second one would replace the first. */
static bool shares_file(const char *one, const char *other)
{
	struct stat a, b;
	if (!one || !other || !strcmp(one, "-") || !strcmp(other, "-"))
		return false;
	if (stat(one, &a) || stat(other, &b))
		return shares_name(one, other);
	return S_ISREG(a.st_mode) && is_same(&a, &b) && strncmp(one, "/dev/", 5) != 0;
}

static struct xc_error *check_files(const struct xc_triage_settings *s, const char *output)
{
	for (size_t i = 0; i < s->exports.count; i++) {
		const char *file = strchr(s->exports.items[i], '=') + 1, *other = NULL;
		if (shares_file(file, output))
			other = "-o";
		for (size_t k = 0; k < i && !other; k++)
			if (shares_file(file, strchr(s->exports.items[k], '=') + 1))
				other = s->exports.items[k];
		if (other)
			return xc_error_new(XC_ERR_USAGE, "--export %s: %s writes to the same file",
					    s->exports.items[i], other);
	}
	return NULL;
}

static struct xc_error *check_exports(const struct xc_triage_settings *s)
{
	for (size_t i = 0; i < s->exports.count; i++) {
		const char *word = s->exports.items[i], *equals = strchr(word, '=');
		xc_auto(xc_freep) char *kind = equals ? xc_asprintf("%.*s", (int)(equals - word), word) : NULL;
		if (!equals || !equals[1])
			return xc_error_new(XC_ERR_USAGE, "--export: '%s' is not KIND=FILE", word);
		if (!xc_export_named(kind)) {
			xc_auto(xc_freep) char *kinds = xc_export_list();
			return xc_error_hint(xc_error_new(XC_ERR_USAGE, "--export: '%s' is not a format", kind), "%s",
					     kinds);
		}
	}
	return NULL;
}

/* Options that require or exclude each other. */
static struct xc_error *check_needs(const struct xc_triage_settings *s)
{
	if ((s->shard != NULL) + (s->merge == XC_ON) + (s->plan == XC_ON) + (s->emit != NULL) > 1)
		return xc_error_new(XC_ERR_USAGE, "--shard makes a part, --merge merges parts, --plan lists the "
						  "cores, --emit writes a job file: give one of them");
	if (s->explain == XC_ON && s->keep == XC_ON)
		return xc_error_new(XC_ERR_USAGE, "--explain and --keep give different output: give one of them");
	if (s->prune == XC_ON && (s->merge == XC_ON || s->shard || s->plan == XC_ON || s->emit))
		return xc_error_new(XC_ERR_USAGE, "--prune deletes cores that it has just examined: not with --merge, "
						  "--shard, --plan or --emit");
	if (s->journal && !strcmp(s->journal, "-") && s->emit)
		return xc_error_new(XC_ERR_USAGE, "--journal: '-' is standard input, which a job does not have: name a "
						  "file");
	if (s->dry_run == XC_ON && s->prune != XC_ON)
		return xc_error_new(XC_ERR_USAGE, "--dry-run goes with --prune");
	if (s->update_baseline == XC_ON && !s->baseline)
		return xc_error_new(XC_ERR_USAGE, "--update-baseline needs --baseline FILE");
	if (s->today && !s->baseline)
		return xc_error_new(XC_ERR_USAGE,
				    "--today is compared with expiry dates of a --baseline, which was not "
				    "given");
	return NULL;
}

/* Limits of Lua; cores have others. */
static struct xc_error *check_limits(const struct xc_job *job)
{
	static const char *const limits[] = {"max-instructions", "max-memory", "max-time"};
	const struct xc_triage_settings *s = job->settings;
	for (size_t i = 0; !s->policy && i < XC_COUNT(limits); i++)
		if (is_given(job, limits[i]))
			return xc_error_hint(
				xc_error_new(XC_ERR_USAGE, "--%s limits a --policy, which was not given", limits[i]),
				"--timeout, --worker-memory and --max-core-size limit what is spent on a core");
	return NULL;
}

static struct xc_error *check_values(const struct xc_job *job)
{
	const struct xc_triage_settings *s = job->settings;
	uint64_t number;
	if (s->max_unreadable && !xc_options_number(s->max_unreadable, UINT64_MAX, &number))
		return xc_error_new(XC_ERR_USAGE, "--max-unreadable: '%s' is not a number", s->max_unreadable);
	if (s->today && !xc_baseline_is_date(s->today))
		return xc_error_new(XC_ERR_USAGE, "--today: '%s' is not a date: write 2027-01-31", s->today);
	if (job->common.debuginfod == XC_ON)
		return xc_error_hint(
			xc_error_new(XC_ERR_USAGE, "--debuginfod: workers have no network"),
			"give the files by --sysroot, --debug-dir or --store; `xcore analyze CORE --debuginfod` "
			"examines one core with files from the servers");
	return NULL;
}

struct xc_error *xc_triage_usage_check(const struct xc_job *job)
{
	const struct xc_triage_settings *s = job->settings;
	struct xc_error *err;
	if ((err = xc_triage_gate_check(&job->common.fail_on)) || (err = check_exports(s)) ||
	    (err = check_files(s, job->common.output)) || (err = check_needs(s)) || (err = check_values(job)) ||
	    (err = check_roads(job)))
		return err;
	return check_limits(job);
}
