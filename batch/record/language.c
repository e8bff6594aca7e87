#include "batch/record/language.h"

#include <dwarf.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/util/names.h"

/* DW_LANG_… constants that older headers lack. */
enum { CXX17 = 0x2a, CXX20 = 0x2b, C17 = 0x2c };

/* Headers (".h"), files without an extension, and assembly may be of several languages. */
static enum xc_language of_file(const char *file)
{
	static const struct {
		const char *tail;
		enum xc_language language;
	} tails[] = {
		{".go", XC_LANGUAGE_GO},   {".rs", XC_LANGUAGE_RUST}, {".c", XC_LANGUAGE_C},
		{".cc", XC_LANGUAGE_CXX},  {".cpp", XC_LANGUAGE_CXX}, {".cxx", XC_LANGUAGE_CXX},
		{".c++", XC_LANGUAGE_CXX}, {".C", XC_LANGUAGE_CXX},   {".hpp", XC_LANGUAGE_CXX},
		{".hh", XC_LANGUAGE_CXX},  {".hxx", XC_LANGUAGE_CXX}, {".tcc", XC_LANGUAGE_CXX},
	};
	for (size_t i = 0; file && i < XC_COUNT(tails); i++)
		if (xc_ends_with(file, tails[i].tail))
			return tails[i].language;
	return XC_LANGUAGE_UNKNOWN;
}

/* Only Rust's names begin with '<'. */
static enum xc_language of_name(const char *name)
{
	static const char *const rust[] = {"core::panicking::",
					   "std::panicking::",
					   "std::rt::",
					   "std::sys::",
					   "std::sys_common::",
					   "core::ops::function::",
					   "core::ptr::drop_in_place",
					   "alloc::raw_vec::",
					   "__rustc",
					   "__rust_",
					   "rust_begin_unwind",
					   "rust_panic",
					   "_$LT$",
					   NULL};
	if (!name)
		return XC_LANGUAGE_UNKNOWN;
	if (xc_begins_with(name, "runtime.") && !strstr(name, "::"))
		return XC_LANGUAGE_GO;
	return xc_names_begin(rust, name) || (*name == '<' && strstr(name, " as ")) ? XC_LANGUAGE_RUST
										    : XC_LANGUAGE_UNKNOWN;
}

static enum xc_language own_of(const struct xc_record_frame *frame)
{
	enum xc_language language;
	if (frame->language && xc_language_named(frame->language, strlen(frame->language), &language))
		return language;
	language = of_file(frame->file);
	return language ? language : of_name(frame->function);
}

static bool same_module(const struct xc_record_frame *a, const struct xc_record_frame *b)
{
	return a->module && b->module && !strcmp(a->module, b->module);
}

/* Go programs are linked into one module. If its Go code has debug information, all of it has; other frames are C, or a
 * sanitizer's. */
static bool in_go(const struct xc_record *record, size_t frame, const enum xc_language *own)
{
	bool named = false;
	for (size_t i = 0; i < record->frame_count; i++) {
		const struct xc_record_frame *f = &record->frames[i];
		if (own[i] != XC_LANGUAGE_GO || !same_module(&record->frames[frame], f))
			continue;
		if (f->language || f->file)
			return false;
		named = true;
	}
	return named;
}

void xc_languages(const struct xc_record *record, enum xc_language *languages_out)
{
	bool any = false;
	for (size_t i = 0; i < record->frame_count; i++) {
		languages_out[i] = own_of(&record->frames[i]);
		any = any || languages_out[i] == XC_LANGUAGE_GO;
	}
	for (size_t i = 0; any && i < record->frame_count; i++)
		if (!languages_out[i] && in_go(record, i, languages_out))
			languages_out[i] = XC_LANGUAGE_GO;
}

enum xc_language xc_language_of_dwarf(int language)
{
	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case C17:
		return XC_LANGUAGE_C;
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case CXX17:
	case CXX20:
		return XC_LANGUAGE_CXX;
	case DW_LANG_Go:
		return XC_LANGUAGE_GO;
	case DW_LANG_Rust:
		return XC_LANGUAGE_RUST;
	default:
		return XC_LANGUAGE_UNKNOWN;
	}
}

static const char *const names[] = {
	[XC_LANGUAGE_C] = "c", [XC_LANGUAGE_CXX] = "c++", [XC_LANGUAGE_GO] = "go", [XC_LANGUAGE_RUST] = "rust"};

const char *xc_language_name(enum xc_language language)
{
	return names[language];
}

bool xc_language_named(const char *name, size_t len, enum xc_language *language_out)
{
	for (size_t i = XC_LANGUAGE_C; i < XC_COUNT(names); i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
			*language_out = (enum xc_language)i;
			return true;
		}
	return false;
}
