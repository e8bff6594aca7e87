/* symbols: the store of debug files by build-id, which every command uses, and the caches. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/progress.h"
#include "core/base/say.h"
#include "core/base/shared_status.h"
#include "dwarf/symstore/store_report.h"
#include "cli/interrupts.h"
#include "cli/target.h"

enum { SECONDS_A_DAY = 86400 };

struct settings {
	enum xc_switch link, copy, all, cache;
	unsigned older_than; /* days; 0 when not given */
};

/* ---- usage ---- */

/* Options that only one subcommand has. */
static struct xc_error *check_options(const struct xc_job *job)
{
	const struct settings *s = job->settings;
	struct xc_error *err;
	if ((err = xc_job_goes_with(job, s->link == XC_ON, "link", "index")) ||
	    (err = xc_job_goes_with(job, s->copy == XC_ON, "copy", "index")) ||
	    (err = xc_job_goes_with(job, s->all == XC_ON, "all", "clean")) ||
	    (err = xc_job_goes_with(job, s->cache == XC_ON, "cache", "clean")))
		return err;
	return xc_job_goes_with(job, s->older_than != 0, "older-than", "clean");
}

static struct xc_error *check(struct xc_job *job)
{
	size_t arguments = job->operands.count - 1;
	struct xc_error *err = check_options(job);
	if (err)
		return err;
	if (xc_job_is(job, "find") && arguments != 1)
		return xc_error_new(XC_ERR_USAGE, "find takes one build-id");
	if ((xc_job_is(job, "list") || xc_job_is(job, "clean")) && arguments)
		return xc_error_new(XC_ERR_USAGE, "unexpected argument '%s'", job->operands.items[1]);
	return NULL;
}

static struct xc_error *place(const struct xc_job *job, char **dir_out)
{
	*dir_out = xc_store_locate(job->common.store);
	return *dir_out ? NULL
			: xc_error_hint(xc_error_new(XC_ERR_USAGE, "there is no directory for a symbol store"),
					"give --store DIR, or set XCORE_SYMBOLS or HOME");
}

/* ---- index ---- */

/* The results so far are saved; then the signal ends the process. */
static void end_by_signal(const struct xc_job *job)
{
	if (job->common.quiet != XC_ON)
		xc_say("interrupted: the files found so far are in the store; run `symbols index` "
		       "again to continue");
	xc_interrupts_release();
	raise(xc_interrupted_by);
}

