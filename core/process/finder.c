/* finder: the places where a module's file is looked for, in order. opener.c opens it. */
#include "core/process/finder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/store/archive.h"
#include "core/process/identity_check.h"
#include "core/base/shared_status.h"
#include "core/io/opener.h"
#include "core/store/store.h"

enum { MAX_VDSO = 1 << 20 };

/* ---- opening ---- */

static bool is_root(const char *root)
{
	return !root || !strcmp(root, "/");
}

static struct xc_error *open_it(const char *root, const char *full, const char *name, struct xc_source **source_out)
{
	bool special = false;
	int fd = xc_opener_regular(root, full, &special);
	if (fd < 0 && special)
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: not a regular file", name);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return xc_error_new(XC_ERR_UNSUPPORTED,
				    "%s: this kernel or container has no openat2 (Linux 5.6), without"
				    " which paths below a sysroot cannot be followed safely",
				    name);
	if (fd < 0)
		return xc_error_errno(errno, "%s", name);
	struct xc_source_options how = {.as_is = true}; /* only cores that the user names are inflated */
	return xc_source_open_fd(fd, name, &how, source_out);
}

static struct xc_error *no_answer(const char *name)
{
	return xc_error_new(XC_ERR_IO, "%s: it did not answer", name);
}

struct xc_error *xc_finder_open(const char *root, const char *path, struct xc_source **source_out)
{
	const bool below = !is_root(root);
	xc_auto(xc_freep) char *full = below ? xc_strdup(path) : xc_opener_full(path);
	xc_auto(xc_freep) char *name =
		xc_asprintf("%s%s%s", below ? root : "", below && path[0] != '/' ? "/" : "", path);
	if (!xc_shared_status_begin_open(name))
		return no_answer(name);
	struct xc_error *err = open_it(root, full, name, source_out);
	xc_shared_status_end_open();
	return err;
}

struct xc_error *xc_finder_open_build_id(const char *root, const char *dir, const struct xc_build_id *id,
					 const char *suffix, struct xc_source **source_out)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	if (id->size < 2)
		return xc_error_new(XC_ERR_NOT_FOUND, "no build-id to look for in %s", dir);
	xc_build_id_hex(id, hex);
	xc_auto(xc_freep) char *path = xc_asprintf("%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, suffix);
	return xc_finder_open(root, path, source_out);
}

size_t xc_finder_roots(const struct xc_finder *finder, const struct xc_process *process,
		       const char *roots[XC_FINDER_ROOTS])
{
	const char *live = process->live_root;
	size_t count = 0;
	if (finder->sysroot || live)
		roots[count++] = finder->sysroot ? finder->sysroot : live;
	if (!finder->sysroot)
		roots[count++] = NULL;
	return count;
}

const char *xc_finder_display_path(const struct xc_process *process, const char *path)
{
	const char *root = process->live_root;
	size_t len = root ? strlen(root) : 0;
	return len && !strncmp(path, root, len) && path[len] == '/' ? path + len : path;
}

/* ---- one module ---- */

struct search {
	const struct xc_finder *finder;
	struct xc_process *process;
	struct xc_module *module;
	const char *missed; /* why the likeliest path could not be opened */
	bool done;
};

/* If the headers in memory are lost, those of the file give the module's range. */
static void adopt(struct search *s, struct xc_source *file, const struct xc_identity_check *check)
{
	struct xc_module *m = s->module;
	m->file = file;
	if (!m->bias_known) {
		m->bias = check->bias;
		m->bias_known = true;
	}
	if (m->hi < check->hi && check->lo <= check->hi && check->bias == m->bias) {
		m->lo = m->lo && m->lo < check->lo ? m->lo : check->lo;
		m->hi = check->hi;
	}
	s->done = true;
}

/* Check a candidate and use it if it matches. The report shows the first refusal, which is that of the likeliest
 * place. */
static void consider(struct search *s, struct xc_source *file, const char *path, bool same_inode)
{
	struct xc_module *m = s->module;
	struct xc_identity_candidate candidate = {file, path, same_inode, s->finder->strict};
	if (path != s->finder->exe) /* the user named that one */
		xc_shared_status_begin_open(file->path);
	struct xc_identity_check check = xc_identity_check(s->process, m, &candidate);
	xc_shared_status_end_open();
	bool use = check.identity != XC_REFUSED;
	if (use || m->identity == XC_NO_FILE) {
		m->identity = check.identity;
		m->file_build_id = check.build_id;
		m->file_path = xc_arena_strdup(&s->process->arena, path);
		m->why = check.why;
	}
	if (use)
		adopt(s, file, &check);
	else
		xc_source_close(file);
}

