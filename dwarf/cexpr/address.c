/* address: a small grammar that needs symbol tables only; then C.
 *
 *	address = place [("+" | "-") number] | expression
 *	place   = number | "$" register | [module "!"] symbol
 *
 * A symbol is its exact ELF name, or the demangled name with or without its parameters. */
#include "dwarf/cexpr/address.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "core/text/suggest.h"
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/elf/symbol.h"

enum { MAX_MANGLED = 16 << 10 }; /* longer ones are not demangled */

/* ---- numbers and registers ---- */

static bool parse_number(const char *text, uint64_t *number_out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = hex ? text + 2 : text;
	if (!*digits || strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != strlen(digits))
		return false;
	errno = 0;
	*number_out = strtoull(digits, NULL, hex ? 16 : 10);
	return errno == 0;
}

/* Cut "+N" or "-N" off the end of text. A sign without a number after it belongs to the name (operator+). */
static uint64_t cut_offset(char *text)
{
	uint64_t offset;
	for (char *c = text + strlen(text); c-- > text + 1;) {
		if (*c != '+' && *c != '-')
			continue;
		if (!parse_number(c + 1, &offset))
			return 0;
		bool minus = *c == '-';
		*c = '\0';
		return minus ? 0 - offset : offset;
	}
	return 0;
}

static const struct xc_thread *shown_thread(const struct xc_process *process)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].crashed)
			return &process->threads[i];
	return process->thread_count ? process->threads : NULL;
}

static struct xc_error *find_register(const struct xc_process *process, const struct xc_thread *thread,
				      const char *name, xc_addr *addr_out)
{
	int number = xc_arch_reg_named(process->arch, name);
	if (number < 0)
		return xc_error_new(XC_ERR_NOT_FOUND, "$%s: %s has no such register", name, process->arch->name);
	thread = thread ? thread : shown_thread(process);
	if (!thread || !xc_regs_get(&thread->regs, number, addr_out))
		return xc_error_new(XC_ERR_NOT_FOUND, "$%s: %s", name,
				    thread && thread->why_no_regs ? thread->why_no_regs : "its value is not known");
	return NULL;
}

/* ---- symbols ---- */

/* Can this be the mangled form of a name with this last word? A filter that avoids demangling most symbols. */
static bool may_be(const char *mangled, const char *last_word)
{
	return mangled[0] == '_' && memmem(mangled, strnlen(mangled, MAX_MANGLED), last_word, strlen(last_word));
}

/* True when `mangled` demangles to `name`, with or without its parameters. */
static bool demangles_to(const char *mangled, const char *name)
{
	xc_auto(xc_freep) char *brief = xc_demangle(mangled, false);
	if (brief && strcmp(brief, name) == 0)
		return true;
	xc_auto(xc_freep) char *full = brief ? xc_demangle(mangled, true) : NULL;
	return full && strcmp(full, name) == 0;
}

/* The last identifier before any parameters or template arguments: "f" of "ns::f(int)". */
static char *last_word_of(const char *name)
{
	size_t end = strcspn(name, "(<"), start = end;
	while (start > 0 && name[start - 1] != ':' && name[start - 1] != ' ' && name[start - 1] != '~')
		start--;
	return xc_asprintf("%.*s", (int)(end - start), name + start);
}

static const struct xc_symbol *find_in(const struct xc_symtab *table, const char *name, const char *last_word)
{
	const struct xc_symbol *symbol = xc_symtab_named(table, name);
	for (size_t i = 0; !symbol && *last_word && i < xc_symtab_count(table); i++)
		if (may_be(xc_symtab_mangled(table, i), last_word) && demangles_to(xc_symtab_get(table, i)->name, name))
			symbol = xc_symtab_get(table, i);
	return symbol;
}

