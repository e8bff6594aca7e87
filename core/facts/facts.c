/* facts: the target and its basic tables. Facts that differ between copies of a core (name, stored size, time) go only
 * into the headline and the run section, so that JSON is the same for all copies. */
#include "core/facts/facts.h"

#include <elf.h>
#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "core/facts/arguments.h"
#include "core/process/module.h"
#include "core/render/render.h"

enum { HEADER_LIMIT = 1 << 20, NOTE_LIMIT = 256 << 10 }; /* bytes hashed for a core_id */

/* Core id */

static void hash_range(SHA2_CTX *hash, const struct xc_source *core, uint64_t at, uint64_t len, uint64_t limit)
{
	uint64_t left = at < core->size ? core->size - at : 0;
	len = len < left ? len : left;
	len = len < limit ? len : limit;
	if (len)
		SHA256Update(hash, core->bytes + at, (size_t)len);
}

static void hash_notes(SHA2_CTX *hash, const struct xc_source *core, const struct xc_elf *elf)
{
	uint64_t limit = NOTE_LIMIT;
	for (uint32_t i = 0; i < elf->phdrs_readable && i < HEADER_LIMIT / sizeof(Elf64_Phdr) && limit; i++) {
		struct xc_phdr header = xc_elf_phdr(elf, i);
		if (header.type != PT_NOTE)
			continue;
		hash_range(hash, core, header.offset, header.filesz, limit);
		limit -= header.filesz < limit ? header.filesz : limit;
	}
}

bool xc_facts_core_id(const struct xc_process *process, char id[XC_CORE_ID_SIZE])
{
	struct xc_elf elf;
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX hash;
	if (!process->core || !process->core->bytes)
		return false;
	struct xc_error *err = xc_elf_parse(process->core->bytes, process->core->size, &elf);
	if (err) {
		xc_error_free(err);
		return false;
	}
	SHA256Init(&hash);
	hash_range(&hash, process->core, 0, elf.elf_class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
		   HEADER_LIMIT);
	hash_range(&hash, process->core, elf.phoff, (uint64_t)elf.phdrs_readable * elf.phentsize, HEADER_LIMIT);
	hash_notes(&hash, process->core, &elf);
	SHA256Final(digest, &hash);
	for (size_t i = 0; i < XC_CORE_ID_SIZE / 2; i++)
		snprintf(id + 2 * i, 3, "%02x", digest[i]);
	return true;
}

/* Target */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static void add_size(struct xc_text *text, const struct xc_process *process)
{
	xc_text_add(text, "   ");
	xc_text_size(text, process->core->size);
	if (process->core->compression) {
		xc_text_add(text, " (");
		xc_text_size(text, process->core->stored_size);
		xc_text_printf(text, " as %s)", process->core->compression);
	}
	if (process->missing_bytes) {
		xc_text_add(text, ", cut short");
	} else {
		xc_text_add(text, ", complete");
	}
	if (process->core->mtime > 0) {
		xc_text_add(text, "   (file time ");
		xc_render_time(text, process->core->mtime);
		xc_text_char(text, ')');
	}
}

