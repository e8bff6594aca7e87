/* layer: dwarf */
#include "dwarf/report/pack.h"

#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/process/finder.h"
#include "core/base/text.h"
#include "dwarf/module/debugfile.h"
#include "tests/support/mapped_fixture.h"

static const char TEXT[] = "int shown(int n) { return n * 2; }\n";

/* ---- a core in a file ---- */

static void add_note(struct xc_text *notes, uint32_t type, const void *desc, uint32_t size)
{
	const Elf64_Nhdr header = {.n_namesz = 5, .n_descsz = size, .n_type = type};
	xc_text_addn(notes, (const char *)&header, sizeof header);
	xc_text_addn(notes, "CORE\0\0\0", 8);
	xc_text_addn(notes, desc, size);
	while (notes->len % 4)
		xc_text_char(notes, '\0');
}

/* NT_FILE: count, page size, (start, end, page offset) per row, names. */
static void add_files(struct xc_text *notes, const struct mapped *m)
{
	struct xc_text desc = {0};
	uint64_t head[2] = {m->process->mapping_count, 1};
	xc_text_addn(&desc, (const char *)head, sizeof head);
	for (size_t i = 0; i < m->process->mapping_count; i++) {
		const struct xc_mapping *row = &m->process->mappings[i];
		uint64_t words[3] = {row->lo, row->hi + 1, row->offset};
		xc_text_addn(&desc, (const char *)words, sizeof words);
	}
	for (size_t i = 0; i < m->process->mapping_count; i++)
		xc_text_addn(&desc, m->module->path, strlen(m->module->path) + 1);
	add_note(notes, NT_FILE, desc.bytes, (uint32_t)desc.len);
	xc_text_fini(&desc);
}

/* A core of the mapped process: each mapping a PT_LOAD with its first page stored. */
static const char *write_core(const struct mapped *m, const char *name)
{
	struct xc_text core = {0}, notes = {0};
	struct elf_prstatus status = {.pr_pid = 77, .pr_cursig = 11};
	size_t count = m->process->mapping_count + 1, at = sizeof(Elf64_Ehdr) + count * sizeof(Elf64_Phdr);
	add_note(&notes, NT_PRSTATUS, &status, sizeof status);
	add_files(&notes, m);
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof header,
			     .e_ehsize = sizeof header,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = (Elf64_Half)count};
	Elf64_Phdr note = {.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes.len, .p_align = 4};
	xc_text_addn(&core, (const char *)&header, sizeof header);
	xc_text_addn(&core, (const char *)&note, sizeof note);
	for (size_t i = 0; i + 1 < count; i++) {
		const struct xc_mapping *map = &m->process->mappings[i];
		Elf64_Phdr load = {.p_type = PT_LOAD,
				   .p_offset = 0x2000 + i * 0x1000,
				   .p_vaddr = map->lo,
				   .p_filesz = 0x1000,
				   .p_memsz = map->hi - map->lo + 1,
				   .p_align = 0x1000,
				   .p_flags = (map->readable ? PF_R : 0u) | (map->writable ? PF_W : 0u) |
					      (map->executable ? PF_X : 0u)};
		xc_text_addn(&core, (const char *)&load, sizeof load);
	}
	xc_text_addn(&core, notes.bytes, notes.len);
	while (core.len < 0x2000)
		xc_text_char(&core, '\0');
	for (size_t i = 0; i + 1 < count; i++) {
		const struct xc_mapping *map = &m->process->mappings[i];
		char page[0x1000] = {0};
		uint64_t left = m->image->size - map->offset;
		memcpy(page, m->image->bytes + map->offset, left < sizeof page ? (size_t)left : sizeof page);
		xc_text_addn(&core, page, sizeof page);
	}
	const char *path = scratch_file(name, core.bytes, core.len);
	xc_text_fini(&notes);
	xc_text_fini(&core);
	return path;
}

/* ---- opening ---- */

static struct xc_finder finder;
static const char *dirs[1];

static struct xc_process *open_target(const char *path)
{
	struct xc_open_options options = {.finder = &finder};
	struct xc_process *process = NULL;
	CHECK_OK(xc_process_open_core(path, &options, &process));
	xc_debugfiles_use(process, &finder);
	return process;
}

static void close_target(struct xc_process *process)
{
	xc_debugfiles_close(process);
	xc_process_close(process);
}

/* The module of the test's library; there may be no other. */
static struct xc_module *library(const struct xc_process *process)
{
	assert_int_equal(process->module_count, 1);
	return process->modules[0];
}

/* The text of the module reports, as one string. */
static char *told(const struct xc_process *process)
{
	struct xc_module *m = library(process);
	struct xc_debugfile *df = xc_debugfile_of(process, m);
	const char *path = xc_debugfile_path(df), *why = xc_debugfile_why(df);
	return xc_asprintf("%s %d %s %s | %s %s", m->path, (int)m->identity, m->file_path ? m->file_path : "-",
			   m->why ? m->why : "-", path ? path : "-", why ? why : "-");
}