/* The directories that were indexed before; strings are malloc'ed. */
static struct xc_error *known_roots(const char *dir, struct xc_words *roots)
{
	struct xc_store *store = NULL;
	struct xc_store_root root;
	struct xc_error *err = xc_store_open(dir, &store);
	if (err && err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	for (size_t i = 0; store && i < xc_store_root_count(store); i++)
		if (xc_store_root(store, i, &root))
			xc_words_add(roots, xc_strdup(root.path));
	xc_store_close(store);
	if (roots->count)
		return NULL;
	return xc_error_hint(xc_error_new(XC_ERR_USAGE, "DIR is missing: no directory was indexed before"),
			     "xcore symbols index /usr/lib/debug");
}

static struct xc_error *index_roots(struct xc_job *job, const char *dir, const struct xc_words *roots, bool known,
				    struct xc_store_indexed *rows)
{
	const struct settings *settings = job->settings;
	xc_auto(xc_freep) char *cache = xc_target_cache_dir("xcore");
	struct xc_progress progress = xc_progress_start("indexing", job->common.quiet == XC_ON);
	const struct xc_store_index_options options = {
		.dir = dir,
		.jobs = job->common.jobs,
		.link = settings->link == XC_ON,
		.copy = settings->copy == XC_ON,
		.cache_dir = cache,
		.progress = &progress,
		.stop = &xc_interrupted_by,
	};
	struct xc_error *err = NULL;
	for (size_t i = 0; i < roots->count && !err && !xc_interrupted_by; i++) {
		rows[i].root = roots->items[i];
		err = xc_store_index(&options, roots->items[i], &rows[i].totals);
		if (known && err &&
		    err->code == XC_ERR_NOT_FOUND) { /* it was deleted; `clean` removes it from the store */
			xc_error_free(err);
			err = NULL;
		}
	}
	xc_progress_end(&progress);
	return err;
}

static struct xc_error *run_index(struct xc_job *job, const char *dir)
{
	struct xc_words known = {0};
	const struct xc_words given = {.items = job->operands.items + 1, .count = job->operands.count - 1};
	const struct xc_words *roots = given.count ? &given : &known;
	struct xc_error *err = given.count ? NULL : known_roots(dir, &known);
	struct xc_store_indexed *rows = xc_alloc((roots->count + 1) * sizeof *rows);
	xc_interrupts_catch();
	atomic_store(&xc_shared_status()->saves_on_signal, true);
	if (!err)
		err = index_roots(job, dir, roots, roots == &known, rows);
	if (!err && xc_interrupted_by)
		end_by_signal(job);
	job->report = xc_report_new("symbols");
	if (!err)
		xc_store_report_index(job->report, dir, rows, roots->count);
	for (size_t i = 0; i < roots->count; i++)
		xc_store_totals_fini(&rows[i].totals);
	free(rows);
	for (size_t i = 0; i < known.count; i++)
		free((void *)(uintptr_t)known.items[i]);
	xc_words_fini(&known);
	return err;
}

/* ---- find, list ---- */

static struct xc_error *run_find(struct xc_job *job, const char *dir)
{
	struct xc_store *store = NULL;
	struct xc_error *err = xc_store_open(dir, &store);
	if (err && err->code == XC_ERR_NOT_FOUND)
		return xc_error_hint(err, "`xcore symbols index DIR` creates it");
	if (err)
		return err;
	job->report = xc_report_new("symbols");
	err = xc_store_report_find(job->report, store, job->operands.items[1]);
	xc_store_close(store);
	return err;
}

static struct xc_error *run_list(struct xc_job *job, const char *dir)
{
	struct xc_store *store = NULL;
	struct xc_error *err = xc_store_open(dir, &store);
	if (err && err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	xc_auto(xc_freep) char *cache = xc_target_cache_dir("xcore");
	struct xc_cachelist caches = xc_cachelist_read(cache);
	job->report = xc_report_new("symbols");
	xc_store_report_list(job->report, dir, store, &caches);
	xc_cachelist_fini(&caches);
	xc_store_close(store);
	return NULL;
}

/* ---- clean ---- */

static void clean_caches(const struct settings *settings, int64_t used_before, uint64_t *count, uint64_t *bytes)
{
	xc_auto(xc_freep) char *cache = xc_target_cache_dir("xcore");
	struct xc_cachelist list = xc_cachelist_read(cache);
	bool wanted = settings->cache == XC_ON || settings->all == XC_ON;
	for (size_t i = 0; wanted && i < list.count; i++) {
		const struct xc_cached_file *f = &list.files[i];
		if ((used_before && f->used >= used_before) || !xc_cachelist_remove(&list, f))
			continue;
		++*count;
		*bytes += f->size;
	}
	xc_cachelist_fini(&list);
}

static struct xc_error *run_clean(struct xc_job *job, const char *dir)
{
	const struct settings *settings = job->settings;
	int64_t days = settings->older_than;
	int64_t used_before = days ? (int64_t)time(NULL) - days * SECONDS_A_DAY : 0;
	/* With --older-than even --all removes only entries of that age. */
	const struct xc_store_clean_options options = {.all = settings->all == XC_ON && !days,
						       .used_before = used_before};
	struct xc_store_cleaned cleaned;
	uint64_t caches = 0, cache_bytes = 0;
	struct xc_error *err = xc_store_clean(dir, &options, &cleaned);
	if (err)
		return err;
	clean_caches(settings, used_before, &caches, &cache_bytes);
	job->report = xc_report_new("symbols");
	xc_store_report_clean(job->report, dir, &cleaned, caches, cache_bytes);
	return NULL;
}

static struct xc_error *run(struct xc_job *job, FILE *out)
{
	(void)out;
	xc_auto(xc_freep) char *dir = NULL;
	struct xc_error *err = place(job, &dir);
	if (err)
		return err;
	return xc_job_is(job, "index")  ? run_index(job, dir)
	       : xc_job_is(job, "find") ? run_find(job, dir)
	       : xc_job_is(job, "list") ? run_list(job, dir)
					: run_clean(job, dir);
}

/* ---- the command ---- */

static const char *const words[] = {"index", "find", "list", "clean", NULL};

static const struct xc_operand operands[] = {
	{.name = "WHAT",
	 .about = "index (scan directories), find (a build-id), list (the store and the caches), clean (remove "
		  "stale entries)",
	 .words = words},
	{.name = "ARGUMENT",
	 .optional = true,
	 .many = true,
	 .about = "index: directories or files; default: those indexed before; find: a build-id or its first "
		  "digits, or the id of a split unit",
	 .complete = XC_COMPLETE_FILE},
	{.name = NULL},
};

#define AT(member) offsetof(struct settings, member)

static const struct xc_option options[] = {
	XC_ON_OPTION("link", link,
		     "index: also keep a hard link to each file in the store, so that the file outlives its directory"),
	XC_ON_OPTION("copy", copy,
		     "index: also keep a copy of each file; with --link only where a link is impossible (another file "
		     "system, another owner)"),
	XC_ON_OPTION("all", all, "clean: remove all entries, the files kept in the store, and these caches"),
	XC_ON_OPTION("cache", cache, "clean: also remove cached name indexes and decompressed sections"),
	{.name = "older-than",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(older_than),
	 .value = "DAYS",
	 .about = "clean: also remove what was not used for DAYS: entries by the last indexing that met them, files "
		  "by their last read; --cache and --all then remove only what is that old",
	 .min = 1,
	 .max = 36500},
	{.name = NULL},
};

static const struct xc_example examples[] = {
	{"xcore symbols index ~/build /srv/debug", "register the programs and debug files in these directories"},
	{"xcore symbols index --link --copy out/", "also keep the files: a build directory does not last"},
	{"xcore symbols index", "scan the known directories again; unchanged files are not read"},
	{"xcore symbols find 8e3c", "the files whose build-id starts with these digits, and what each contains"},
	{"xcore symbols clean --cache --older-than 30", "remove stale entries, and caches not used for 30 days"},
	{.line = NULL},
};

const struct xc_command xc_command_symbols = {
	.name = "symbols",
	.about = "a store of programs and debug files by build-id",
	.text = "Every command searches this store before the file system: index once the directories that hold "
		"your programs, debug files, unpacked packages and build output, and their cores are read without "
		"--sysroot or --debug-dir. Files are recognized by content, not by name; .deb and .rpm files must "
		"be unpacked, and compressed files are not searched. The store keeps paths (with --link or --copy "
		"also the files, in a layout that gdb reads: set debug-file-directory STORE/kept). A file is used "
		"only when its own build-id matches.\n\nIndexing saves its results every few seconds, may be "
		"interrupted, and may run in several processes at once. `symbols list` also shows the caches, which "
		"need no maintenance: their size is limited.",
	.operands = operands,
	.options = options,
	.examples = examples,
	.settings_size = sizeof(struct settings),
	.check = check,
	.run = run,
};