static void set_headline(struct xc_section *s, const struct xc_process *process)
{
	struct xc_text text = {0};
	xc_text_add(&text, process->target ? base_name(process->target) : "?");
	if (process->comm) {
		xc_text_add(&text, "   ");
		xc_text_add(&text, process->comm);
	}
	if (process->ids_known && !process->live)
		xc_text_printf(&text, "   pid %d", process->pid);
	xc_text_add(&text, "   ");
	xc_text_add(&text, process->arch->name);
	if (process->core)
		add_size(&text, process);
	if (process->snapshot)
		xc_text_printf(&text, "   snapshot of a running process%s%s", process->core_maker ? ", made by " : "",
			       process->core_maker ? process->core_maker : "");
	s->headline = xc_arena_strdup(&s->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
}

static void add_run(struct xc_report *report, const struct xc_process *process)
{
	struct xc_section *run = xc_report_run(report);
	struct xc_text when = {0};
	xc_section_text(run, "target", "target", process->target);
	if (!process->core)
		return;
	xc_section_bytes(run, "stored_size", "bytes on disk", process->core->stored_size);
	xc_section_bool(run, "compressed", "compressed", process->core->compressed);
	if (process->core->mtime > 0) {
		xc_render_time(&when, process->core->mtime);
		xc_section_text(run, "file_time", "file time", xc_text_string(&when));
		xc_text_fini(&when);
	}
}

static void add_ids(struct xc_section *s, const struct xc_process *process)
{
	static const char lost[] = "the notes that hold it are lost";
	struct xc_field *fields[3];
	if (process->ids_known) {
		fields[0] = xc_section_integer(s, "pid", "pid", process->pid);
		fields[1] = xc_section_integer(s, "ppid", "parent pid", process->ppid);
		fields[2] = xc_section_integer(s, "uid", "uid", (int64_t)process->uid);
	} else {
		fields[0] = xc_section_unknown(s, "pid", "pid", lost);
		fields[1] = xc_section_unknown(s, "ppid", "parent pid", lost);
		fields[2] = xc_section_unknown(s, "uid", "uid", lost);
	}
	for (size_t i = 0; i < XC_COUNT(fields); i++)
		fields[i]->quiet = !strcmp(s->key, "target");
}

static const struct xc_module *main_module(const struct xc_process *process)
{
	for (size_t i = 0; i < process->module_count; i++)
		if (process->modules[i]->kind == XC_MODULE_EXE)
			return process->modules[i];
	return NULL;
}

static void add_exe(struct xc_section *s, const struct xc_process *process)
{
	const struct xc_module *exe = main_module(process);
	char hex[2 * XC_BUILD_ID_MAX + 1];
	xc_section_text(s, "exe", "exe", process->exe_path ? process->exe_path : exe ? exe->path : NULL);
	if (!exe)
		return;
	if (exe->build_id.size)
		xc_section_text(s, "build_id", "build-id", xc_build_id_hex(&exe->build_id, hex));
	else
		xc_section_unknown(s, "build_id", "build-id", exe->build_id_lost ? "not in the core" : "it has none");
	xc_section_text(s, "exe_identity", "exe file", xc_identity_text(exe->identity))->quiet =
		exe->identity == XC_VERIFIED;
	if (exe->why)
		xc_section_text(s, "exe_why", "because", exe->why);
}

static void add_signal(struct xc_section *s, const struct xc_process *process)
{
	const struct xc_signal *signal = &process->signal;
	bool quiet = !strcmp(s->key, "target");
	if (!signal->known) {
		const char *why = process->live ? "none: it is running" : "the core has no signal";
		xc_section_unknown(s, "signal", "signal", why)->quiet = quiet;
		return;
	}
	xc_section_text(s, "signal", "signal", xc_signal_name(signal->number))->quiet = quiet;
	xc_section_integer(s, "signal_number", "number", signal->number)->quiet = true;
	xc_section_text(s, "signal_text", "meaning", xc_signal_text(signal->number))->quiet = quiet;
	if (!signal->has_info)
		return;
	xc_section_integer(s, "signal_code", "code", signal->code)->quiet = true;
	xc_section_text(s, "signal_code_name", "code", xc_signal_code_name(signal->number, signal->code))->quiet =
		quiet;
	xc_section_text(s, "signal_code_text", "code means", xc_signal_code_text(signal->number, signal->code))->quiet =
		quiet;
	if (signal->addr_known)
		xc_section_address(s, "signal_addr", "address", signal->addr)->quiet = quiet;
	if (signal->code <= 0 && signal->sender_pid > 0) {
		xc_section_integer(s, "sender_pid", "sent by pid", signal->sender_pid)->quiet = quiet;
		xc_section_integer(s, "sender_uid", "of uid", (int64_t)signal->sender_uid)->quiet = quiet;
	}
}

void xc_facts_target(struct xc_report *report, const struct xc_process *process)
{
	struct xc_section *s = xc_report_target(report);
	char id[XC_CORE_ID_SIZE];
	set_headline(s, process);
	xc_section_text(s, "kind", "kind", process->live ? "live" : "core")->quiet = true;
	if (xc_facts_core_id(process, id))
		xc_section_text(s, "core_id", "core id", id)->quiet = true;
	else
		xc_section_unknown(s, "core_id", "core id", process->live ? "a live process" : "unreadable header")
			->quiet = true;
	xc_section_text(s, "arch", "machine", process->arch->name)->quiet = true;
	xc_section_text(s, "name", "name", process->comm)->quiet = true;
	add_ids(s, process);
	add_exe(s, process);
	xc_auto(xc_freep) char *arguments = xc_arguments(process);
	if (arguments)
		xc_section_text(s, "args", "arguments", arguments)->cell.secret = true;
	add_signal(s, process);
	xc_section_count(s, "thread_count", "threads", process->thread_count)->quiet = true;
	if (process->core) {
		xc_section_bytes(s, "size", "size", process->core->size)->quiet = true;
		xc_section_bool(s, "complete", "complete", !process->missing_bytes)->quiet = true;
		xc_section_bytes(s, "missing_bytes", "missing", process->missing_bytes)->quiet = true;
	}
	for (const struct xc_remark *remark = process->remarks; remark; remark = remark->next)
		xc_section_message(s, XC_WARNING, NULL, "%s", remark->text);
	report->incomplete |= process->missing_bytes != 0;
	add_run(report, process);
}

/* Info */

static const struct {
	unsigned type;
	const char *name;
	bool address;
} auxv_names[] = {
	{AT_PHDR, "AT_PHDR", true},
	{AT_PHENT, "AT_PHENT", false},
	{AT_PHNUM, "AT_PHNUM", false},
	{AT_PAGESZ, "AT_PAGESZ", false},
	{AT_BASE, "AT_BASE", true},
	{AT_FLAGS, "AT_FLAGS", false},
	{AT_ENTRY, "AT_ENTRY", true},
	{AT_UID, "AT_UID", false},
	{AT_EUID, "AT_EUID", false},
	{AT_GID, "AT_GID", false},
	{AT_EGID, "AT_EGID", false},
	{AT_PLATFORM, "AT_PLATFORM", true},
	{AT_HWCAP, "AT_HWCAP", true},
	{AT_CLKTCK, "AT_CLKTCK", false},
	{AT_SECURE, "AT_SECURE", false},
	{AT_RANDOM, "AT_RANDOM", true},
	{AT_HWCAP2, "AT_HWCAP2", true},
	{AT_EXECFN, "AT_EXECFN", true},
	{AT_SYSINFO, "AT_SYSINFO", true},
	{AT_SYSINFO_EHDR, "AT_SYSINFO_EHDR", true},
	{AT_MINSIGSTKSZ, "AT_MINSIGSTKSZ", false},
};

static void add_auxv(struct xc_section *s, const struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{"name", "AUXV", XC_FIELD_TEXT, false},
		{"value", "VALUE", XC_FIELD_ADDRESS, false},
		{"place", "WHERE", XC_FIELD_TEXT, false},
	};
	struct xc_table *table = xc_section_table(s, "auxv", columns, XC_COUNT(columns));
	char place[256];
	for (size_t i = 0; i < XC_COUNT(auxv_names); i++) {
		uint64_t value;
		if (!xc_process_auxv(process, auxv_names[i].type, &value))
			continue;
		bool address = auxv_names[i].address;
		const char *where = address ? xc_facts_place(process, value, place, sizeof place) : NULL;
		const struct xc_cell row[] = {xc_cell_text(auxv_names[i].name), xc_cell_address(value),
					      xc_cell_text(where)};
		xc_table_row(s, table, row);
	}
}

