/* debugfile: the files of a module, and when each is opened:
 *
 *	own      the module's file, or an image from memory   when CFI, symbols or DWARF are asked for
 *	debug    a separate file, found once                  when own has no DWARF (or no .symtab)
 *	alt      dwz's common file                            with the DWARF that refers to it
 *	mini     MiniDebugInfo                                when symbols are asked for and there is no .symtab
 *
 * libdw searches for an alternate file by itself, by names in the DWARF, unless one was set. So one is always set:
 * where there is none, an empty one, in which every reference fails. */
#include "dwarf/module/debugfile.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "core/store/archive.h"
#include "core/base/text.h"
#include "dwarf/module/cfitable.h"
#include "dwarf/locate/debuginfod.h"
#include "dwarf/locate/debugsearch.h"
#include "dwarf/elf/elffile.h"
#include "dwarf/elf/gopclntab.h"
#include "dwarf/elf/image.h"
#include "dwarf/elf/minidebug.h"
#include "dwarf/split/split.h"
#include "dwarf/elf/symbol.h"

struct xc_debugfile {
	const struct xc_finder *finder;
	const struct xc_process *process;
	struct xc_module *module;
	struct xc_elffile own, debug, alt, mini;
	bool own_tried, debug_tried, dwarf_tried;
	Dwarf *dwarf; /* of own or debug */
	Elf *dwarf_elf;
	struct xc_split *split;
	struct xc_symtab *symbols;
	struct xc_cfitables cfi;
	const char *path, *why;
	bool stored;            /* the debug or alternate file was known to the symbol store */
	struct xc_text refused; /* files that the search found and refused */
};

static const struct xc_finder defaults;

static struct xc_debugfile *make(const struct xc_process *process, struct xc_module *module,
				 const struct xc_finder *finder)
{
	struct xc_debugfile *df = xc_alloc(sizeof *df);
	df->process = process;
	df->module = module;
	df->finder = finder;
	module->debug = df;
	return df;
}

struct xc_debugfile *xc_debugfile_of(const struct xc_process *process, struct xc_module *module)
{
	return module->debug ? module->debug : make(process, module, &defaults);
}

void xc_debugfiles_use(struct xc_process *process, const struct xc_finder *finder)
{
	xc_debuginfod_allow(finder->debuginfod);
	for (size_t i = 0; i < process->module_count; i++)
		xc_debugfile_of(process, process->modules[i])->finder = finder;
}

void xc_debugfiles_close(struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_debugfile *df = process->modules[i]->debug;
		if (!df)
			continue;
		xc_symtab_free(df->symbols);
		xc_cfitables_fini(&df->cfi);
		xc_split_free(df->split);
		xc_elffile_close(&df->debug);
		xc_elffile_close(&df->alt);
		xc_elffile_close(&df->mini);
		xc_elffile_close(&df->own);
		xc_text_fini(&df->refused);
		free(df);
		process->modules[i]->debug = NULL;
	}
}

/* Strings returned to callers live in the process's arena, which only grows. */
static struct xc_arena *arena_of(const struct xc_debugfile *df)
{
	return (struct xc_arena *)(uintptr_t)&df->process->arena;
}

/* ---- the module's own file ---- */

static struct xc_debugsearch search_of(struct xc_debugfile *df)
{
	return (struct xc_debugsearch){.finder = df->finder,
				       .process = df->process,
				       .module = df->module,
				       .elf = df->own.elf,
				       .stored = &df->stored,
				       .why = &df->refused};
}

static void open_own(struct xc_debugfile *df)
{
	size_t size;
	df->own_tried = true;
	if (df->module->file && xc_elffile_open(&df->own, df->module->file, false))
		return;
	struct xc_debugsearch search = search_of(df);
	if (df->module->build_id.size && xc_debugsearch_executable(&search, &df->own))
		return;
	void *image = xc_image_build(df->process, df->module, &size);
	if (image)
		xc_elffile_open_image(&df->own, image, size);
}

Elf *xc_debugfile_elf(struct xc_debugfile *df)
{
	if (!df->own_tried)
		open_own(df);
	return df->own.elf;
}

/* ---- the separate debug file ---- */

static bool find_debug(struct xc_debugfile *df)
{
	Elf *own = xc_debugfile_elf(df);
	if (!df->debug_tried && df->module->kind != XC_MODULE_VDSO) {
		struct xc_debugsearch search = search_of(df);
		search.elf = own;
		xc_debugsearch_debug(&search, &df->debug);
	}
	df->debug_tried = true;
	return df->debug.elf != NULL;
}

