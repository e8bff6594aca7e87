/* goruntime: goroutines, found by symbols and by the layouts of Go's structs. */
#include "dwarf/unwind/goruntime.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/elf/gopclntab.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/types/type.h"
#include "dwarf/module/unit.h"

enum {
	STORAGE = -8, /* from the thread pointer to g, in a program without thread-local variables */
	FRAME_POINTER = 6,
	PLACES = 128,
};

/* Places of members that were looked up. Callers pass literals, so comparing their addresses is nearly always enough;
 * a literal that is written twice is looked up twice. */
struct xc_goruntime_memo {
	size_t count;
	struct {
		const char *type, *path;
		bool known;
		uint64_t offset, size;
	} places[PLACES];
};

/* ---- the program ---- */

static const struct xc_symbol *symbol(const struct xc_goruntime *go, const char *name)
{
	return xc_symtab_named(xc_debugfile_symbols(xc_debugfile_of(go->process, go->module)), name);
}

/* Assembler functions are called "name.abi0" since Go 1.17. */
static void find_code(struct xc_goruntime *go, enum xc_go_code which, const char *name)
{
	xc_auto(xc_freep) char *abi0 = xc_asprintf("%s.abi0", name);
	const struct xc_symbol *s = symbol(go, abi0);
	if (!s)
		s = symbol(go, name);
	if (!s || s->type == STT_TLS)
		return;
	go->codes[which].from = s->value + go->module->bias;
	go->codes[which].end = go->codes[which].from + s->size;
}

/* By its end symbols or, where they are missing, from the first function of Go's runtime table to its last. */
static void find_text(struct xc_goruntime *go, Elf *elf)
{
	const struct xc_symbol *first = symbol(go, "runtime.text"), *behind = symbol(go, "runtime.etext");
	struct xc_gopclntab table;
	uint64_t from, end;
	if (first && behind) {
		from = first->value;
		end = behind->value;
	} else if (!xc_gopclntab_find(elf, &table) || !xc_gopclntab_range(&table, &from, &end)) {
		return;
	}
	go->codes[XC_GO_TEXT].from = from + go->module->bias;
	go->codes[XC_GO_TEXT].end = end + go->module->bias;
}

bool xc_goruntime_find(const struct xc_process *p, struct xc_goruntime *out)
{
	if (p->arch->machine != EM_X86_64 || p->arch->word != 8 || !p->module_count || !p->modules[0]->bias_known ||
	    p->modules[0]->kind != XC_MODULE_EXE)
		return false;
	Elf *elf = xc_debugfile_elf(xc_debugfile_of(p, p->modules[0]));
	if (!elf || !xc_gopclntab_is_go(elf))
		return false;
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)p)->arena; /* a cache, not a fact of the process */
	*out = (struct xc_goruntime){
		.process = p, .module = p->modules[0], .memo = xc_arena_alloc(arena, sizeof *out->memo)};
	find_code(out, XC_GO_SYSTEMSTACK, "runtime.systemstack");
	find_code(out, XC_GO_MCALL, "runtime.mcall");
	find_code(out, XC_GO_MORESTACK, "runtime.morestack");
	find_code(out, XC_GO_CALL_C, "runtime.asmcgocall");
	find_code(out, XC_GO_SIGPANIC, "runtime.sigpanic");
	find_code(out, XC_GO_PREEMPT, "runtime.asyncPreempt");
	find_text(out, elf);
	return true;
}

bool xc_goruntime_in(const struct xc_goruntime *go, enum xc_go_code which, xc_addr pc)
{
	return pc >= go->codes[which].from && pc < go->codes[which].end;
}

bool xc_goruntime_switches(const struct xc_goruntime *go, xc_addr pc)
{
	return xc_goruntime_in(go, XC_GO_SYSTEMSTACK, pc) || xc_goruntime_in(go, XC_GO_CALL_C, pc) ||
	       xc_goruntime_in(go, XC_GO_MCALL, pc) || xc_goruntime_in(go, XC_GO_MORESTACK, pc);
}

const char *xc_goruntime_function(const struct xc_goruntime *go, xc_addr pc)
{
	const struct xc_symtab *symbols = xc_debugfile_symbols(xc_debugfile_of(go->process, go->module));
	const struct xc_symbol *s = xc_symtab_at(symbols, pc - go->module->bias);
	return s ? s->name : NULL;
}

bool xc_goruntime_variable(const struct xc_goruntime *go, const char *name, xc_addr *addr_out, uint64_t *size_out)
{
	const struct xc_symbol *s = symbol(go, name);
	if (!s || s->type == STT_TLS)
		return false;
	*addr_out = s->value + go->module->bias;
	*size_out = s->size;
	return true;
}

/* ---- layouts ---- */

/* Layouts that did not change from Go 1.12 to 1.22 on 64-bit machines (runtime/runtime2.go, type.go), for programs
 * without debug information. xc_goruntime_current() verifies them: the m of m.curg is the same m. */
static const struct {
	const char *type, *path;
	uint8_t offset, size;
} known_places[] = {
	{"runtime.g", "stack.lo", 0, 8},       {"runtime.g", "stack.hi", 8, 8},
	{"runtime.g", "_panic", 32, 8},        {"runtime.g", "m", 48, 8},
	{"runtime.g", "sched.sp", 56, 8},      {"runtime.g", "sched.pc", 64, 8},
	{"runtime.g", "sched.bp", 104, 8},     {"runtime.m", "curg", 192, 8},
	{"runtime._panic", "arg._type", 8, 8}, {"runtime._panic", "arg.data", 16, 8},
	{"runtime._type", "size", 0, 8},       {"runtime._type", "kind", 23, 1},
};