/* The available bytes of the address space, by source. */
static void add_memory(struct xc_section *s, const struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{"provenance", "MEMORY", XC_FIELD_TEXT, false},
		{"bytes", "BYTES", XC_FIELD_BYTES, false},
		{"ranges", "RANGES", XC_FIELD_COUNT, false},
	};
	uint64_t bytes[XC_UNMAPPED + 1] = {0}, ranges[XC_UNMAPPED + 1] = {0};
	for (size_t i = 0; i < xc_space_count(process->space); i++) {
		const struct xc_segment *segment = xc_space_at(process->space, i);
		if ((unsigned)segment->provenance > XC_UNMAPPED)
			continue;
		bytes[segment->provenance] += segment->hi - segment->lo + 1;
		ranges[segment->provenance]++;
	}
	struct xc_table *table = xc_section_table(s, "memory", columns, XC_COUNT(columns));
	for (unsigned i = 0; i <= XC_UNMAPPED; i++) {
		const char *where = i == XC_FROM_LIVE ? "read on demand" : xc_provenance_text((enum xc_provenance)i);
		const struct xc_cell row[] = {xc_cell_text(where), xc_cell_bytes(bytes[i]), xc_cell_count(ranges[i])};
		if (ranges[i])
			xc_table_row(s, table, row);
	}
}

void xc_facts_info(struct xc_report *report, const struct xc_process *process)
{
	struct xc_section *s = xc_report_section(report, "info", "Process");
	add_signal(s, process);
	add_ids(s, process);
	xc_section_text(s, "core_maker", "core made by", process->core_maker);
	xc_section_count(s, "threads", "threads", process->thread_count);
	xc_section_count(s, "modules", "modules", process->module_count);
	xc_section_text(s, "modules_how", "modules from", process->modules_how);
	xc_section_count(s, "mappings", "mappings", process->mapping_count);
	if (process->core) {
		xc_section_bytes(s, "size", "core size", process->core->size);
		xc_section_bytes(s, "expected_size", "by its headers", process->expected_size);
		xc_section_bytes(s, "missing_bytes", "missing", process->missing_bytes);
	}
	add_memory(s, process);
	add_auxv(s, process);
}

/* Threads and maps */

const char *xc_thread_state_text(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "waiting for the kernel";
	case 'T':
		return "stopped";
	case 't':
		return "traced";
	case 'Z':
		return "zombie";
	case 'X':
		return "dead";
	case 'I':
		return "idle";
	default:
		return NULL;
	}
}

