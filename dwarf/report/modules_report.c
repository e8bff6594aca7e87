/* modules_report: the results of finder and debugfile, in load order. */
#include "dwarf/report/modules_report.h"

#include <string.h>

#include "core/process/module.h"
#include "core/base/text.h"
#include "dwarf/module/debugfile.h"

enum { MAX_NAMED = 8 };

/* The results for one module. */
struct row {
	const struct xc_module *module;
	const char *debug_path; /* the source of its debug information, or NULL */
	const char *debug_why;  /* why there is none, or only part of it; or NULL */
	bool problem;
};

static struct row look_at(const struct xc_process *process, struct xc_module *module)
{
	struct row row = {.module = module};
	if (module->kind == XC_MODULE_VDSO)
		return row; /* the vDSO is the kernel's: it has no debug package */
	struct xc_debugfile *df = xc_debugfile_of(process, module);
	row.debug_path = xc_debugfile_path(df);
	row.debug_why = xc_debugfile_why(df);
	row.problem = module->identity != XC_VERIFIED || !row.debug_path || row.debug_why;
	return row;
}

static struct xc_cell id_cell(const struct xc_module *module, char hex[2 * XC_BUILD_ID_MAX + 1])
{
	if (module->build_id.size)
		return xc_cell_text(xc_build_id_hex(&module->build_id, hex));
	return xc_cell_null(module->build_id_lost ? "not in the core" : "none");
}

/* The most important reason: a wrong or missing file before missing debug information. */
static const char *why_of(const struct row *row)
{
	return row->module->why ? row->module->why : row->debug_why;
}

/* The same, shortened for a table: the build-id has its own column, and the general advice is below the table. */
static struct xc_cell problem_cell(struct xc_arena *arena, const struct row *row)
{
	static const char advice[] = ": install its debug package";
	const char *why = why_of(row), *end = why ? strstr(why, " (build-id ") : NULL;
	if (!end)
		return xc_cell_text(why);
	size_t len = (size_t)(end - why), tail = sizeof advice - 1;
	if (len > tail && strncmp(end - tail, advice, tail) == 0)
		len -= tail;
	return xc_cell_text(xc_arena_strndup(arena, why, len));
}

static struct xc_cell debug_cell(const struct row *row)
{
	if (row->debug_path)
		return xc_cell_text(row->debug_path);
	return xc_cell_null(row->module->kind == XC_MODULE_VDSO ? "–" : "none");
}

static void full_table(struct xc_section *s, const struct row *rows, size_t count)
{
	static const struct xc_column columns[] = {
		{"name", "MODULE", XC_FIELD_TEXT, false},      {"lo", "FIRST", XC_FIELD_ADDRESS, false},
		{"hi", "LAST", XC_FIELD_ADDRESS, true},        {"identity", "FILE IS", XC_FIELD_TEXT, false},
		{"debug", "DEBUG INFO", XC_FIELD_TEXT, false}, {"build_id", "BUILD-ID", XC_FIELD_TEXT, true},
		{"path", "PATH", XC_FIELD_TEXT, true},         {"file", "FILE USED", XC_FIELD_TEXT, true},
	};
	struct xc_table *table = xc_section_table(s, "modules", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		const struct xc_module *m = rows[i].module;
		char hex[2 * XC_BUILD_ID_MAX + 1];
		const struct xc_cell row[] = {
			xc_cell_text(m->name),  xc_cell_address(m->lo),
			xc_cell_address(m->hi), xc_cell_text(xc_identity_text(m->identity)),
			debug_cell(&rows[i]),   id_cell(m, hex),
			xc_cell_text(m->path),  xc_cell_text(m->file_path),
		};
		xc_table_row(s, table, row);
	}
}

static void problem_table(struct xc_section *s, const struct row *rows, size_t count)
{
	static const struct xc_column columns[] = {
		{"name", "MODULE", XC_FIELD_TEXT, false},       {"identity", "FILE IS", XC_FIELD_TEXT, true},
		{"build_id", "BUILD-ID", XC_FIELD_TEXT, false}, {"why", "WHY", XC_FIELD_TEXT, true},
		{"problem", "PROBLEM", XC_FIELD_TEXT, false},
	};
	struct xc_table *table = xc_section_table(s, "problems", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		const struct xc_module *m = rows[i].module;
		char hex[2 * XC_BUILD_ID_MAX + 1];
		const struct xc_cell row[] = {
			xc_cell_text(m->name),          xc_cell_text(xc_identity_text(m->identity)), id_cell(m, hex),
			xc_cell_text(why_of(&rows[i])), problem_cell(&s->report->arena, &rows[i]),
		};
		if (rows[i].problem)
			xc_table_row(s, table, row);
	}
	xc_section_message(
		s, XC_INFO, NULL,
		"install the debug packages (-dbgsym, -dbg, -debuginfo), or pass the missing files with --debug-dir, "
		"--sysroot, --exe or `xcore symbols index DIR`, or let --debuginfod fetch it");
}

/* In text only: a pack of the same core gives the same JSON on a host without the store. */
static const char *store_note(struct xc_report *report, struct xc_process *process)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	size_t count = 0;
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *m = process->modules[i];
		if (m->kind == XC_MODULE_VDSO || !xc_debugfile_stored(xc_debugfile_of(process, m)))
			continue;
		if (count++ < MAX_NAMED)
			xc_text_printf(&text, "%s%s", count > 1 ? ", " : "", m->name);
	}
	if (!count)
		return NULL;
	return xc_arena_printf(&report->arena, "from the symbol store: %s%s", xc_text_string(&text),
			       count > MAX_NAMED ? ", …" : "");
}

static void report_modules(struct xc_report *report, struct xc_process *process, bool problems_only)
{
	struct xc_section *s = xc_report_section(report, "modules", "Modules");
	xc_auto(xc_freep) struct row *rows = xc_alloc((process->module_count + 1) * sizeof *rows);
	size_t without_file = 0, without_debug = 0, problems = 0;
	for (size_t i = 0; i < process->module_count; i++) {
		rows[i] = look_at(process, process->modules[i]);
		enum xc_identity identity = rows[i].module->identity;
		without_file += rows[i].problem && (identity == XC_NO_FILE || identity == XC_REFUSED);
		without_debug += rows[i].problem && !rows[i].debug_path;
		problems += rows[i].problem;
	}
	s->headline = store_note(report, process);
	xc_section_count(s, "loaded", "loaded", process->module_count);
	xc_section_count(s, "without_file", "without a usable file", without_file)->quiet = !without_file;
	xc_section_count(s, "without_debug", "without debug information", without_debug)->quiet = !without_debug;
	if (!problems_only)
		full_table(s, rows, process->module_count);
	if (problems)
		problem_table(s, rows, process->module_count);
}

void xc_modules_report(struct xc_report *report, struct xc_process *process)
{
	report_modules(report, process, false);
}

void xc_modules_report_problems(struct xc_report *report, struct xc_process *process)
{
	report_modules(report, process, true);
}