/* DIR/lib.so stripped, its debug file (compressed, as distributions do) in DIR/store. */
static const char *make_core(const char *name)
{
	const char *path = build("lib.so", "-g -O1 -Wl,--build-id=0xaaaaaaaaaaaaaaaa", TEXT);
	shell("rm -rf store && mkdir -p store/.build-id/aa &&"
	      " objcopy --only-keep-debug --compress-debug-sections=zlib lib.so "
	      "store/.build-id/aa/aaaaaaaaaaaaaa.debug &&"
	      " strip --strip-unneeded lib.so");
	dirs[0] = scratch_path("store");
	finder = (struct xc_finder){.debug_dirs = dirs, .debug_dir_count = 1};
	struct mapped m = map_file(path, path, true);
	const char *core = write_core(&m, name);
	unmap(&m);
	return core;
}

static void pack(const char *core, const char *out, struct xc_pack_totals *totals)
{
	struct xc_process *process = open_target(core);
	CHECK_OK(xc_pack_write(process, out, NULL, totals));
	close_target(process);
}

/* ---- tests ---- */

static void a_pack_tells_the_same_with_no_other_file_present(void **state)
{
	(void)state;
	struct xc_pack_totals totals;
	const char *core = make_core("core"), *out = scratch_path("out.pack");
	struct xc_process *process = open_target(core);
	assert_int_equal(library(process)->identity, XC_VERIFIED);
	char *before = told(process);
	assert_non_null(strstr(before, "store/.build-id"));
	CHECK_OK(xc_pack_write(process, out, NULL, &totals));
	assert_int_equal(totals.files, 3);
	assert_int_equal(totals.missing, 0);
	close_target(process);
	shell("mkdir -p away && rm -rf away/* && mv core lib.so lib.so.c store away/");
	finder = (struct xc_finder){0};
	process = open_target(out);
	char *after = told(process);
	assert_string_equal(after, before);
	struct xc_source *original = NULL;
	CHECK_OK(xc_source_open(scratch_path("away/core"), NULL, &original));
	assert_int_equal(process->core->size, original->size);
	assert_memory_equal(process->core->bytes, original->bytes, original->size);
	xc_source_close(original);
	close_target(process);
	free(before);
	free(after);
}

/* No file of this host may replace one that was missing on the other host. */
static void a_pack_keeps_the_reasons_for_what_was_missing(void **state)
{
	(void)state;
	struct xc_pack_totals totals;
	const char *core = make_core("core"), *out = scratch_path("missing.pack");
	shell("rm -rf hidden && mkdir hidden && mv lib.so store hidden/");
	struct xc_process *process = open_target(core);
	char *before = told(process);
	CHECK_OK(xc_pack_write(process, out, NULL, &totals));
	assert_int_equal(totals.files, 1);
	assert_int_equal(totals.missing, 1);
	close_target(process);
	shell("mv hidden/lib.so hidden/store .");
	process = open_target(out);
	char *after = told(process);
	assert_string_equal(after, before);
	assert_null(library(process)->file);
	close_target(process);
	free(before);
	free(after);
}

static void a_refused_file_is_not_packed(void **state)
{
	(void)state;
	struct xc_pack_totals totals;
	const char *core = make_core("core"), *out = scratch_path("refused.pack");
	build("lib.so", "-g -Wl,--build-id=0xbbbbbbbbbbbbbbbb", TEXT);
	finder = (struct xc_finder){0};
	struct xc_process *process = open_target(core);
	assert_int_equal(library(process)->identity, XC_REFUSED);
	char *before = told(process);
	CHECK_OK(xc_pack_write(process, out, NULL, &totals));
	assert_int_equal(totals.files, 1);
	close_target(process);
	process = open_target(out);
	char *after = told(process);
	assert_string_equal(after, before);
	close_target(process);
	free(before);
	free(after);
}

static void a_pack_of_a_pack_is_the_same(void **state)
{
	(void)state;
	pack(make_core("core"), scratch_path("one.pack"), NULL);
	pack(scratch_path("one.pack"), scratch_path("two.pack"), NULL);
	shell("zstd -dcq one.pack > one && zstd -dcq two.pack > two && cmp one two");
}

static void unpacked_files_serve_as_a_sysroot(void **state)
{
	(void)state;
	const char *core = make_core("core"), *out = scratch_path("x.pack");
	char debug[512];
	pack(core, out, NULL);
	shell("cp core kept && cp lib.so kept.so && rm -rf store lib.so.c lib.so tree");
	CHECK_OK(xc_pack_extract(out, scratch_path("tree"), NULL, NULL));
	shell("cmp tree/core kept && cmp tree/root%s kept.so", scratch_word(scratch_path("lib.so")));
	snprintf(debug, sizeof debug, "%s/root/usr/lib/debug/.build-id/aa/aaaaaaaaaaaaaa.debug", scratch_path("tree"));
	finder = (struct xc_finder){.sysroot = scratch_path("tree/root")};
	struct xc_process *process = open_target(scratch_path("tree/core"));
	assert_int_equal(library(process)->identity, XC_VERIFIED);
	assert_string_equal(xc_debugfile_path(xc_debugfile_of(process, library(process))), debug);
	close_target(process);
}