/* ---- DWARF ---- */

static const char *cache_dir(const struct xc_debugfile *df)
{
	return df->finder ? df->finder->cache_dir : NULL;
}

/* path: of the file with the DWARF, to which names are relative. */
static void attach_alternate(struct xc_debugfile *df, const char *path)
{
	struct xc_debugsearch search = search_of(df);
	bool wanted = false;
	xc_text_fini(&df->refused); /* refusals before a file was found do not matter */
	bool found = xc_debugsearch_alt(&search, df->dwarf_elf, path, &df->alt, &wanted);
	Dwarf *alternate = NULL;
	struct xc_error *err = found ? xc_elffile_dwarf(&df->alt, cache_dir(df), &alternate) : NULL;
	if (err)
		xc_text_printf(&df->refused, "%s: %s", df->alt.source->path, err->message);
	xc_error_free(err);
	if (wanted && !alternate)
		df->why = xc_arena_strdup(arena_of(df), xc_text_string(&df->refused));
	if (!alternate) {
		xc_elffile_close(&df->alt);
		alternate = xc_elffile_empty_dwarf(&df->alt);
	}
	dwarf_setalt(df->dwarf, alternate);
}

static const struct xc_archive_module *archive_record(const struct xc_debugfile *df)
{
	const struct xc_module *m = df->module;
	return df->process->archive ? xc_archive_module(df->process->archive, m->lo, m->path) : NULL;
}

/* The reason for missing split units. A pack gives the reason that its core had. */
static void attach_split(struct xc_debugfile *df, const char *path)
{
	struct xc_debugsearch search = search_of(df);
	df->split = xc_split_new(&search, df->dwarf_elf, path, cache_dir(df));
	xc_auto(xc_freep) char *missing = df->split && !df->why ? xc_split_why(df->split) : NULL;
	const struct xc_archive_module *record = missing ? archive_record(df) : NULL;
	if (missing)
		df->why = xc_arena_strdup(arena_of(df), record && record->debug_why ? record->debug_why : missing);
}

static bool use_dwarf(struct xc_debugfile *df, struct xc_elffile *file, const char *path)
{
	struct xc_error *err = xc_elffile_dwarf(file, cache_dir(df), &df->dwarf);
	if (err && !df->refused.len)
		xc_text_printf(&df->refused, "%s: %s", path, err->message);
	xc_error_free(err);
	if (!df->dwarf)
		return false;
	df->dwarf_elf = dwarf_getelf(df->dwarf);
	df->path = xc_arena_strdup(arena_of(df), xc_finder_display_path(df->process, path));
	attach_alternate(df, path);
	attach_split(df, path);
	return true;
}

/* Did the user name the program's file, now or when the pack was made? (Then the pack records no missing debug
 * information.) */
static bool is_named(const struct xc_debugfile *df)
{
	const struct xc_archive_module *record = archive_record(df);
	if (df->process->archive)
		return record && !record->debug_why;
	return df->module->kind == XC_MODULE_EXE && df->finder->exe && !df->finder->strict;
}

/* See the top of debugfile.h. */
static bool may_use_dwarf(const struct xc_debugfile *df)
{
	const struct xc_module *m = df->module;
	return m->identity != XC_UNVERIFIED || (!m->build_id_lost && !m->build_id.size) || is_named(df);
}

static const char *package_of(const struct xc_module *m)
{
	static const char *const libc[] = {"libc.so.6",  "ld-linux-x86-64.so.2", "libm.so.6",      "libpthread.so.0",
					   "libdl.so.2", "librt.so.1",           "libresolv.so.2", "libutil.so.1"};
	for (size_t i = 0; i < XC_COUNT(libc); i++)
		if (!strcmp(m->name, libc[i]))
			return "libc6-dbg (Debian) or the debug package of glibc";
	return "its debug package";
}

/* Why there is no DWARF, and what the user can do about it. */
static const char *explain(struct xc_debugfile *df)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct xc_module *m = df->module;
	const struct xc_build_id *id = m->build_id.size ? &m->build_id : &m->file_build_id;
	if (m->kind == XC_MODULE_VDSO)
		return "the kernel's vDSO has no debug information with it";
	const struct xc_archive_module *record = archive_record(df);
	if (record && record->debug_why)
		return xc_arena_strdup(arena_of(df), record->debug_why);
	if (!may_use_dwarf(df))
		return "its file is unverified: only code, call frame information and symbols are taken from it, not "
		       "lines "
		       "or values";
	if (df->refused.len)
		return xc_arena_strdup(arena_of(df), df->refused.bytes);
	if (id->size == 0 && m->file)
		return "no debug info: the file has none, and no build-id to find it by; build it with -g";
	if (id->size == 0)
		return m->why;
	return xc_arena_printf(arena_of(df), "no debug info: install %s (build-id %s), or give --debug-dir%s",
			       package_of(m), xc_build_id_hex(id, hex),
			       df->finder->debuginfod ? "" : " or --debuginfod");
}

