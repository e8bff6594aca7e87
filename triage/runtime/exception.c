/* exception: the list of caught exceptions of a thread, and the header before a thrown object.
 *
 * libstdc++ 12 libsupc++/unwind-cxx.h, libc++abi 14 cxa_exception.h; 64 bits. From the unwinder's part U on they are
 * alike:
 *
 *	U - 80  type_info *             of a dependent exception (rethrow_exception) of libstdc++: the object
 *	U - 72  destructor
 *	U - 48  next caught exception
 *	U - 8   adjusted pointer
 *	U       class                   "GNUCC++\0", "CLNGC++\0" as a number; its lowest byte is 1 when dependent
 *	U + 32  the object
 *
 * __cxa_get_globals() returns { caught, uncaught count }. Its code shows their place in the thread's storage:
 *
 *	lea index(%rip),%rdi; call __tls_get_addr; add $0,%rax; ret     index: { module, offset }
 *	mov %fs:0,%rax; lea -16(%rax),%rax; ret                         linked statically
 *
 * or __cxa_get_globals_fast() gets it from pthread_getspecific() (thread_specific.h).
 *
 * type_info: { vptr, name }; with one base { …, base }; with several { …, flags, count, { base, offset << 8 | flags }
 * … } */
#include "triage/runtime/exception.h"

#include <elf.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/elf/symbol.h"
#include "triage/code/getter.h"
#include "triage/code/insn.h"
#include "triage/dataflow/thread_specific.h"

enum {
	NAME_MOST = 4096,
	WHAT_MOST = 1000,
	CODE_MOST = 64,
	BASES = 16,
	STEPS = 200,       /* through bases: their graph may be anything */
	STACK_MOST = 8192, /* bytes to search for a header */
	FLIGHT_FRAMES = 64,
	BLOCKS_MOST = 1 << 20, /* to look for one */
	HEADER = 128,
	TYPE = 80, /* below U */
	OBJECT = 32,
	RAX = 0,
	RDI = 5,
};

static const char STRING[] = "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
static const char STRING_LLVM[] = "NSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEEE";
static const uint64_t GNU = UINT64_C(0x474e5543432b2b00), LLVM = UINT64_C(0x434c4e47432b2b00);

static bool peek(const struct xc_crash_context *crash, xc_addr addr, uint64_t *out)
{
	return xc_space_peek_uint(crash->process->space, addr, 8, out);
}

/* ---- type info ---- */

/* The mangled name in a type_info: "St13runtime_error". False when it is not one. */
static bool type_name(const struct xc_crash_context *crash, xc_addr info, char name[NAME_MOST + 1])
{
	uint64_t vptr, text;
	bool cut;
	if (!peek(crash, info, &vptr) || !peek(crash, info + 8, &text) || !xc_process_module(crash->process, vptr) ||
	    xc_space_peek_string(crash->process->space, text, name, NAME_MOST, &cut) <= 0 || cut)
		return false;
	if (name[0] == '*') /* compared by address, not by name */
		memmove(name, name + 1, strlen(name));
	return true;
}

static const char *demangled(const struct xc_crash_context *crash, const char *name)
{
	static const char prefix[] = "typeinfo for ";
	xc_auto(xc_freep) char *symbol = xc_asprintf("_ZTI%s", name);
	xc_auto(xc_freep) char *text = xc_demangle(symbol, true);
	if (!text || strncmp(text, prefix, strlen(prefix)) != 0)
		return NULL;
	if (strcmp(name, STRING) == 0 || strcmp(name, STRING_LLVM) == 0) /* never in source form */
		return "std::string";
	for (char *at = text; (at = strstr(at, "std::__1::"));) /* nor libc++'s inline namespace */
		memmove(at + strlen("std::"), at + strlen("std::__1::"), strlen(at + strlen("std::__1::")) + 1);
	return xc_arena_strdup(&crash->report->arena, text + strlen(prefix));
}

static const char *type_text(const struct xc_crash_context *crash, xc_addr info)
{
	char name[NAME_MOST + 1];
	return type_name(crash, info, name) ? demangled(crash, name) : NULL;
}