static struct xc_error *find_symbol(const struct xc_process *process, const char *module_name, const char *name,
				    xc_addr *addr_out)
{
	xc_auto(xc_freep) char *last_word = last_word_of(name);
	const struct xc_module *wanted = module_name ? xc_module_by_name(process, module_name) : NULL;
	if (module_name && !wanted)
		return xc_error_hint(
			xc_error_new(XC_ERR_NOT_FOUND, "no module '%s' in %s", module_name, process->target),
			"`xcore modules` lists them");
	for (size_t i = 0; i < process->module_count; i++) {
		struct xc_module *module = process->modules[i];
		if (wanted && module != wanted)
			continue;
		const struct xc_symbol *symbol =
			find_in(xc_debugfile_symbols(xc_debugfile_of(process, module)), name, last_word);
		if (!symbol)
			continue;
		if (symbol->type == STT_TLS)
			return xc_error_new(XC_ERR_UNSUPPORTED, "%s is thread-local: it has one address per thread",
					    name);
		if (!module->bias_known)
			return xc_error_new(XC_ERR_NOT_FOUND, "%s: the load address of %s is not known", name,
					    module->name);
		*addr_out = module->bias + symbol->value;
		return NULL;
	}
	if (module_name)
		return xc_error_new(XC_ERR_NOT_FOUND, "no symbol '%s' in module '%s'", name, module_name);
	return xc_error_hint(xc_error_new(XC_ERR_NOT_FOUND, "no symbol '%s' in %s", name, process->target),
			     "hexadecimal numbers begin with 0x; `xcore modules` lists modules without symbols");
}

static struct xc_error *find_place(const struct xc_process *process, const struct xc_thread *thread, const char *text,
				   xc_addr *addr_out)
{
	xc_auto(xc_freep) char *place = xc_strdup(text);
	uint64_t offset = cut_offset(place), base;
	char *mark = strchr(place, '!');
	struct xc_error *err = NULL;
	if (mark)
		*mark++ = '\0';
	if (*place == '$')
		err = find_register(process, thread, place + 1, &base);
	else if (mark)
		err = find_symbol(process, place, mark, &base);
	else if (!parse_number(place, &base))
		err = find_symbol(process, NULL, place, &base);
	if (!err)
		*addr_out = base + offset;
	return err;
}

/* ---- expressions ---- */

/* As in gdb's `x`, a number or pointer means its value; an array, struct or function means its address. */
static struct xc_error *address_of(const struct xc_value *value, xc_addr *addr_out)
{
	struct xc_value target = *value;
	struct xc_error *err = NULL;
	enum xc_type_kind kind = xc_type_strip(value->type)->kind;
	if (kind == XC_TYPE_REFERENCE || kind == XC_TYPE_RVALUE_REFERENCE) {
		if ((err = xc_value_deref(value, &target)))
			return err;
		kind = xc_type_strip(target.type)->kind;
	}
	if (target.kind == XC_VALUE_ABSENT)
		return xc_value_check(&target);
	if (kind == XC_TYPE_STRUCT || kind == XC_TYPE_CLASS || kind == XC_TYPE_UNION || kind == XC_TYPE_ARRAY ||
	    kind == XC_TYPE_FUNCTION) {
		if (target.kind != XC_VALUE_MEMORY)
			return xc_error_new(XC_ERR_USAGE, "this value is not in memory: it has no address");
		*addr_out = target.addr;
		return NULL;
	}
	if (kind == XC_TYPE_FLOAT || kind == XC_TYPE_COMPLEX)
		return xc_error_new(XC_ERR_USAGE, "a value of type %s is not an address", xc_type_name(target.type));
	return xc_value_number(&target, addr_out);
}

/* A local of the frame hides symbols of its name, as in C. False when the frame has none, or is not available. */
static bool find_local(const struct xc_process *process, const struct xc_thread *thread, unsigned row, const char *text,
		       xc_addr *addr_out)
{
	xc_auto(xc_freep) char *name = xc_strdup(text);
	uint64_t offset = cut_offset(name);
	struct xc_frame_scope scope;
	struct xc_arena arena = {0};
	struct xc_value value;
	struct xc_error *err = xc_frame_scope_open(&scope, process, thread, row);
	bool found = false;
	if (!err && scope.has_frame) {
		struct xc_frame_context context = xc_frame_scope_context(&scope);
		found = xc_variable_find(&context, scope.level, name, &arena, &value) &&
			!(err = address_of(&value, addr_out));
	}
	if (found)
		*addr_out += offset;
	xc_error_free(err);
	xc_frame_scope_fini(&scope);
	xc_arena_fini(&arena);
	return found;
}

