/* debuginfo: the place of a code address: function, inlined functions, file and line, and the lexical blocks whose
 * variables are in scope.
 *
 * Only the units that hold the requested addresses are parsed. Places are kept by address, so two thousand threads
 * that wait in the same place cost one look-up. Not thread-safe. */
#ifndef XC_DEBUGINFO_H
#define XC_DEBUGINFO_H

#include "dwarf/line/unit_cache.h"
#include "dwarf/module/debugfile.h"

/* One function at a place: the innermost inlined one first, the real one last. */
struct xc_level {
	const char *function; /* qualified, without parameters: "ns::Class::method" */
	Dwarf_Die die;        /* DW_TAG_inlined_subroutine or DW_TAG_subprogram (concrete) */
	Dwarf_Die *blocks;    /* lexical blocks of this level that hold the address, innermost first;
	                             the last one is `die` itself */
	size_t block_count;
	const char *file;      /* full path where the compiler recorded it; NULL when unknown */
	unsigned line, column; /* 0 when unknown */
	int language;          /* DW_LANG_…, of its declaration; 0 when unknown */
	void *variables;       /* cache slot of dwarf/stack/variable */
};

struct xc_place {
	struct xc_module *module; /* NULL: the address is in no module */
	uint64_t file_addr;       /* addr - bias */
	Dwarf_Die unit;           /* of the function; valid only when level_count > 0 */
	struct xc_level *levels;
	size_t level_count;     /* 0: no debug information here */
	const char *symbol;     /* demangled name of the ELF symbol that covers the address, or NULL */
	int symbol_language;    /* by its mangled name: DW_LANG_Rust, DW_LANG_C_plus_plus, or 0 */
	uint64_t symbol_offset; /* address minus the symbol's value */
	/* without a symbol: the address is in a stub of the procedure linkage table (plt.h), "malloc@plt", which
	 * has these bytes, as file addresses; else NULL */
	const char *stub;
	uint64_t stub_lo, stub_hi;
	bool line_only; /* levels[0] has file and line, but no DIE (assembler) */
	/* from a plugin (foreign_frame.h), whose name is then the symbol; else NULL */
	const struct xc_foreign_code *told;
};

/* Has it that level, with a DIE? Of assembler only the line is known. */
static inline bool xc_place_has_die(const struct xc_place *place, size_t level)
{
	return !place->line_only && level < place->level_count;
}

/* The place of a code address. For return addresses give addr - 1 (see xc_frame_lookup). Never NULL; the answer
 * lives as long as the process. */
const struct xc_place *xc_debuginfo_place(const struct xc_process *process, xc_addr addr);

/* The name of the function of a level, from the symbol where debug information has none, or of the stub. NULL when none
 * has one. */
const char *xc_place_function(const struct xc_place *place, size_t level);

/* The same of the outermost level: the function whose frame it is. */
const char *xc_place_outer_function(const struct xc_place *place);

/* The source language of the function of a level (DW_LANG_…); of an inlined one that of its original unit. Without
 * debug information only Rust and C++ are recognized, by the symbol; 0 when unknown. */
int xc_place_language(const struct xc_place *place, size_t level);

/* The DW_TAG_call_site (or GNU_call_site) DIE in the function at `place` whose return address is `file_return`,
 * for entry values. False when there is none. */
bool xc_debuginfo_call_site(const struct xc_place *place, uint64_t file_return, Dwarf_Die *site_out);

/* A slot for the state that dwarf/lookup keeps for a process. xc_debuginfo_close calls `close` with its content
 * unless that is NULL. */
void **xc_debuginfo_names(const struct xc_process *process, void (*close)(void *names));

/* Free everything cached for the process, its units too; called before xc_debugfiles_close. */
void xc_debuginfo_close(struct xc_process *process);

#endif