/* Keep the first reason, without a prefix that is of no use to the reader. Takes err. */
static void miss(struct search *s, struct xc_error *err, const char *prefix)
{
	if (err && !s->missed) {
		bool starts = !strncmp(err->message, prefix, strlen(prefix));
		s->missed = xc_arena_strdup(&s->process->arena, err->message + (starts ? strlen(prefix) : 0));
	}
	xc_error_free(err);
}

static void try_open(struct search *s, const char *root, const char *path)
{
	struct xc_source *file = NULL;
	struct xc_error *err = s->done ? NULL : xc_finder_open(root, path, &file);
	miss(s, err, "");
	if (file)
		consider(s, file, xc_finder_display_path(s->process, file->path), false);
}

static void try_build_id(struct search *s, const char *root, const char *dir)
{
	struct xc_source *file = NULL;
	if (s->done)
		return;
	struct xc_error *err = xc_finder_open_build_id(root, dir, &s->module->build_id, "", &file);
	xc_error_free(err);
	if (file)
		consider(s, file, xc_finder_display_path(s->process, file->path), false);
}

/* ---- the places ---- */

/* The user named it, so the path need not match, but the file must. */
static void try_exe(struct search *s)
{
	struct xc_source *file = NULL;
	xc_auto(xc_freep) char *prefix = xc_asprintf("%s: ", s->finder->exe);
	miss(s, xc_source_open(s->finder->exe, NULL, &file), prefix);
	if (file)
		consider(s, file, s->finder->exe, false);
}

/* Undo the attempt: the refusal of another program is no information about this one. */
static void forget(struct search *s)
{
	struct xc_module *m = s->module;
	m->identity = XC_NO_FILE;
	m->file_build_id = (struct xc_build_id){.size = 0};
	m->file_path = m->why = s->missed = NULL;
}

/* The pack records which file there was, and where. Its copy passes the same checks as any file. */
static void try_archive(struct search *s)
{
	struct xc_module *m = s->module;
	struct xc_arena *arena = &s->process->arena;
	const struct xc_archive_module *record = xc_archive_module(s->finder->archive, m->lo, m->path);
	struct xc_source *file = NULL;
	if (!record) {
		s->missed = "not in the pack";
	} else if (record->file < 0) {
		m->identity = record->identity;
		m->why = xc_arena_strdup(arena, record->why ? record->why : "not in the pack");
		m->file_path = xc_arena_strdup(arena, record->file_path);
		m->file_build_id = record->file_build_id;
		s->done = true;
	} else {
		miss(s, xc_archive_inflate(s->finder->archive, record->file, NULL, &file), "");
		if (file)
			consider(s, file, file->path, false);
	}
}

static const struct xc_mapping *first_mapping(const struct search *s)
{
	const struct xc_process *p = s->process;
	for (size_t i = 0; i < p->mapping_count; i++)
		if (p->mappings[i].hi >= s->module->lo && p->mappings[i].lo <= s->module->hi && p->mappings[i].path)
			return &p->mappings[i];
	return NULL;
}

/* Follow a link of /proc/PID to the mapped file itself, deleted or not. */
static void try_proc(struct search *s, const char *proc_path, const struct xc_mapping *mapping)
{
	struct stat st;
	struct xc_source *file = NULL;
	if (s->done || !xc_shared_status_begin_open(proc_path))
		return;
	if (!stat(proc_path, &st) && S_ISREG(st.st_mode) && (!mapping || st.st_ino == mapping->ino))
		xc_error_free(xc_source_open(proc_path, NULL, &file));
	xc_shared_status_end_open();
	if (file)
		consider(s, file, s->module->path, true);
}

static void try_live(struct search *s)
{
	char path[96];
	const struct xc_mapping *m = first_mapping(s);
	const char *root = s->process->live_root;
	struct xc_source *file = NULL;
	if (m) {
		snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)s->process->pid, m->lo,
			 m->hi + 1);
		try_proc(s, path, NULL);
	}
	if (m && s->module->kind == XC_MODULE_EXE) {
		snprintf(path, sizeof path, "/proc/%d/exe", (int)s->process->pid);
		try_proc(s, path, m);
	}
	if (s->done || s->module->deleted || s->finder->sysroot || !root)
		return;
	miss(s, xc_finder_open(root, s->module->path, &file), root);
	/* on overlay and btrfs mounts the device numbers of stat and maps differ: then the build-id decides */
	if (file)
		consider(s, file, s->module->path, m && file->ino == m->ino && file->dev == m->dev);
}

