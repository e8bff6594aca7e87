/* target: paths that the user gives are checked first and strictly, since a silent fallback to another file would
 * give a wrong report under the right name. */
#include "cli/target.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/elf/elf.h"
#include "core/live/live.h"
#include "core/live/sandbox.h"
#include "core/io/source.h"
#include "core/base/say.h"
#include "core/text/shellword.h"
#include "core/store/store.h"
#include "core/base/userdir.h"
#include "core/cache/cachedir.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/locate/debuginfod.h"
#include "heap/session/session.h"
#include "dwarf/symbolize/debuginfo.h"
#include "profile/data/profile_file.h"

static struct xc_error *check_directory(const char *option, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return xc_error_errno(errno, "--%s: %s", option, path);
	if (!S_ISDIR(st.st_mode))
		return xc_error_errno(ENOTDIR, "--%s: %s", option, path);
	return NULL;
}

static struct xc_error *check_directories(const struct xc_common *common)
{
	struct xc_error *err;
	if (common->sysroot && (err = check_directory("sysroot", common->sysroot)))
		return err;
	for (size_t i = 0; i < common->debug_dirs.count; i++)
		if ((err = check_directory("debug-dir", common->debug_dirs.items[i])))
			return err;
	return NULL;
}

/* Not in xc_target_prepare: `triage` only compares paths with it. */
static struct xc_error *check_source_roots(const struct xc_common *common)
{
	struct xc_error *err = NULL;
	for (size_t i = 0; i < common->source_roots.count && !err; i++)
		err = check_directory("source-root", common->source_roots.items[i]);
	return err;
}

/* Is --exe an ELF file? Whether it is the right one is checked when the target is known. */
static struct xc_error *check_exe_file(const char *path)
{
	struct xc_source *source = NULL;
	struct xc_elf elf;
	struct xc_error *err = xc_source_open(path, NULL, &source);
	if (err)
		return xc_error_wrap(err, "--exe");
	if ((err = xc_elf_parse(source->bytes, source->size, &elf)))
		err = xc_error_wrap(err, "--exe: %s", path);
	xc_source_close(source);
	return err;
}

/* Opening a core itself refuses a wrong --exe; a live process is opened, with the module marked. */
static struct xc_error *check_exe(const struct xc_process *process, const char *path)
{
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_module *m = process->modules[i];
		if (m->kind == XC_MODULE_EXE && (m->identity == XC_REFUSED || m->identity == XC_NO_FILE))
			return xc_error_new(XC_ERR_MISMATCH, "%s: %s", path,
					    m->why ? m->why : "not the running program");
	}
	return NULL;
}

static struct xc_error *hint_at_exe(struct xc_error *err)
{
	if (err && err->code == XC_ERR_MISMATCH && !err->hint)
		return xc_error_hint(err, "give the file that was installed at that time, or omit --exe");
	return err;
}

char *xc_target_cache_dir(const char *name)
{
	return xc_userdir("XDG_CACHE_HOME", ".cache", name);
}

/* The report is correct without the store or a server too, so this is not an error. */
static void warn(const struct xc_target *target, const char *message, const char *hint)
{
	if (target->finder.quiet)
		return;
	xc_say("%s", message);
	if (hint)
		xc_say_line("  hint: ", hint);
}

static void warn_of_store(const struct xc_target *target, const char *message, const char *hint)
{
	xc_auto(xc_freep) char *text = xc_asprintf("%s: the symbol store is not used", message);
	warn(target, text, hint);
}

static struct xc_error *open_store(struct xc_target *target, const struct xc_common *common)
{
	struct xc_error *err = common->store ? check_directory("store", common->store) : NULL;
	xc_auto(xc_freep) char *dir = err ? NULL : xc_store_locate(common->store);
	if (!dir)
		return err;
	err = xc_store_open(dir, &target->finder.store);
	if (err && err->code == XC_ERR_NOT_FOUND && common->store) {
		xc_auto(xc_freep) char *word = xc_shellword_file(dir);
		return xc_error_hint(xc_error_wrap(err, "--store"), "`xcore symbols index DIR --store %s` creates it",
				     word);
	}
	if (err && err->code != XC_ERR_NOT_FOUND)
		warn_of_store(target, err->message, err->hint);
	xc_error_free(err);
	return NULL;
}

static void close_store(struct xc_target *target)
{
	if (target->finder.store && xc_store_damaged(target->finder.store)) {
		xc_auto(xc_freep) char *text =
			xc_asprintf("%s: damaged: its entries are not used", xc_store_dir(target->finder.store));
		warn(target, text, "`xcore symbols index DIR...` repairs it");
	}
	xc_store_close(xc_take(target->finder.store));
}

/* Create it with its parents. True: it is writable. */
static bool make_directory(const char *dir)
{
	xc_userdir_make(dir, 0700);
	return access(dir, W_OK) == 0;
}

static struct xc_error *limit_writes(struct xc_target *target, const char *write_dir)
{
	const char *cache = target->cache_dir;
	xc_auto(xc_freep) char *debuginfod = target->finder.debuginfod ? xc_debuginfod_cache_dir() : NULL;
	const char *dirs[3];
	struct xc_sandbox_options options = {.write_dirs = dirs};
	if (write_dir)
		dirs[options.write_dir_count++] = write_dir;
	if (cache && make_directory(cache))
		dirs[options.write_dir_count++] = cache;
	if (debuginfod && make_directory(debuginfod))
		dirs[options.write_dir_count++] = debuginfod;
	return xc_sandbox_writes(&options, &target->landlock);
}