/* The layout of the rest of a type_info: by the name of its own class. */
static bool info_is(const struct xc_crash_context *crash, xc_addr info, const char *name)
{
	char text[128];
	uint64_t vptr;
	return peek(crash, info, &vptr) && xc_symbol_describe(crash->process, vptr, text, sizeof text) &&
	       strstr(text, name);
}

/* Bases still to visit: the type, and its offset in the object. */
struct bases {
	struct {
		xc_addr info;
		uint64_t offset;
	} items[STEPS];
	size_t count;
};

static void add_base(struct bases *bases, xc_addr info, uint64_t offset)
{
	if (bases->count == STEPS)
		return;
	bases->items[bases->count].info = info;
	bases->items[bases->count++].offset = offset;
}

/* The direct bases of a type, the first one on top; virtual ones have no fixed offset. */
static void add_bases(const struct xc_crash_context *crash, xc_addr info, uint64_t offset, struct bases *bases)
{
	uint64_t base, counts, flags;
	if (info_is(crash, info, "__si_class_type_info")) {
		if (peek(crash, info + 16, &base))
			add_base(bases, base, offset);
		return;
	}
	if (!info_is(crash, info, "__vmi_class_type_info") || !peek(crash, info + 16, &counts))
		return;
	for (uint64_t i = counts >> 32 < BASES ? counts >> 32 : BASES; i-- > 0;)
		if (peek(crash, info + 24 + 16 * i, &base) && peek(crash, info + 32 + 16 * i, &flags) && !(flags & 1))
			add_base(bases, base, offset + (uint64_t)((int64_t)flags >> 8));
}

/* The offset of the base `name` (mangled) in an object of type `info`. */
static bool base_offset(const struct xc_crash_context *crash, xc_addr info, const char *name, uint64_t *offset_out)
{
	struct bases bases = {.count = 0};
	char have[NAME_MOST + 1];
	add_base(&bases, info, 0);
	for (unsigned steps = 0; bases.count && steps < STEPS; steps++) {
		xc_addr at = bases.items[--bases.count].info;
		*offset_out = bases.items[bases.count].offset;
		if (!type_name(crash, at, have))
			continue;
		if (strcmp(have, name) == 0)
			return true;
		add_bases(crash, at, *offset_out, &bases);
	}
	return false;
}

const char *xc_exception_class(const struct xc_crash_context *crash, xc_addr addr)
{
	uint64_t vptr, info;
	if (!peek(crash, addr, &vptr) || !xc_process_module(crash->process, vptr) || !peek(crash, vptr - 8, &info))
		return NULL;
	return type_text(crash, info);
}

/* ---- the header ---- */

static bool is_header(const struct xc_crash_context *crash, xc_addr at)
{
	uint64_t class;
	return peek(crash, at, &class) && ((class & ~UINT64_C(0xff)) == GNU || (class & ~UINT64_C(0xff)) == LLVM) &&
	       (class & 255) <= 1;
}

static bool read_header(const struct xc_crash_context *crash, xc_addr at, struct xc_exception *out)
{
	uint64_t class;
	if (!is_header(crash, at) || !peek(crash, at, &class))
		return false;
	out->object = at + OBJECT;
	if (class == (GNU | 1) && !peek(crash, at - TYPE, &out->object))
		return false;
	if (class == (LLVM | 1) && !peek(crash, at - TYPE - 8, &out->object))
		return false;
	if (!peek(crash, out->object - OBJECT - TYPE, &out->info))
		return false;
	out->type = type_text(crash, out->info);
	return out->type != NULL;
}

/* ---- where the runtime keeps it ---- */

/* The block of a module in the thread's storage: tp + 8 points to the table of blocks, 16 bytes each, first the
 * generation. */
