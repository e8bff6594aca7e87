/* layer: dwarf */
#include "dwarf/module/debugfile.h"

#include <arpa/inet.h>
#include <dwarf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dwarf/elf/elffile.h"
#include "dwarf/elf/image.h"
#include "dwarf/elf/symbol.h"
#include "tests/support/grid.h"
#include "tests/support/mapped_fixture.h"

#define ID       "-Wl,--build-id=0xaaaaaaaaaaaaaaaaaaaa"
#define OTHER_ID "-Wl,--build-id=0xbbbbbbbbbbbbbbbbbbbb"
#define NO_ID    "-Wl,--build-id=none"
static const char TEXT[] =
	"struct pair { int a, b; };\n"
	"struct long_and_shared { unsigned long long first_member, second_member; struct long_and_shared *next; char "
	"name[64];\n"
	"  union { double real; long integer; struct pair *both; } value; struct pair pairs[16]; } shared;\n"
	"static __attribute__((noinline)) int hidden(struct pair *p) { return p->a + p->b; }\n"
	"int shown(int n) { struct pair p = {n, 2}; return hidden(&p); }\n";

static struct xc_finder finder;
static const char *dirs[1];

/* Map DIR/name, find its file and open its debug files. */
static struct xc_debugfile *begin(struct mapped *m, const char *name, bool id_known)
{
	*m = map_file(scratch_path(name), scratch_path(name), id_known);
	xc_finder_module(&finder, m->process, m->module);
	xc_debugfiles_use(m->process, &finder);
	return xc_debugfile_of(m->process, m->module);
}

static void end(struct mapped *m)
{
	xc_debugfiles_close(m->process);
	unmap(m);
}

static void use_store(void)
{
	dirs[0] = scratch_path("store");
	finder = (struct xc_finder){.debug_dirs = dirs, .debug_dir_count = 1};
	shell("rm -rf store && mkdir -p store/.build-id/aa");
}

static int use_nothing(void **state)
{
	(void)state;
	finder = (struct xc_finder){0};
	return 0;
}

/* a.so stripped, with a.debug next to it. */
static void split(const char *id, const char *flags)
{
	char all[256];
	snprintf(all, sizeof all, "-g -O1 %s %s", id, flags);
	build("a.so", all, TEXT);
	shell("cp a.so a.full && objcopy --only-keep-debug a.so a.debug && strip -g --strip-unneeded a.so");
}

static bool knows_pair(Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, child;
	while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		for (int more = dwarf_child(&die, &child); more == 0; more = dwarf_siblingof(&child, &child))
			if (dwarf_tag(&child) == DW_TAG_structure_type && dwarf_diename(&child) &&
			    !strcmp(dwarf_diename(&child), "pair"))
				return true;
	return false;
}

static void expect_why(struct xc_debugfile *df, const char *part)
{
	assert_null(xc_debugfile_dwarf(df));
	assert_null(xc_debugfile_path(df));
	assert_null(xc_debugfile_dwarf_elf(df));
	const char *why = xc_debugfile_why(df);
	if (!why || !strstr(why, part))
		fail_msg("why is \"%s\", not \"%s\"", why, part);
}

static void expect_dwarf(struct xc_debugfile *df, const char *path)
{
	if (!knows_pair(xc_debugfile_dwarf(df)))
		fail_msg("no DWARF: %s", xc_debugfile_why(df));
	assert_string_equal(xc_debugfile_path(df), path);
	assert_null(xc_debugfile_why(df));
}

/* ---- places ---- */

static void a_file_with_dwarf_needs_no_other(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.full a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_dwarf(df, scratch_path("a.so"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_null(xc_debugfile_separate(df));
	end(&m);
}

static void a_debug_dir_is_searched_by_build_id_and_by_path(void **state)
{
	(void)state;
	struct mapped m;
	char by_path[512];
	split(ID, "");
	snprintf(by_path, sizeof by_path, "store%s.debug", scratch_path("a.so"));
	const char *const places[] = {"store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug", "store/a.so.debug", "store/a.so",
				      by_path};
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		use_store();
		shell("mkdir -p \"$(dirname %s)\" && cp a.debug %s", scratch_word(places[i]), scratch_word(places[i]));
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path(places[i]));
		assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
		assert_non_null(xc_debugfile_separate(df));
		end(&m);
	}
}