/* Try the stored files with code and this build-id. Each is checked like any other file. */
static void try_stored(struct search *s, uint32_t wanted)
{
	enum { MAX_FILES = 64 };
	uint32_t numbers[MAX_FILES];
	const struct xc_build_id *id = &s->module->build_id;
	size_t found = xc_store_find(s->finder->store, id, 2 * (size_t)id->size, numbers, MAX_FILES);
	for (size_t i = 0; i < found && i < MAX_FILES && !s->done; i++) {
		struct xc_store_file known;
		struct xc_source *file = NULL;
		if (!xc_store_file(s->finder->store, numbers[i], &known) || (known.has & wanted) != wanted ||
		    !xc_build_id_equal(&known.id, id))
			continue;
		xc_error_free(xc_finder_open(NULL, known.path, &file));
		if (file)
			consider(s, file, known.path, false);
		s->module->file_from_store = s->done;
	}
}

static void try_store(struct search *s)
{
	if (s->done || !s->finder->store)
		return;
	try_stored(s, XC_STORE_CODE | XC_STORE_DWARF); /* needs no separate debug file */
	try_stored(s, XC_STORE_CODE);
}

static void try_debug_dirs(struct search *s)
{
	for (size_t i = 0; i < s->finder->debug_dir_count && !s->done; i++) {
		const char *dir = s->finder->debug_dirs[i];
		if (!s->module->deleted) {
			try_open(s, dir, s->module->path);
			try_open(s, dir, s->module->name);
		}
		try_build_id(s, NULL, dir);
	}
}

static void try_paths(struct search *s)
{
	const char *roots[XC_FINDER_ROOTS];
	size_t count = xc_finder_roots(s->finder, s->process, roots);
	bool named = s->module->path[0] == '/' && !s->module->deleted;
	if (named && s->finder->sysroot)
		try_open(s, roots[0], s->module->path);
	try_store(s);
	if (named && !s->finder->sysroot && !s->process->live)
		try_open(s, roots[0], s->module->path);
	try_debug_dirs(s);
	for (size_t i = 0; i < count; i++)
		try_build_id(s, roots[i], "/usr/lib/debug");
}

/* ---- the vDSO ---- */

/* Its ELF image exists only in the target's memory: a view of a core's bytes, a copy of a live process's. */
static void use_memory(struct search *s)
{
	struct xc_module *m = s->module;
	uint64_t size = m->hi - m->lo;
	if (m->hi < m->lo || size >= MAX_VDSO) {
		m->why = "its range in memory is not that of a vDSO";
		return;
	}
	const void *bytes = xc_space_view(s->process->space, m->lo, (size_t)size + 1);
	size_t got = (size_t)size + 1;
	if (!bytes) {
		void *copy = xc_arena_alloc(&s->process->arena, got);
		got = xc_space_peek(s->process->space, m->lo, copy, got);
		bytes = copy;
	}
	if (got == 0) {
		m->why = "its memory is missing";
		return;
	}
	m->identity = XC_VERIFIED;
	m->file = xc_source_over(bytes, got, m->path);
	m->file_build_id = m->build_id;
}

/* ---- all together ---- */

static const char *not_found(const struct search *s)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	const struct xc_module *m = s->module;
	xc_build_id_hex(&m->build_id, hex);
	const char *what = s->missed           ? s->missed
			   : m->deleted        ? "the file was deleted while it was mapped"
			   : m->path[0] != '/' ? "not the path of a file"
					       : "not found";
	const bool only_exe = s->finder->exe && !s->finder->exe_optional;
	if (!m->build_id.size || only_exe || s->finder->archive)
		return xc_arena_strdup(&s->process->arena, what);
	return xc_arena_printf(&s->process->arena, "%s; nor is a file with build-id %s known", what, hex);
}

static void try_places(struct search *s)
{
	if (s->finder->archive) {
		try_archive(s);
		return;
	}
	if (s->process->live)
		try_live(s);
	if (!s->done)
		try_paths(s);
}

void xc_finder_module(const struct xc_finder *finder, struct xc_process *process, struct xc_module *module)
{
	struct search s = {.finder = finder, .process = process, .module = module};
	module->identity = XC_NO_FILE;
	module->why = NULL;
	if (module->kind == XC_MODULE_VDSO) {
		use_memory(&s);
		return;
	}
	const bool named = module->kind == XC_MODULE_EXE && finder->exe;
	if (named)
		try_exe(&s);
	if (named && !s.done && finder->exe_optional)
		forget(&s);
	if (!s.done && (!named || finder->exe_optional))
		try_places(&s);
	if (module->identity == XC_NO_FILE && !module->why)
		module->why = not_found(&s);
}
