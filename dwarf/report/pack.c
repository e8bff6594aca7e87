/* pack: selects the files of a pack. A file that is needed twice (a source mapped twice, a dwz file of two modules) is
 * stored once. Equal files are detected by device and inode, or, when they are from a pack, by their bytes. */
#include "dwarf/report/pack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/split/split.h"

struct packing {
	struct xc_process *process;
	struct xc_archive_file *files;
	const struct xc_source **sources;
	size_t count, files_capacity, sources_capacity;
	struct xc_archive_module *modules;
	size_t missing;
};

/* From sections, since dwz files have no program headers. */
static struct xc_build_id id_of(const struct xc_source *source)
{
	struct xc_build_id id = {0};
	struct xc_elffile file;
	if (xc_elffile_open(&file, (struct xc_source *)(uintptr_t)source, false))
		id = xc_elffile_build_id(file.elf);
	xc_elffile_close(&file);
	return id;
}

static bool same_file(const struct xc_source *a, const struct xc_source *b)
{
	if (a == b || (a->ino && a->ino == b->ino && a->dev == b->dev))
		return true;
	/* files of a pack have no inodes */
	return !a->ino && a->size == b->size && !memcmp(a->bytes, b->bytes, (size_t)a->size);
}

/* The index of a source among the files; a new one is added. */
static int add_file(struct packing *p, enum xc_archive_kind kind, const struct xc_source *source, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (same_file(p->sources[i], source) && !strcmp(p->files[i].path, path))
			return (int)i;
	p->files = xc_grow(p->files, p->count, &p->files_capacity, sizeof *p->files);
	p->sources = xc_grow(p->sources, p->count, &p->sources_capacity, sizeof *p->sources);
	p->sources[p->count] = source;
	p->files[p->count] = (struct xc_archive_file){.kind = kind, .path = path, .size = source->size};
	if (kind != XC_ARCHIVE_CORE)
		p->files[p->count].build_id = id_of(source);
	return (int)p->count++;
}

struct splitting {
	struct packing *packing;
	struct xc_module *module;
};

/* A .dwo is stored under its unit's id, little-endian, in place of a build-id; a .dwp under the module's. */
static bool add_split(void *context, const struct xc_split_found *found)
{
	struct splitting *s = context;
	struct packing *p = s->packing;
	const struct xc_module *m = s->module;
	struct xc_build_id id = m->build_id.size ? m->build_id : m->file_build_id;
	if (!found->package) {
		id.size = sizeof found->id;
		memcpy(id.bytes, &found->id, sizeof found->id);
	}
	const char *path = xc_arena_strdup(&p->process->arena, found->path);
	size_t before = p->count;
	int at = add_file(p, found->package ? XC_ARCHIVE_PACKAGE : XC_ARCHIVE_SPLIT, found->source, path);
	if (p->count > before) /* other units in the same file find it by its path */
		p->files[at].build_id = id;
	return true;
}

static void add_splits(struct packing *p, struct xc_module *m)
{
	struct splitting s = {.packing = p, .module = m};
	struct xc_split *split = xc_debugfile_split(xc_debugfile_of(p->process, m));
	if (split)
		xc_split_files(split, add_split, &s);
}

static void add_module(struct packing *p, struct xc_module *m, struct xc_archive_module *record)
{
	struct xc_debugfile *df = xc_debugfile_of(p->process, m);
	const struct xc_source *debug = xc_debugfile_separate(df), *alt = xc_debugfile_alternate(df);
	bool refused = m->identity == XC_REFUSED;
	bool has_file = m->file && m->kind != XC_MODULE_VDSO;
	*record = (struct xc_archive_module){
		.lo = m->lo,
		.path = m->path,
		.file = has_file ? add_file(p, XC_ARCHIVE_MODULE, m->file, m->file_path ? m->file_path : m->path) : -1,
		.debug = debug ? add_file(p, XC_ARCHIVE_DEBUG, debug, debug->path) : -1,
		.alt = alt ? add_file(p, XC_ARCHIVE_ALT, alt, alt->path) : -1,
		.identity = refused ? XC_REFUSED : XC_NO_FILE,
		.why = has_file ? NULL : m->why,
		.debug_why = xc_debugfile_why(df),
	};
	add_splits(p, m);
	if (refused) {
		record->file_path = m->file_path;
		record->file_build_id = m->file_build_id;
	}
	p->missing += !has_file && m->kind != XC_MODULE_VDSO;
}

static struct xc_error *write(struct packing *p, const char *out_path, const struct xc_pack_options *options,
			      struct xc_pack_totals *totals)
{
	struct xc_archive_content content = {
		.files = p->files,
		.sources = p->sources,
		.file_count = p->count,
		.modules = p->modules,
		.module_count = p->process->module_count,
		.progress = options ? options->progress : NULL,
		.level = options ? options->level : 0,
	};
	struct xc_error *err = xc_archive_write(&content, out_path);
	if (err || !totals)
		return err;
	*totals = (struct xc_pack_totals){.files = p->count, .missing = p->missing};
	for (size_t i = 0; i < p->count; i++)
		totals->bytes += p->files[i].size;
	const struct xc_archive_file *last = &p->files[p->count - 1];
	totals->stored = last->offset + last->stored;
	return NULL;
}

/* Replacing the core itself would destroy it. */
static bool is_core(const struct xc_process *process, const char *out_path)
{
	struct stat core, out;
	return stat(process->target, &core) == 0 && stat(out_path, &out) == 0 && core.st_ino == out.st_ino &&
	       core.st_dev == out.st_dev;
}

struct xc_error *xc_pack_write(struct xc_process *process, const char *out_path, const struct xc_pack_options *options,
			       struct xc_pack_totals *totals_out)
{
	if (process->live || !process->core)
		return xc_error_hint(
			xc_error_new(XC_ERR_UNSUPPORTED, "%s: a live process cannot be packed", process->target),
			"take a core of it first: gcore PID");
	if (is_core(process, out_path))
		return xc_error_new(XC_ERR_USAGE, "%s: is the target itself", out_path);
	struct packing p = {.process = process, .modules = xc_alloc(process->module_count * sizeof *p.modules)};
	add_file(&p, XC_ARCHIVE_CORE, process->core, "core");
	for (size_t i = 0; i < process->module_count; i++)
		add_module(&p, process->modules[i], &p.modules[i]);
	struct xc_error *err = write(&p, out_path, options, totals_out);
	free(p.files);
	free(p.sources);
	free(p.modules);
	return err;
}
