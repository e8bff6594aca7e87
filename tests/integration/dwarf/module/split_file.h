/* split_file: a library and its debug file, found as by the program. */
#ifndef XC_TEST_SPLIT_FILE_H
#define XC_TEST_SPLIT_FILE_H

#include <dwarf.h>

#include "dwarf/module/debugfile.h"
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

/* Map DIR/name, find its file and open its debug files. */
static inline struct xc_debugfile *begin(struct mapped *m, const char *name, bool id_known)
{
	*m = map_file(scratch_path(name), scratch_path(name), id_known);
	xc_finder_module(&finder, m->process, m->module);
	xc_debugfiles_use(m->process, &finder);
	return xc_debugfile_of(m->process, m->module);
}

static inline void end(struct mapped *m)
{
	xc_debugfiles_close(m->process);
	unmap(m);
}

static inline int use_nothing(void **state)
{
	(void)state;
	finder = (struct xc_finder){0};
	return 0;
}

/* a.so stripped, with a.debug next to it. */
static inline void split(const char *id, const char *flags)
{
	char all[256];
	snprintf(all, sizeof all, "-g -O1 %s %s", id, flags);
	build("a.so", all, TEXT);
	shell("cp a.so a.full && objcopy --only-keep-debug a.so a.debug && strip -g --strip-unneeded a.so");
}

static inline bool knows_pair(Dwarf *dwarf)
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

static inline void expect_why(struct xc_debugfile *df, const char *part)
{
	assert_null(xc_debugfile_dwarf(df));
	assert_null(xc_debugfile_path(df));
	assert_null(xc_debugfile_dwarf_elf(df));
	const char *why = xc_debugfile_why(df);
	if (!why || !strstr(why, part))
		fail_msg("why is \"%s\", not \"%s\"", why, part);
}

static inline void expect_dwarf(struct xc_debugfile *df, const char *path)
{
	if (!knows_pair(xc_debugfile_dwarf(df)))
		fail_msg("no DWARF: %s", xc_debugfile_why(df));
	assert_string_equal(xc_debugfile_path(df), path);
	assert_null(xc_debugfile_why(df));
}

#endif