static void a_debug_file_of_another_build_is_refused_and_named(void **state)
{
	(void)state;
	struct mapped m;
	split(OTHER_ID, "");
	shell("mv a.debug other.debug");
	split(ID, "");
	use_store();
	shell("cp other.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "has build-id bbbbbbbbbbbbbbbbbbbb, not aaaaaaaaaaaaaaaaaaaa");
	end(&m);
}

static void without_any_the_reason_names_the_build_id(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "build-id aaaaaaaaaaaaaaaaaaaa");
	assert_non_null(xc_debugfile_elf(df));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	assert_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	end(&m);
}

/* The core names the file's directory; a debuglink is next to it or in .debug. */
static void a_debuglink_is_followed_when_its_crc_fits(void **state)
{
	(void)state;
	struct mapped m;
	const char *const places[] = {"a.dbg", ".debug/a.dbg"};
	split(NO_ID, "");
	shell("cp a.debug a.dbg && objcopy --add-gnu-debuglink=a.dbg a.so && cp a.dbg kept.dbg");
	for (size_t i = 0; i < XC_COUNT(places); i++) {
		shell("rm -rf a.dbg .debug && mkdir -p .debug && cp kept.dbg %s", scratch_word(places[i]));
		struct xc_debugfile *df = begin(&m, "a.so", true);
		assert_int_equal(m.module->identity, XC_UNVERIFIED); /* never had a build-id */
		expect_dwarf(df, scratch_path(places[i]));
		end(&m);
	}
	shell("printf x >> .debug/a.dbg");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "the CRC of");
	end(&m);
	shell("rm -rf .debug a.dbg");
}

static void a_debuglink_that_is_a_path_is_ignored(void **state)
{
	(void)state;
	struct mapped m;
	split(NO_ID, "");
	shell("mkdir -p sub && cp a.so sub/b.so && cp a.debug a.dbg && objcopy --add-gnu-debuglink=a.dbg a.so &&"
	      " objcopy -O binary --only-section=.gnu_debuglink --set-section-flags .gnu_debuglink=alloc a.so link.bin "
	      "&&"
	      " { printf '../a.dbg\\0\\0\\0\\0'; tail -c 4 link.bin; } > path.bin &&"
	      " objcopy --add-section .gnu_debuglink=path.bin sub/b.so");
	struct xc_debugfile *df = begin(&m, "sub/b.so", true);
	expect_why(df, "no debug info");
	end(&m);
	shell("rm -f a.dbg");
}

static void an_unverified_file_gives_code_and_symbols_only(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.full a.so");
	struct xc_debugfile *df = begin(&m, "a.so", false);
	assert_int_equal(m.module->identity, XC_UNVERIFIED);
	expect_why(df, "unverified");
	assert_non_null(xc_debugfile_elf(df));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	end(&m);
}

static void minidebuginfo_adds_symbols(void **state)
{
	(void)state;
	struct mapped m;
	check_needs("xz");
	split(ID, "");
	shell("objcopy -S --remove-section .gnu_debuglink a.debug mini && cp a.full mini && strip -g mini && xz -k -f "
	      "mini &&"
	      " objcopy --add-section .gnu_debugdata=mini.xz a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	assert_null(xc_debugfile_dwarf(df));
	end(&m);
	shell("head -c 100 mini.xz > cut.xz && objcopy --update-section .gnu_debugdata=cut.xz a.so");
	df = begin(&m, "a.so", true);
	assert_null(xc_symtab_named(xc_debugfile_symbols(df), "hidden"));
	assert_non_null(xc_symtab_named(xc_debugfile_symbols(df), "shown"));
	end(&m);
}

/* ---- compression ---- */

static void compressed_sections_are_inflated_and_the_file_stays_as_it_is(void **state)
{
	(void)state;
	struct mapped m;
	const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		split(ID, "");
		shell("objcopy --compress-debug-sections=%s a.full a.so && cmp -s a.full a.so; test $? = 1", kinds[i]);
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path("a.so"));
		assert_memory_equal(m.module->file->bytes, m.image->bytes, m.image->size);
		assert_non_null(xc_debugfile_dwarf_elf(df));
		end(&m);
	}
}