static struct xc_cell register_cell(const struct xc_thread *thread, int number)
{
	uint64_t value;
	if (xc_regs_get(&thread->regs, number, &value))
		return xc_cell_address(value);
	return xc_cell_null(thread->why_no_regs ? thread->why_no_regs : "not saved");
}

enum { LIVE_COLUMNS = 2 };

static struct xc_cell time_cell(const struct xc_thread *thread, uint64_t ns)
{
	return thread->ran ? xc_cell_seconds((double)ns / 1e9) : xc_cell_null("the kernel does not report it");
}

void xc_facts_threads(struct xc_report *report, const struct xc_process *process, xc_facts_namer *function_at)
{
	static const struct xc_column columns[] = {
		{"tid", "TID", XC_FIELD_INTEGER, false},      {"name", "NAME", XC_FIELD_TEXT, false},
		{"state", "STATE", XC_FIELD_TEXT, false},     {"pc", "PC", XC_FIELD_ADDRESS, false},
		{"sp", "SP", XC_FIELD_ADDRESS, true},         {"function", "FUNCTION", XC_FIELD_TEXT, false},
		{"how", "HOW", XC_FIELD_TEXT, true},          {"place", "WHERE", XC_FIELD_TEXT, false},
		{"ran", "CPU TIME", XC_FIELD_SECONDS, false}, {"waited", "WAITED FOR CPU", XC_FIELD_SECONDS, false},
	};
	const size_t column_count = XC_COUNT(columns) - (process->live ? 0 : LIVE_COLUMNS);
	struct xc_section *s = xc_report_section(report, "threads", "Threads");
	struct xc_table *table = xc_section_table(s, "threads", columns, column_count);
	char place[256];
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct xc_thread *thread = &process->threads[i];
		struct xc_cell pc = register_cell(thread, process->arch->pc);
		bool pc_known = pc.kind == XC_FIELD_ADDRESS;
		const char *where = pc_known ? xc_facts_place(process, pc.number, place, sizeof place) : NULL;
		const char *state = thread->crashed ? "crashed" : xc_thread_state_text(thread->state);
		const struct xc_cell row[] = {
			xc_cell_integer(thread->tid),
			xc_cell_text(thread->name),
			xc_cell_text(state),
			pc,
			register_cell(thread, process->arch->sp),
			xc_cell_text(pc_known && function_at ? function_at(process, pc.number) : NULL),
			xc_cell_text(thread->regs_how),
			where ? xc_cell_text(where) : xc_cell_null(pc_known ? "not mapped" : pc.text),
			time_cell(thread, thread->ran),
			time_cell(thread, thread->waited),
		};
		xc_table_row(s, table, row);
	}
}

enum { MAX_ROWS = 1 << 17 }; /* kernels allow 65,530 mappings by default */

void xc_facts_maps(struct xc_report *report, const struct xc_process *process)
{
	static const struct xc_column columns[] = {
		{"lo", "FIRST", XC_FIELD_ADDRESS, false},     {"hi", "LAST", XC_FIELD_ADDRESS, true},
		{"size", "SIZE", XC_FIELD_BYTES, false},      {"access", "ACCESS", XC_FIELD_TEXT, false},
		{"dumped", "IN CORE", XC_FIELD_BYTES, false}, {"cut", "CUT", XC_FIELD_BOOL, true},
		{"offset", "OFFSET", XC_FIELD_ADDRESS, true}, {"path", "FILE", XC_FIELD_TEXT, false},
	};
	struct xc_section *s = xc_report_section(report, "maps", "Memory map");
	struct xc_table *table = xc_section_table(s, "maps", columns, XC_COUNT(columns));
	for (size_t i = 0; i < process->mapping_count && i < MAX_ROWS; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		const char access[5] = {m->readable ? 'r' : '-', m->writable ? 'w' : '-', m->executable ? 'x' : '-',
					m->shared ? 's' : 'p', '\0'};
		const struct xc_cell row[] = {
			xc_cell_address(m->lo),
			xc_cell_address(m->hi),
			xc_cell_bytes(m->hi - m->lo + 1),
			xc_cell_text(access),
			process->live ? xc_cell_null(NULL) : xc_cell_bytes(m->dumped),
			process->live ? xc_cell_null(NULL) : xc_cell_bool(m->cut),
			m->path ? xc_cell_address(m->offset) : xc_cell_null(NULL),
			xc_cell_text(m->path ? m->path : m->label),
		};
		xc_table_row(s, table, row);
	}
	if (process->mapping_count > MAX_ROWS)
		xc_section_note(
			s, xc_error_new(XC_ERR_LIMIT, "%zu more mappings left out", process->mapping_count - MAX_ROWS));
}