static void find_dwarf(struct xc_debugfile *df)
{
	df->dwarf_tried = true;
	Elf *own = xc_debugfile_elf(df);
	if (!may_use_dwarf(df)) {
		df->why = explain(df);
		return;
	}
	const char *path = df->module->file_path ? df->module->file_path : df->module->path;
	if (own && xc_elffile_has_dwarf(own) && use_dwarf(df, &df->own, path))
		return;
	if (find_debug(df) && use_dwarf(df, &df->debug, df->debug.source->path))
		return;
	df->why = explain(df);
}

Dwarf *xc_debugfile_dwarf(struct xc_debugfile *df)
{
	if (!df->dwarf_tried)
		find_dwarf(df);
	return df->dwarf;
}

const struct xc_elffile *xc_debugfile_dwarf_file(struct xc_debugfile *df)
{
	if (!xc_debugfile_dwarf(df))
		return NULL;
	return df->own.dwarf == df->dwarf ? &df->own : &df->debug;
}

const struct xc_finder *xc_debugfile_finder(const struct xc_debugfile *df)
{
	return df->finder;
}

const struct xc_split *xc_debugfile_split_in_use(const struct xc_debugfile *df)
{
	return df->split;
}

struct xc_split *xc_debugfile_split(struct xc_debugfile *df)
{
	return xc_debugfile_dwarf(df) ? df->split : NULL;
}

Elf *xc_debugfile_dwarf_elf(struct xc_debugfile *df)
{
	return xc_debugfile_dwarf(df) ? df->dwarf_elf : NULL;
}

const char *xc_debugfile_path(struct xc_debugfile *df)
{
	return xc_debugfile_dwarf(df) ? df->path : NULL;
}

const char *xc_debugfile_why(struct xc_debugfile *df)
{
	xc_debugfile_dwarf(df);
	xc_auto(xc_freep) char *missing = df->split && !df->why ? xc_split_why(df->split) : NULL;
	if (missing) /* of a unit that was asked for since */
		df->why = xc_arena_strdup(arena_of(df), missing);
	return df->why;
}

bool xc_debugfile_stored(struct xc_debugfile *df)
{
	xc_debugfile_dwarf(df);
	return df->stored || df->module->file_from_store;
}

/* ---- symbols ---- */

static struct xc_symtab *dynamic_symbols(Elf *own)
{
	struct xc_symtab *symbols = xc_symtab_read(own, NULL);
	if (own)
		xc_gopclntab_add(own, symbols);
	return symbols;
}

const struct xc_symtab *xc_debugfile_symbols(struct xc_debugfile *df)
{
	if (df->symbols)
		return df->symbols;
	Elf *own = xc_debugfile_elf(df);
	if (own && xc_elffile_has_symtab(own))
		df->symbols = xc_symtab_read(own, NULL);
	else if (find_debug(df) && xc_elffile_has_symtab(df->debug.elf))
		df->symbols = xc_symtab_read(df->debug.elf, NULL);
	else if (own && xc_minidebug_open(own, &df->mini))
		df->symbols = xc_symtab_read(df->mini.elf, own);
	else
		df->symbols = dynamic_symbols(own);
	return df->symbols;
}

struct xc_cfitables *xc_debugfile_cfi(struct xc_debugfile *df)
{
	return &df->cfi;
}

/* ---- for packing ---- */

const struct xc_source *xc_debugfile_separate(struct xc_debugfile *df)
{
	xc_debugfile_dwarf(df);
	xc_debugfile_symbols(df);
	return df->debug.source;
}

const struct xc_source *xc_debugfile_alternate(struct xc_debugfile *df)
{
	xc_debugfile_dwarf(df);
	return df->alt.source;
}

struct xc_source *xc_debugfile_dwarf_source(struct xc_debugfile *df)
{
	const struct xc_elffile *files[] = {&df->own, &df->debug};
	if (!xc_debugfile_dwarf(df))
		return NULL;
	for (size_t i = 0; i < XC_COUNT(files); i++) {
		const struct xc_elffile *f = files[i];
		if (f->dwarf == df->dwarf && !f->image)
			return f->plain ? f->plain : f->source;
	}
	return NULL;
}