static void damaged_compression_is_a_reason(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("objcopy --compress-debug-sections=zlib a.so");
	struct xc_source *source = NULL;
	CHECK_OK(xc_source_open(scratch_path("a.so"), NULL, &source));
	char *bytes = malloc(source->size);
	memcpy(bytes, source->bytes, source->size);
	size_t size = (size_t)source->size;
	xc_source_close(source);
	struct xc_elffile file;
	void *copy = xc_alloc(size + 1);
	memcpy(copy, bytes, size);
	assert_true(xc_elffile_open_image(&file, copy, size));
	Elf_Data *info = xc_elffile_section(file.elf, ".debug_info");
	size_t at = (size_t)((char *)info->d_buf - (char *)copy);
	memset(bytes + at + 40, 0x5a, 8); /* after Elf64_Chdr */
	xc_elffile_close(&file);
	scratch_file("a.so", bytes, size);
	free(bytes);
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "is damaged");
	end(&m);
}

static void a_section_of_zeros_a_thousand_to_one_is_a_reason(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("truncate -s 70000000 zeros && objcopy --add-section .debug_bomb=zeros a.so");
	shell("objcopy --compress-debug-sections=zlib a.so");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "would inflate to 70000000 bytes");
	end(&m);
}

static void a_damaged_entry_of_the_cache_is_replaced(void **state)
{
	(void)state;
	struct mapped m;
	build("a.so", "-g " ID, TEXT);
	shell("head -c 1000000 /dev/urandom >noise && objcopy --add-section .debug_noise=noise a.so && "
	      "objcopy --compress-debug-sections=zlib a.so");
	finder.cache_dir = scratch_path("cache");
	for (int i = 0; i < 3; i++) {
		struct xc_debugfile *df = begin(&m, "a.so", true);
		expect_dwarf(df, scratch_path("a.so"));
		end(&m);
		if (i == 0) /* the trailer stays whole */
			shell("dd if=/dev/zero of=\"$(ls cache/debug/*.plain)\" bs=4096 count=1 conv=notrunc 2>dd.log");
		else
			shell(i == 1 ? "test -z \"$(ls cache/debug)\"" : "test -n \"$(ls cache/debug)\"");
	}
}

/* Arbitrary bytes: no crash (under ASan), whatever is found. */
static void damaged_files_do_no_harm(void **state)
{
	(void)state;
	const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	unsigned seed = 815;
	split(ID, "");
	for (size_t k = 0; k < XC_COUNT(kinds); k++) {
		struct xc_source *source = NULL;
		shell("objcopy --compress-debug-sections=%s a.full z.so", kinds[k]);
		CHECK_OK(xc_source_open(scratch_path("z.so"), NULL, &source));
		for (int round = 0; round < 400; round++) {
			struct xc_elffile file;
			Dwarf *dwarf = NULL;
			char *bytes = xc_alloc(source->size + 1);
			memcpy(bytes, source->bytes, source->size);
			for (int i = 0; i < 6; i++) { /* the sections and their headers are in the last half */
				seed = seed * 1103515245 + 12345;
				bytes[source->size - 1 - (seed >> 8) % (source->size / 2)] = (char)(seed >> 4);
			}
			if (!xc_elffile_open_image(&file, bytes, source->size))
				continue;
			xc_error_free(xc_elffile_dwarf(&file, NULL, &dwarf));
			xc_elffile_build_id(file.elf);
			xc_elffile_close(&file);
		}
		xc_source_close(source);
	}
}