/* Does `name` denote a process? An existing file takes precedence over bare digits, never over `pid:`. */
static bool means_process(const char *name, const char **digits_out)
{
	bool prefixed = strncmp(name, "pid:", 4) == 0;
	*digits_out = prefixed ? name + 4 : name;
	if (prefixed)
		return true;
	return *name && strspn(name, "0123456789") == strlen(name) && access(name, F_OK) < 0;
}

static struct xc_error *open_live(struct xc_target *target, const char *digits, const struct xc_open_options *options,
				  const char *write_dir, const struct xc_target_hook *hook)
{
	uint64_t pid;
	struct xc_error *err;
	if (!xc_options_number(digits, INT_MAX, &pid) || pid == 0)
		return xc_error_new(XC_ERR_USAGE, "'%s' is not a process id", digits);
	/* Landlock forbids reading other processes, so it starts after opening (sandbox.h). */
	if ((err = xc_sandbox_calls()) || (err = xc_process_open_live((pid_t)pid, options, &target->process)))
		return err;
	if (hook && (err = hook->opened(hook->ctx, target->process)))
		return err;
	return limit_writes(target, write_dir);
}

static struct xc_finder finder_of(const struct xc_common *common)
{
	return (struct xc_finder){
		.jobs = common->jobs,
		.exe = common->exe,
		.sysroot = common->sysroot,
		.debug_dirs = common->debug_dirs.items,
		.debug_dir_count = common->debug_dirs.count,
		.debuginfod = common->debuginfod == XC_ON,
		.strict = common->strict == XC_ON,
		.quiet = common->quiet == XC_ON,
	};
}

/* Repeated sampling should run at idle priority. The limits then apply from the first byte on: where two processors
 * are threads of one core, the work of one slows the other by a third of it. */
static bool is_idle(const struct xc_common *common)
{
	return common->max_read_rate == XC_READ_RATE && common->max_read_time == XC_READ_TIME &&
	       sched_getscheduler(0) == SCHED_IDLE;
}

/* Without the cache where another user could lead it elsewhere. */
static char *find_cache(const struct xc_target *target)
{
	char *dir = xc_target_cache_dir("xcore");
	xc_auto(xc_freep) char *trouble = dir ? xc_cachedir_trouble(dir) : NULL;
	if (!trouble)
		return dir;
	xc_auto(xc_freep) char *text = xc_asprintf("%s: no cache is used", trouble);
	warn(target, text, "XDG_CACHE_HOME can name a directory of your own; --no-cache needs none");
	free(dir);
	return NULL;
}

struct xc_error *xc_target_prepare(struct xc_target *target, const struct xc_common *common)
{
	struct xc_error *err;
	*target = (struct xc_target){.finder = finder_of(common)};
	if ((err = check_directories(common)) || (common->exe && (err = check_exe_file(common->exe))) ||
	    (err = open_store(target, common)))
		return err;
	target->finder.cache_dir = target->cache_dir = xc_switch_or(common->cache, true) ? find_cache(target) : NULL;
	return NULL;
}

struct xc_error *xc_target_open(struct xc_target *target, const char *name, const struct xc_common *common,
				const char *write_dir, const struct xc_target_hook *hook)
{
	const char *digits;
	struct xc_error *err = check_source_roots(common);
	if (err || (err = xc_target_prepare(target, common)))
		return err;
	for (size_t i = 0; i < common->source_roots.count; i++)
		xc_source_roots_add(&target->source_roots, common->source_roots.items[i]);
	xc_source_roots_add_tree(&target->source_roots);
	target->finder.source_roots = &target->source_roots;
	target->progress = xc_progress_start(name, target->finder.quiet);
	struct xc_open_options options = {
		.finder = &target->finder,
		.strict = target->finder.strict,
		.swap = common->swap == XC_ON,
		.max_read_rate = (uint64_t)common->max_read_rate << 20,
		.max_read_time = common->max_read_time,
		.throttled = is_idle(common),
		.progress = &target->progress,
	};
	if (means_process(name, &digits))
		err = open_live(target, digits, &options, write_dir, hook);
	else if ((err = xc_process_open_core(name, &options, &target->process)) && xc_profile_file_is(name))
		xc_error_hint(err, "it is a profile: `xcore profile %s`", name);
	xc_progress_end(&target->progress);
	if (!err && common->exe)
		err = check_exe(target->process, common->exe);
	if (err) {
		xc_target_close(target);
		return common->exe ? hint_at_exe(err) : err;
	}
	xc_debugfiles_use(target->process, &target->finder);
	return NULL;
}

static void report_pauses(const struct xc_target *target)
{
	const double seconds = (double)xc_live_stats(target->process).paused_ns / 1e9;
	if (seconds < 1)
		return;
	xc_auto(xc_freep) char *text = xc_asprintf("reading paused for %.1f s to protect the process", seconds);
	warn(target, text, "--max-read-time and --max-read-rate set the limits; 0 removes them");
}

void xc_target_close(struct xc_target *target)
{
	if (target->process) {
		report_pauses(target);
		xc_heap_forget(target->process);
		xc_debuginfo_close(target->process);
		xc_debugfiles_close(target->process);
		xc_process_close(target->process);
		target->process = NULL;
	}
	close_store(target);
	const char *hint, *trouble = target->finder.debuginfod ? xc_debuginfod_trouble(&hint) : NULL;
	if (trouble)
		warn(target, trouble, hint);
	free(xc_take(target->cache_dir));
	xc_source_roots_fini(&target->source_roots);
}