static bool storage(const struct xc_crash_context *crash, uint64_t module, uint64_t *block_out)
{
	uint64_t tp, table, count;
	const struct xc_arch *arch = crash->process->arch;
	return arch->tls.tp >= 0 && xc_regs_get(&crash->thread->regs, arch->tls.tp, &tp) &&
	       peek(crash, tp + 8, &table) && peek(crash, table - 16, &count) && module && module <= count &&
	       peek(crash, table + 16 * module, block_out) && *block_out && *block_out != UINT64_MAX;
}

struct getting {
	uint64_t rdi, rax;
	bool rdi_known, rax_known;
};

/* Evaluate one instruction of __cxa_get_globals. False: unknown code. */
static bool follow(const struct xc_crash_context *crash, const struct xc_insn *insn, struct getting *g)
{
	uint64_t module, offset, tp, more;
	switch (insn->kind) {
	case XC_INSN_ADDRESS:
		if (insn->to == RDI && insn->memory.base < 0) {
			g->rdi = (uint64_t)insn->memory.displacement;
			g->rdi_known = true;
		} else if (insn->to == RAX && insn->memory.base == RAX) {
			g->rax += (uint64_t)insn->memory.displacement;
		}
		return true;
	case XC_INSN_CALL:
		g->rax_known = g->rdi_known && peek(crash, g->rdi, &module) && peek(crash, g->rdi + 8, &offset) &&
			       storage(crash, module, &g->rax);
		g->rax += g->rax_known ? offset : 0;
		return g->rax_known;
	case XC_INSN_LOAD:
		if (insn->to == RAX && insn->memory.segment >= 0 && !insn->memory.displacement) {
			g->rax_known = xc_regs_get(&crash->thread->regs, crash->process->arch->tls.tp, &tp);
			g->rax = tp;
			return g->rax_known;
		}
		return true;
	case XC_INSN_ADD:
		g->rax += insn->to == RAX ? (uint64_t)insn->constant : 0;
		return true;
	case XC_INSN_ADD_MEMORY:
		if (insn->memory.base >= 0 || !peek(crash, (xc_addr)insn->memory.displacement, &more))
			return false;
		g->rax += more;
		return true;
	default:
		return insn->kind == XC_INSN_OTHER || insn->kind == XC_INSN_NOP || insn->kind == XC_INSN_PUSH;
	}
}

/* The address that __cxa_get_globals() would return. */
static bool find_globals(const struct xc_crash_context *crash, xc_addr *globals_out)
{
	uint8_t code[CODE_MOST];
	xc_addr function;
	struct getting g = {.rax_known = false};
	if (!xc_symbol_find(crash->process, "__cxa_get_globals", NULL, &function))
		return false;
	size_t got = xc_space_peek(crash->process->space, function, code, sizeof code), at = 0;
	while (at < got) {
		struct xc_insn insn;
		if (!xc_insn_decode(crash->process, code + at, got - at, function + at, &insn) || !insn.length)
			return false;
		if (insn.kind == XC_INSN_RETURN) {
			*globals_out = g.rax;
			return g.rax_known;
		}
		if (!follow(crash, &insn, &g))
			return false;
		at += insn.length;
	}
	return false;
}

/* In common builds of libc++abi they are under a key, from the first exception on: 0 before. */
static bool find_specific(const struct xc_crash_context *crash, xc_addr *globals_out)
{
	xc_addr function;
	uint64_t key;
	return xc_symbol_find(crash->process, "__cxa_get_globals_fast", NULL, &function) &&
	       xc_thread_specific_key(crash, function, &key) && xc_thread_specific_get(crash, key, globals_out);
}

/* __cxa_eh_globals { caughtExceptions; uint32 uncaughtExceptions; } (Itanium C++ ABI, 2.2.2); 0 before the first. */
static bool get_globals(const struct xc_crash_context *crash, xc_addr *globals_out)
{
	return find_globals(crash, globals_out) || find_specific(crash, globals_out);
}

bool xc_exception_none(const struct xc_crash_context *crash)
{
	xc_addr globals;
	uint64_t caught, thrown;
	if (!get_globals(crash, &globals))
		return false;
	return !globals || (peek(crash, globals, &caught) && !caught &&
			    xc_space_peek_uint(crash->process->space, globals + 8, 4, &thrown) && !thrown);
}