/* ---- dwz ---- */

/* flags for gcc, and for dwz */
static void dwz_split(const char *flags, const char *five)
{
	check_needs("dwz");
	split(OTHER_ID, flags);
	shell("mv a.debug b.debug");
	split(ID, flags);
	shell("dwz %s -m common.debug -M common.debug a.debug b.debug 2>/dev/null && test -s common.debug", five);
}

static void the_common_file_of_dwz_is_attached(void **state)
{
	(void)state;
	struct mapped m;
	const char *const flags[][2] = {{"-gdwarf-4", ""}, {"-gdwarf-5", ""}, {"-gdwarf-5", "-5"}};
	for (size_t i = 0; i < XC_COUNT(flags); i++) {
		dwz_split(flags[i][0], flags[i][1]);
		use_store();
		shell("cp a.debug common.debug store/.build-id/aa/ &&"
		      " mv store/.build-id/aa/a.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
		struct xc_debugfile *df = begin(&m, "a.so", true);
		assert_non_null(xc_debugfile_dwarf(df));
		if (xc_debugfile_why(df))
			fail_msg("%s", xc_debugfile_why(df));
		assert_non_null(xc_debugfile_alternate(df));
		assert_true(knows_pair(dwarf_getalt(xc_debugfile_dwarf(df))));
		end(&m);
	}
}

/* libdw must not search by itself then. */
static void a_missing_common_file_is_told(void **state)
{
	(void)state;
	struct mapped m;
	dwz_split("-gdwarf-4", "");
	use_store();
	shell("cp a.debug store/.build-id/aa/aaaaaaaaaaaaaaaaaa.debug");
	struct xc_debugfile *df = begin(&m, "a.so", true);
	assert_non_null(xc_debugfile_dwarf(df));
	assert_non_null(strstr(xc_debugfile_why(df), "dwz moved to common.debug"));
	assert_null(xc_debugfile_alternate(df));
	assert_non_null(dwarf_getalt(xc_debugfile_dwarf(df))); /* the empty one */
	knows_pair(xc_debugfile_dwarf(df));
	end(&m);
}

/* ---- memory ---- */

static void a_module_without_file_is_rebuilt_from_its_memory(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	m = map_file(scratch_path("a.so"), scratch_path("a.so"), true);
	store_all(&m);
	m.module->identity = XC_NO_FILE;
	struct xc_debugfile *df = xc_debugfile_of(m.process, m.module);
	Elf *elf = xc_debugfile_elf(df);
	assert_non_null(elf);
	const struct xc_symbol *shown = xc_symtab_named(xc_debugfile_symbols(df), "shown");
	assert_non_null(shown);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Dwarf_Frame *frame = NULL;
	assert_non_null(cfi);
	assert_int_equal(dwarf_cfi_addrframe(cfi, shown->value, &frame), 0);
	free(frame);
	dwarf_cfi_end(cfi);
	end(&m);
}

static void what_memory_lost_stays_absent(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	m = map_file(scratch_path("a.so"), scratch_path("a.so"), true); /* the first page only */
	m.module->identity = XC_NO_FILE;
	Elf *elf = xc_debugfile_elf(xc_debugfile_of(m.process, m.module));
	assert_true(!elf || !xc_elffile_section(elf, ".eh_frame"));
	end(&m);
}

/* ---- the network ---- */

struct server {
	int listener;
	pid_t pid;
};

/* Answers every request with the bytes of DIR/served. */
static void serve(int listener)
{
	struct xc_source *file = NULL;
	CHECK_OK(xc_source_open(scratch_path("served"), NULL, &file));
	for (;;) {
		char request[4096];
		int fd = accept(listener, NULL, NULL);
		if (fd < 0 || read(fd, request, sizeof request) <= 0)
			_exit(1);
		dprintf(fd, "HTTP/1.0 200 OK\r\nContent-Length: %lu\r\nConnection: close\r\n\r\n",
			(unsigned long)file->size);
		for (size_t at = 0; at < file->size;) {
			ssize_t n = write(fd, file->bytes + at, (size_t)file->size - at);
			if (n <= 0)
				break;
			at += (size_t)n;
		}
		close(fd);
	}
}

static struct server start_server(void)
{
	struct server s = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;
	char url[64];
	assert_int_equal(bind(s.listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(s.listener, 16), 0);
	assert_int_equal(getsockname(s.listener, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(at.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", scratch_path("debuginfod-cache"), 1);
	setenv("DEBUGINFOD_TIMEOUT", "5", 1);
	return s;
}

static void nothing_connects_unless_asked(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	struct server s = start_server();
	struct pollfd waiting = {.fd = s.listener, .events = POLLIN};
	struct xc_debugfile *df = begin(&m, "a.so", true);
	expect_why(df, "--debuginfod");
	assert_int_equal(xc_symtab_named(xc_debugfile_symbols(df), "hidden") != NULL, false);
	assert_null(getenv("DEBUGINFOD_URLS"));
	assert_int_equal(poll(&waiting, 1, 0), 0);
	end(&m);
	close(s.listener);
}

static void debuginfod_is_asked_when_told_to(void **state)
{
	(void)state;
	struct mapped m;
	split(ID, "");
	shell("cp a.debug served");
	struct server s = start_server();
	s.pid = fork();
	if (s.pid == 0) {
		fcntl(s.listener, F_SETFL, 0); /* wait */
		serve(s.listener);
	}
	finder.debuginfod = true;
	struct xc_debugfile *df = begin(&m, "a.so", true);
	Dwarf *dwarf = xc_debugfile_dwarf(df);
	const char *why = xc_debugfile_why(df);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, NULL, 0);
	close(s.listener);
	if (!dwarf && strstr(why, "libdebuginfod.so.1")) {
		end(&m);
		check_skip("there is no libdebuginfod here");
	}
	if (!knows_pair(dwarf))
		fail_msg("%s", why);
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_file_with_dwarf_needs_no_other, use_nothing),
		cmocka_unit_test_setup(a_debug_dir_is_searched_by_build_id_and_by_path, use_nothing),
		cmocka_unit_test_setup(a_debug_file_of_another_build_is_refused_and_named, use_nothing),
		cmocka_unit_test_setup(without_any_the_reason_names_the_build_id, use_nothing),
		cmocka_unit_test_setup(a_debuglink_is_followed_when_its_crc_fits, use_nothing),
		cmocka_unit_test_setup(a_debuglink_that_is_a_path_is_ignored, use_nothing),
		cmocka_unit_test_setup(an_unverified_file_gives_code_and_symbols_only, use_nothing),
		cmocka_unit_test_setup(minidebuginfo_adds_symbols, use_nothing),
		cmocka_unit_test_setup(compressed_sections_are_inflated_and_the_file_stays_as_it_is, use_nothing),
		cmocka_unit_test_setup(damaged_compression_is_a_reason, use_nothing),
		cmocka_unit_test_setup(a_section_of_zeros_a_thousand_to_one_is_a_reason, use_nothing),
		cmocka_unit_test_setup(a_damaged_entry_of_the_cache_is_replaced, use_nothing),
		cmocka_unit_test_setup(damaged_files_do_no_harm, use_nothing),
		cmocka_unit_test_setup(the_common_file_of_dwz_is_attached, use_nothing),
		cmocka_unit_test_setup(a_missing_common_file_is_told, use_nothing),
		cmocka_unit_test_setup(a_module_without_file_is_rebuilt_from_its_memory, use_nothing),
		cmocka_unit_test_setup(what_memory_lost_stays_absent, use_nothing),
		cmocka_unit_test_setup(nothing_connects_unless_asked, use_nothing),
		cmocka_unit_test_setup(debuginfod_is_asked_when_told_to, use_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