static struct xc_error *find_expression(const struct xc_process *process, const struct xc_thread *thread, unsigned row,
					const char *text, xc_addr *addr_out)
{
	struct xc_frame_scope scope;
	struct xc_arena arena = {0};
	struct xc_value value;
	xc_types_of(process)->thorough = true; /* names are looked up anyway */
	struct xc_error *err = xc_frame_scope_open(&scope, process, thread, row);
	if (!err && !(err = xc_cexpr_value(&scope, text, &arena, &value)) && (err = address_of(&value, addr_out)))
		err = xc_error_wrap(err, "%s", text);
	xc_frame_scope_fini(&scope);
	xc_arena_fini(&arena);
	return err;
}

/* ---- nothing has this name ---- */

static void suggest_symbol(const struct xc_process *process, struct xc_suggestion *near)
{
	for (size_t i = 0; i < process->module_count; i++) {
		const struct xc_symtab *table = xc_debugfile_symbols(xc_debugfile_of(process, process->modules[i]));
		for (size_t j = 0; j < xc_symtab_count(table); j++)
			xc_suggest_consider(near, xc_symtab_mangled(table, j));
	}
}

static bool is_expression(const char *text)
{
	const char *mark = strchr(text, '!');
	text = mark ? mark + 1 : text;
	return strpbrk(text, ".*&[{@$'\"") || strstr(text, "->");
}

/* Both readings failed. The expression's error is reported for a syntax error, a type or an ambiguous name; the
 * symbol's for a plain unknown name. Takes both. */
static struct xc_error *neither(const struct xc_process *process, const char *text, struct xc_error *place,
				struct xc_error *expression)
{
	if (is_expression(text) || expression->code == XC_ERR_USAGE) {
		xc_error_free(place);
		return expression;
	}
	struct xc_suggestion near = xc_suggest(text);
	if (expression->hint)
		place = xc_error_hint(place, "%s", expression->hint);
	else if (suggest_symbol(process, &near), near.best)
		place = xc_error_hint(place, "did you mean %s?", near.best);
	xc_error_free(expression);
	return place;
}

/* An expression gives the address of a thread-local symbol: `&name` in this thread. Takes err. */
static struct xc_error *find_thread_local(const struct xc_process *process, const struct xc_thread *thread,
					  unsigned row, const char *text, struct xc_error *err, xc_addr *addr_out)
{
	xc_auto(xc_freep) char *expression = xc_asprintf("(unsigned long)&%s", text);
	struct xc_error *other = find_expression(process, thread, row, expression, addr_out);
	xc_error_free(other ? other : err);
	return other ? err : NULL;
}

/* An identifier, perhaps with an offset. */
static bool is_name(const char *text)
{
	bool begins = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';
	return begins && strcspn(text, "!:.*&[](){}<>@$'\"") == strlen(text);
}

/* Nothing that C's operators could make an expression of. */
static bool is_register(const char *text)
{
	return text[0] == '$' && !text[1 + strcspn(text + 1, "*/%&|^<>()[]{}.,!=?: \t@")];
}

struct xc_error *xc_address_parse(const struct xc_process *process, const struct xc_thread *thread, unsigned row,
				  const char *text, xc_addr *addr_out)
{
	struct xc_error *err = NULL;
	if (is_name(text) && find_local(process, thread, row, text, addr_out))
		return NULL;
	if (row == 0 || text[0] != '$') {
		err = find_place(process, thread, text, addr_out);
		if (err && err->code == XC_ERR_UNSUPPORTED)
			return find_thread_local(process, thread, row, text, err, addr_out);
		if (!err || err->code != XC_ERR_NOT_FOUND || is_register(text))
			return err;
	}
	struct xc_error *other = find_expression(process, thread, row, text, addr_out);
	if (other && err)
		other = neither(process, text, err, other);
	else
		xc_error_free(err);
	if (other && other->code == XC_ERR_USAGE)
		other->code = XC_ERR_FORMAT; /* usage help about options does not fit an error in an expression */
	return other;
}
