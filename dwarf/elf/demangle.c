/* demangle: libiberty with a bounded output.
 *
 * Mangled names are untrusted: substitutions let a kilobyte of them stand for gigabytes of text, and libiberty's
 * callback cannot stop it. So the callback leaves by longjmp. In the C++ demangler that leaks nothing, since it keeps
 * its parts on the stack when it prints through a callback (libiberty/cp-demangle.c, CP_DYNAMIC_ARRAYS); in the Rust
 * demangler at most the decoded punycode of one identifier.
 *
 * libiberty refuses names longer than DEMANGLE_RECURSION_LIMIT / 2 bytes, since they might overflow its stack; but
 * C++ templates often make such names. Those are demangled without that limit, on a thread with a stack large enough
 * for the longest one. */
#include "dwarf/elf/demangle.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

enum {
	MAX_NAME = 16 << 10,
	MAX_OUTPUT = 1 << 20,
	MAX_USUAL = DEMANGLE_RECURSION_LIMIT / 2,
	LONG_STACK = 64 << 20, /* 4 KiB per byte of name; only what is touched costs memory */
	OTHERS = 8 << 20,      /* of the callers' frames */
};

static bool stack_is_long;

struct sink {
	const char *name;
	int options;
	bool done;
	struct xc_text text;
	jmp_buf enough;
};

static void collect(const char *bytes, size_t len, void *opaque)
{
	struct sink *sink = opaque;
	if (len > MAX_OUTPUT - sink->text.len)
		longjmp(sink->enough, 1);
	xc_text_addn(&sink->text, bytes, len);
}

/* Rust's legacy names are also valid C++ names, so Rust is tried first. Its limit always applies: a back reference of
 * the v0 scheme may refer to itself. */
static void *demangle(void *argument)
{
	struct sink *sink = argument;
	if (setjmp(sink->enough))
		return NULL;
	if (!rust_demangle_callback(sink->name, sink->options & ~DMGL_NO_RECURSE_LIMIT, collect, sink)) {
		sink->text.len = 0;
		if (!cplus_demangle_v3_callback(sink->name, sink->options, collect, sink))
			return NULL;
	}
	sink->done = sink->text.len > 0;
	return NULL;
}

static void demangle_long(struct sink *sink)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sink->options |= DMGL_NO_RECURSE_LIMIT;
	if (stack_is_long) {
		demangle(sink);
		return;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, LONG_STACK);
	if (pthread_create(&thread, &attributes, demangle, sink) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

void xc_demangle_here(uint64_t stack)
{
	stack_is_long = stack >= LONG_STACK + OTHERS;
}

static bool looks_mangled(const char *name)
{
	/* _R is Rust's v0; _GLOBAL_ begins names of constructors of static objects */
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || !strncmp(name, "_GLOBAL_", 8));
}

char *xc_demangle(const char *name, bool params)
{
	size_t len = looks_mangled(name) ? strnlen(name, MAX_NAME + 1) : SIZE_MAX;
	if (len > MAX_NAME)
		return NULL;
	struct sink *sink = xc_alloc(sizeof *sink); /* on the heap: unlike a local variable, valid after longjmp */
	sink->name = name;
	sink->options = DMGL_GNU_V3 | DMGL_RUST | DMGL_ANSI | (params ? DMGL_PARAMS : 0);
	if (len < MAX_USUAL)
		demangle(sink);
	else
		demangle_long(sink);
	char *result = sink->done ? xc_text_take(&sink->text) : NULL;
	xc_text_fini(&sink->text);
	free(sink);
	return result;
}

/* "17h0123456789abcdefE" at the end, or before a suffix that the optimizer added (".llvm.123"); rustc 1.95,
 * symbol_mangling/legacy.rs. */
static bool ends_in_hash(const char *name)
{
	enum { HEAD = 3, DIGITS = 16 };
	for (const char *at = strstr(name, "17h"); at; at = strstr(at + 1, "17h")) {
		const char *digits = at + HEAD;
		if (strspn(digits, "0123456789abcdef") == DIGITS && digits[DIGITS] == 'E' &&
		    (digits[DIGITS + 1] == '\0' || digits[DIGITS + 1] == '.'))
			return true;
	}
	return false;
}

/* Names of the v0 scheme begin with a version or one of the letters of a path (Rust RFC 2603). */
bool xc_demangle_is_rust(const char *name)
{
	if (name[0] != '_')
		return false;
	return name[1] == 'R' ? name[2] && strchr("CMXYNIB0123456789", name[2])
			      : !strncmp(name, "_ZN", 3) && ends_in_hash(name);
}