bool xc_exception_handles_none(const struct xc_crash_context *crash)
{
	xc_addr globals;
	uint64_t caught;
	return get_globals(crash, &globals) && (!globals || (peek(crash, globals, &caught) && !caught));
}

static bool by_globals(const struct xc_crash_context *crash, bool *answered, struct xc_exception *out)
{
	xc_addr globals;
	uint64_t caught = 0;
	*answered = get_globals(crash, &globals) && (!globals || peek(crash, globals, &caught));
	return *answered && caught &&
	       (read_header(crash, caught + TYPE, out) || read_header(crash, caught + TYPE + 16, out));
}

/* A header to which the frames of the runtime point. */
static bool by_stack(const struct xc_crash_context *crash, struct xc_exception *out)
{
	uint64_t from, word;
	if (!crash->frame_count || !xc_regs_get(&crash->frames[0].regs, crash->process->arch->sp, &from))
		return false;
	for (uint64_t at = from; at - from < STACK_MOST && peek(crash, at, &word); at += 8)
		if (word % 16 == 0 && is_header(crash, word) && read_header(crash, word, out))
			return true;
	return false;
}

bool xc_exception_current(const struct xc_crash_context *crash, struct xc_exception *out)
{
	bool answered;
	if (crash->process->arch->machine != EM_X86_64 || crash->process->arch->word != 8)
		return false;
	out->sure = true;
	if (by_globals(crash, &answered, out))
		return true;
	out->sure = false;
	return !answered && by_stack(crash, out);
}

/* ---- in flight ---- */

/* How many exceptions are in flight; false when the runtime could not be read. */
static bool in_flight(const struct xc_crash_context *crash, uint64_t *thrown_out)
{
	xc_addr globals;
	return get_globals(crash, &globals) && globals &&
	       xc_space_peek_uint(crash->process->space, globals + 8, 4, thrown_out);
}

/* A freed one has the same words. */
static bool is_live(const struct xc_crash_context *crash, xc_addr at)
{
	uint32_t block = xc_blocks_find(&crash->heap->blocks, at);
	return block != XC_NO_BLOCK && !xc_block_is_free(xc_block_state(&crash->heap->blocks, block));
}

/* A header in a live block, which no handler has entered: handlerCount at U - 40 is 0. */
static bool read_flying(const struct xc_crash_context *crash, xc_addr at, struct xc_exception *out)
{
	uint64_t handlers;
	return is_header(crash, at) && xc_space_peek_uint(crash->process->space, at - 40, 4, &handlers) && !handlers &&
	       (!crash->heap || is_live(crash, at)) && read_header(crash, at, out);
}

/* Is the word the header, or the object after it? */
static bool is_of_flying(const struct xc_crash_context *crash, uint64_t word, xc_addr other, struct xc_exception *out)
{
	for (uint64_t back = 0; word % 16 == 0 && word && back <= OBJECT; back += OBJECT)
		if (word - back != other && read_flying(crash, word - back, out))
			return true;
	return false;
}

/* Code that an exception runs on its way keeps the header for _Unwind_Resume(): in a register that calls preserve,
 * which a frame further in may have saved on the stack. Code that never gets there has at times still the object. */
static bool find_flying(const struct xc_crash_context *crash, xc_addr other, struct xc_exception *out)
{
	const struct xc_arch *arch = crash->process->arch;
	uint64_t from, word;
	for (size_t i = 0; i < crash->frame_count && i < FLIGHT_FRAMES; i++)
		for (int number = 0; number < arch->frame_regs; number++)
			if (xc_regs_get(&crash->frames[i].regs, number, &word) && is_of_flying(crash, word, other, out))
				return true;
	if (!crash->frame_count || !xc_regs_get(&crash->frames[0].regs, arch->sp, &from))
		return false;
	for (uint64_t at = from; at - from < STACK_MOST && peek(crash, at, &word); at += 8)
		if (is_of_flying(crash, word, other, out))
			return true;
	return false;
}

