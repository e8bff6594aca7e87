/* modules_report: the answers of finder and debugfile side by side, in load order. */
#include "modules_report.h"

#include "../core/module.h"
#include "debugfile.h"

/* What is known of one module. */
struct row {
	const struct xc_module *module;
	const char *debug_path; /* where its debug information comes from, or NULL */
	const char *debug_why;  /* why there is none, or NULL */
	bool problem;
};

static struct row look_at(const struct xc_process *process, struct xc_module *module)
{
	struct row row = {.module = module};
	if (module->kind == XC_MODULE_VDSO)
		return row; /* the kernel's: nobody installs debug information for it */
	struct xc_debugfile *df = xc_debugfile_of(process, module);
	row.debug_path = xc_debugfile_path(df);
	row.debug_why = row.debug_path ? NULL : xc_debugfile_why(df);
	row.problem = module->identity != XC_VERIFIED || !row.debug_path;
	return row;
}

static struct xc_cell id_cell(const struct xc_module *module)
{
	static _Thread_local char hex[2 * XC_BUILD_ID_MAX + 1];
	if (module->build_id.size)
		return xc_cell_text(xc_build_id_hex(&module->build_id, hex));
	return xc_cell_null(module->build_id_lost ? "not in the core" : "none");
}

/* The one sentence that matters most: a wrong or missing file before missing debug information. */
static struct xc_cell why_cell(const struct row *row)
{
	if (row->module->why)
		return xc_cell_text(row->module->why);
	return row->debug_why ? xc_cell_text(row->debug_why) : xc_cell_null(NULL);
}

static struct xc_cell debug_cell(const struct row *row)
{
	if (row->debug_path)
		return xc_cell_text(row->debug_path);
	return xc_cell_null(row->debug_why ? row->debug_why : "none");
}

static void hint_at_help(struct xc_section *s, size_t without_debug, size_t without_file)
{
	if (without_file)
		xc_section_message(
			s, XC_WARNING, "give the files with --exe, --sysroot or --debug-dir",
			"%zu modules without a usable file: code and constants that the core lacks are missing",
			without_file);
	if (without_debug)
		xc_section_message(s, XC_INFO, "install the packages' -dbgsym or -dbg, or try --debuginfod",
				   "%zu modules without debug information: no arguments, locals or lines in them",
				   without_debug);
}

static void full_table(struct xc_section *s, const struct row *rows, size_t count)
{
	static const struct xc_column columns[] = {
		{"name", "MODULE", XC_FIELD_TEXT, false},      {"lo", "FIRST", XC_FIELD_ADDRESS, false},
		{"hi", "LAST", XC_FIELD_ADDRESS, true},        {"identity", "FILE IS", XC_FIELD_TEXT, false},
		{"debug", "DEBUG INFO", XC_FIELD_TEXT, false}, {"build_id", "BUILD-ID", XC_FIELD_TEXT, true},
		{"path", "PATH", XC_FIELD_TEXT, true},         {"file", "FILE USED", XC_FIELD_TEXT, true},
		{"why", "WHY", XC_FIELD_TEXT, true},
	};
	struct xc_table *table = xc_section_table(s, "modules", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		const struct xc_module *m = rows[i].module;
		const struct xc_cell row[] = {
			xc_cell_text(m->name),  xc_cell_address(m->lo),
			xc_cell_address(m->hi), xc_cell_text(xc_identity_text(m->identity)),
			debug_cell(&rows[i]),   id_cell(m),
			xc_cell_text(m->path),  xc_cell_text(m->file_path),
			why_cell(&rows[i]),
		};
		xc_table_row(s, table, row);
	}
}

static void problem_table(struct xc_section *s, const struct row *rows, size_t count)
{
	static const struct xc_column columns[] = {
		{"name", "MODULE", XC_FIELD_TEXT, false},
		{"identity", "FILE IS", XC_FIELD_TEXT, false},
		{"why", "PROBLEM", XC_FIELD_TEXT, false},
		{"build_id", "BUILD-ID", XC_FIELD_TEXT, true},
	};
	struct xc_table *table = xc_section_table(s, "problems", columns, XC_COUNT(columns));
	for (size_t i = 0; i < count; i++) {
		const struct xc_module *m = rows[i].module;
		const struct xc_cell row[] = {xc_cell_text(m->name), xc_cell_text(xc_identity_text(m->identity)),
					      why_cell(&rows[i]), id_cell(m)};
		if (rows[i].problem)
			xc_table_row(s, table, row);
	}
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
	xc_section_count(s, "loaded", "loaded", process->module_count);
	xc_section_count(s, "without_file", "without a file", without_file);
	xc_section_count(s, "without_debug", "without debug information", without_debug);
	if (!problems_only)
		full_table(s, rows, process->module_count);
	else if (problems)
		problem_table(s, rows, process->module_count);
	hint_at_help(s, without_debug, without_file);
}

void xc_modules_report(struct xc_report *report, struct xc_process *process)
{
	report_modules(report, process, false);
}

void xc_modules_report_problems(struct xc_report *report, struct xc_process *process)
{
	report_modules(report, process, true);
}