static const struct xc_member *member_named(const struct xc_type *type, const char *name, size_t len)
{
	size_t count = 0;
	const struct xc_member *members = type->kind == XC_TYPE_STRUCT ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; i < count; i++)
		if (members[i].name && strlen(members[i].name) == len && memcmp(members[i].name, name, len) == 0)
			return &members[i];
	return NULL;
}

static bool known_place(const char *type, const char *path, uint64_t *offset_out, uint64_t *size_out)
{
	for (size_t i = 0; i < XC_COUNT(known_places); i++)
		if (strcmp(known_places[i].type, type) == 0 && strcmp(known_places[i].path, path) == 0) {
			*offset_out = known_places[i].offset;
			*size_out = known_places[i].size;
			return true;
		}
	return false;
}

/* Offset and size of a member. */
static bool find_place(const struct xc_goruntime *go, const char *type_name, const char *path, uint64_t *offset_out,
		       uint64_t *size_out)
{
	const struct xc_query query = {
		.name = type_name, .kinds = XC_NAME_TYPE, .tag = DW_TAG_structure_type, .module = go->module};
	struct xc_definition found;
	uint64_t offset = 0;
	if (!xc_debugfile_dwarf(xc_debugfile_of(go->process, go->module)))
		return known_place(type_name, path, offset_out, size_out);
	if (!xc_lookup_one(go->process, &query, &found))
		return false;
	const struct xc_type *type = xc_type_get(xc_types_of(go->process), &found.die);
	while (*path) {
		size_t len = strcspn(path, ".");
		const struct xc_member *member = member_named(xc_type_complete(xc_type_strip(type)), path, len);
		if (!member || member->bit_size)
			return false;
		offset += member->offset;
		type = member->type;
		path += len + (path[len] == '.');
	}
	*offset_out = offset;
	return xc_type_size(xc_type_strip(type), size_out);
}

/* Likewise, with a cache; when that is full, by looking again. */
bool xc_goruntime_offset(const struct xc_goruntime *go, const char *type, const char *path, uint64_t *offset_out,
			 uint64_t *size_out)
{
	struct xc_goruntime_memo *memo = go->memo;
	size_t i = 0;
	while (i < memo->count && (memo->places[i].path != path || memo->places[i].type != type))
		i++;
	if (i == PLACES)
		return find_place(go, type, path, offset_out, size_out);
	if (i == memo->count) {
		uint64_t offset = 0, size = 0;
		memo->places[i].known = find_place(go, type, path, &offset, &size);
		memo->places[i].type = type;
		memo->places[i].path = path;
		memo->places[i].offset = offset;
		memo->places[i].size = size;
		memo->count++;
	}
	*offset_out = memo->places[i].offset;
	*size_out = memo->places[i].size;
	return memo->places[i].known;
}

bool xc_goruntime_read(const struct xc_goruntime *go, const char *type, xc_addr addr, const char *path,
		       uint64_t *value_out)
{
	uint64_t offset, size;
	return xc_goruntime_offset(go, type, path, &offset, &size) &&
	       (size == 1 || size == 2 || size == 4 || size == 8) &&
	       xc_space_peek_uint(go->process->space, addr + offset, (size_t)size, value_out);
}

/* ---- goroutines ---- */

/* The offset of g in the thread's storage. */
static bool storage_offset(const struct xc_goruntime *go, int64_t *offset_out)
{
	const struct xc_symbol *s = symbol(go, "runtime.tlsg");
	if (!s || s->type != STT_TLS || !go->module->tls_modid) {
		*offset_out = STORAGE;
		return true;
	}
	*offset_out = (int64_t)s->value - go->module->tls_offset;
	return go->module->tls_offset_known;
}

bool xc_goruntime_g(const struct xc_goruntime *go, const struct xc_regs *regs, xc_addr *g_out)
{
	uint64_t tp;
	int64_t offset;
	int number = go->process->arch->tls.tp;
	return xc_regs_get(regs, number, &tp) && tp && storage_offset(go, &offset) &&
	       xc_space_peek_uint(go->process->space, tp + (uint64_t)offset, 8, g_out) && *g_out;
}

bool xc_goruntime_current(const struct xc_goruntime *go, const struct xc_regs *regs, xc_addr *g_out)
{
	xc_addr g, m, same;
	return xc_goruntime_g(go, regs, &g) && xc_goruntime_read(go, "runtime.g", g, "m", &m) && m &&
	       xc_goruntime_read(go, "runtime.m", m, "curg", g_out) && *g_out &&
	       xc_goruntime_read(go, "runtime.g", *g_out, "m", &same) && same == m;
}

bool xc_goruntime_is_idle(const struct xc_goruntime *go, const struct xc_regs *regs)
{
	xc_addr g, m, current;
	return xc_goruntime_g(go, regs, &g) && xc_goruntime_read(go, "runtime.g", g, "m", &m) && m &&
	       xc_goruntime_read(go, "runtime.m", m, "curg", &current) && !current;
}

bool xc_goruntime_saved(const struct xc_goruntime *go, xc_addr g, struct xc_regs *regs)
{
	const struct xc_arch *arch = go->process->arch;
	uint64_t pc, sp, frame;
	if (!xc_goruntime_read(go, "runtime.g", g, "sched.pc", &pc) ||
	    !xc_goruntime_read(go, "runtime.g", g, "sched.sp", &sp) || !pc || !sp)
		return false;
	xc_regs_set(regs, arch->pc, pc);
	xc_regs_set(regs, arch->sp, sp);
	if (xc_goruntime_read(go, "runtime.g", g, "sched.bp", &frame) && frame)
		xc_regs_set(regs, FRAME_POINTER, frame);
	return true;
}