/* The only one in the heap: both libraries allocate 128 bytes before the object. */
static bool find_allocated(const struct xc_crash_context *crash, xc_addr other, struct xc_exception *out)
{
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	struct xc_exception one;
	size_t found = 0;
	for (uint32_t i = 0; blocks && i < blocks->count && i < BLOCKS_MOST; i++) {
		xc_addr at = xc_block_addr(blocks, i) + HEADER - OBJECT;
		if (xc_block_size(blocks, i) <= HEADER || at == other || !read_flying(crash, at, &one))
			continue;
		*out = one;
		found++;
	}
	out->sure = false;
	return found == 1;
}

bool xc_exception_in_flight(const struct xc_crash_context *crash, struct xc_exception *out)
{
	struct xc_exception current;
	uint64_t thrown;
	if (crash->process->arch->machine != EM_X86_64 || crash->process->arch->word != 8 ||
	    !in_flight(crash, &thrown) || !thrown || thrown > FLIGHT_FRAMES)
		return false;
	bool handled = xc_exception_current(crash, &current);
	out->sure = thrown == 1;
	xc_addr other = handled ? current.object - OBJECT : 0;
	return find_flying(crash, other, out) || find_allocated(crash, other, out);
}

/* ---- what it says ---- */

/* The result of the exception's own what(). That of std::runtime_error and std::logic_error, which have a pointer
 * after their vptr (both libraries), goes through the library's string. */
static bool what_text(const struct xc_crash_context *crash, const struct xc_exception *e, uint64_t offset,
		      uint64_t *text_out)
{
	static const char *const keepers[] = {"St13runtime_error", "St11logic_error"};
	uint64_t vptr, function, keeper;
	if (!peek(crash, e->object + offset, &vptr) || !peek(crash, vptr + 16, &function))
		return false;
	if (xc_getter_value(crash->process, function, e->object + offset, text_out))
		return true;
	const struct xc_module *module = xc_process_module(crash->process, function);
	if (!module || !xc_module_is_runtime(module))
		return false;
	for (size_t i = 0; i < XC_COUNT(keepers); i++)
		if (base_offset(crash, e->info, keepers[i], &keeper))
			return peek(crash, e->object + keeper + 8, text_out);
	return false;
}

/* The text of a std::string. libstdc++ has the pointer first. libc++ has it third when the lowest bit of the first
 * byte is set; else the text follows that byte. */
static bool string_text(const struct xc_crash_context *crash, const struct xc_exception *e, uint64_t *text_out)
{
	uint64_t offset, first;
	if (base_offset(crash, e->info, STRING, &offset))
		return peek(crash, e->object + offset, text_out);
	if (!base_offset(crash, e->info, STRING_LLVM, &offset) || !peek(crash, e->object + offset, &first))
		return false;
	*text_out = e->object + offset + 1;
	return !(first & 1) || peek(crash, e->object + offset + 16, text_out);
}

const char *xc_exception_what(const struct xc_crash_context *crash, const struct xc_exception *exception)
{
	char text[WHAT_MOST + 1];
	uint64_t offset, at;
	bool string = string_text(crash, exception, &at);
	if (!string && (!base_offset(crash, exception->info, "St9exception", &offset) ||
			!what_text(crash, exception, offset, &at)))
		return NULL;
	if (xc_space_peek_string(crash->process->space, at, text, WHAT_MOST, NULL) < 0)
		return NULL;
	return xc_arena_strdup(&crash->report->arena, text);
}

/* std::nested_exception { vptr, exception_ptr { the object } }, in both libraries. */
bool xc_exception_nested(const struct xc_crash_context *crash, const struct xc_exception *exception,
			 struct xc_exception *out)
{
	uint64_t offset, object;
	if (!base_offset(crash, exception->info, "St16nested_exception", &offset) ||
	    !peek(crash, exception->object + offset + 8, &object) || !object || object % 16)
		return false;
	out->sure = exception->sure;
	return read_header(crash, object - OBJECT, out);
}