static void files_that_exist_are_kept_unless_forced(void **state)
{
	(void)state;
	const struct xc_pack_options force = {.force = true};
	const char *out = scratch_path("x.pack");
	pack(make_core("core"), out, NULL);
	shell("rm -rf tree && mkdir tree && echo mine > tree/core");
	CHECK_ERROR(xc_pack_extract(out, scratch_path("tree"), NULL, NULL), XC_ERR_USAGE, "exists");
	shell("test \"$(cat tree/core)\" = mine && test \"$(ls -A tree)\" = core");
	CHECK_OK(xc_pack_extract(out, scratch_path("tree"), &force, NULL));
	shell("cmp tree/core core");
}

/* A hostile pack: its names lead out of the directory, and there is a link on the way. */
static void nothing_is_written_outside_the_directory(void **state)
{
	(void)state;
	static const char bytes[] = "evil";
	struct xc_source *source = xc_source_over(bytes, sizeof bytes, "evil");
	const struct xc_source *sources[] = {source, source, source};
	struct xc_archive_file files[] = {
		{.kind = XC_ARCHIVE_CORE, .path = "/../../../core"},
		{.kind = XC_ARCHIVE_MODULE, .path = "x"},
		{.kind = XC_ARCHIVE_DEBUG, .path = "../../../../../../escaped-debug"},
	};
	struct xc_archive_module module = {
		.lo = 1, .path = "/../../../../../link/../escaped", .file = 1, .debug = 2, .alt = -1};
	struct xc_archive_content content = {
		.files = files, .sources = sources, .file_count = 3, .modules = &module, .module_count = 1};
	const char *out = scratch_path("evil.pack");
	CHECK_OK(xc_archive_write(&content, out));
	shell("rm -rf deep && mkdir -p deep/er/tree");
	CHECK_OK(xc_pack_extract(out, scratch_path("deep/er/tree"), NULL, NULL));
	shell("test $(find . -name 'escaped*' | wc -l) = 2 && test -f deep/er/tree/root/link/escaped &&"
	      " test -f deep/er/tree/root/escaped-debug");
	shell("rm -rf deep/er/tree/* && mkdir -p deep/er/tree/root && ln -s ../../../target deep/er/tree/root/link &&"
	      " mkdir -p deep/target");
	struct xc_error *err = xc_pack_extract(out, scratch_path("deep/er/tree"), NULL, NULL);
	assert_non_null(err);
	xc_error_free(err);
	shell("test -z \"$(ls -A deep/target)\"");
	xc_source_close(source);
}

static void a_file_that_is_not_what_was_packed_is_not_written(void **state)
{
	(void)state;
	const char *core = make_core("core"), *out = scratch_path("x.pack");
	pack(core, out, NULL);
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(out, NULL, &source));
	char *bytes = malloc(source->size);
	size_t size = (size_t)source->size;
	memcpy(bytes, source->bytes, size);
	xc_source_close(source);
	for (size_t i = 0; i < 32; i++) /* in the last file; a single bit of a zstd stream may mean nothing */
		bytes[size - 40 + i] ^= 0x55;
	const char *damaged = scratch_file("damaged.pack", bytes, size);
	free(bytes);
	shell("rm -rf tree");
	struct xc_error *err = xc_pack_extract(damaged, scratch_path("tree"), NULL, NULL);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_FORMAT);
	xc_error_free(err);
	shell("test $(find tree -type f | wc -l) = 2 && test -z \"$(find tree -name '.xcore*')\"");
}

static void other_files_and_live_processes_are_refused(void **state)
{
	(void)state;
	struct xc_process *live = xc_process_new("pid:1", true);
	CHECK_ERROR(xc_pack_write(live, scratch_path("live.pack"), NULL, NULL), XC_ERR_UNSUPPORTED, "live");
	xc_process_close(live);
	CHECK_ERROR(xc_pack_extract(make_core("core"), scratch_path("tree2"), NULL, NULL), XC_ERR_FORMAT,
		    "not made by xcore pack");
	assert_int_equal(access(scratch_path("tree2"), F_OK), -1);
	struct xc_process *process = open_target(scratch_path("core"));
	CHECK_ERROR(xc_pack_write(process, scratch_path("core"), NULL, NULL), XC_ERR_USAGE, "target itself");
	close_target(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pack_tells_the_same_with_no_other_file_present),
		cmocka_unit_test(a_pack_keeps_the_reasons_for_what_was_missing),
		cmocka_unit_test(a_refused_file_is_not_packed),
		cmocka_unit_test(a_pack_of_a_pack_is_the_same),
		cmocka_unit_test(unpacked_files_serve_as_a_sysroot),
		cmocka_unit_test(files_that_exist_are_kept_unless_forced),
		cmocka_unit_test(nothing_is_written_outside_the_directory),
		cmocka_unit_test(a_file_that_is_not_what_was_packed_is_not_written),
		cmocka_unit_test(other_files_and_live_processes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
