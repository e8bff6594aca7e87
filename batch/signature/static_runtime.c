/* static_runtime: a program may have functions of any name, also start_thread or free. So names count only if no shared
 * C library is in the stack, and if they occur where the library's functions do. */
#include "batch/signature/static_runtime.h"

#include <string.h>

#include "core/base/text.h"
#include "triage/util/names.h"

static bool is_shared_libc(const char *module)
{
	static const char *const begins[] = {"libc.so", "libc-2", "libc.musl", "ld-musl", "libpthread", NULL};
	return xc_names_begin(begins, module) != NULL;
}

static bool has_shared_libc(const struct xc_record *record)
{
	for (size_t i = 0; i < record->frame_count; i++)
		if (is_shared_libc(record->frames[i].module))
			return true;
	return false;
}

/* The name used by glibc and by musl. */
static bool may_start_thread(const char *name)
{
	static const char *const starts[] = {"start_thread", "start", "start_c11", NULL};
	return xc_names_find(starts, name) != NULL;
}

/* Is the kernel's call for a new thread below it? */
static bool starts_thread(const struct xc_signature_frame *frames, size_t i, size_t count)
{
	static const char *const clones[] = {"clone", "clone3", "__clone", "__clone3", "__clone_internal", NULL};
	return may_start_thread(frames[i].name) && i + 1 < count && xc_names_find(clones, frames[i + 1].name);
}

static bool starts_program(const char *name)
{
	static const char *const begins[] = {"__libc_start_call_main", "__libc_start_main_impl", "__libc_start_main",
					     "generic_start_main",     "libc_start_main_stage2", NULL};
	return xc_names_find(begins, name) != NULL;
}

/* A sanitizer's interceptors have the names of the library functions that they replace. */
static bool is_sanitizers(const char *name)
{
	static const char *const begins[] = {
		"__asan::", "__sanitizer::", "__tsan::", "__msan::", "__lsan::", "__hwasan::", "__interceptor_", NULL};
	return xc_names_begin(begins, name) != NULL;
}

static const char *module_of(const struct xc_record *record, const struct xc_signature_frame *frames)
{
	bool shared = has_shared_libc(record);
	for (size_t i = record->frame_count; i-- > 0;) {
		const char *module = record->frames[i].module;
		bool starts = starts_program(frames[i].name) || starts_thread(frames, i, record->frame_count);
		if (module && !strstr(module, ".so") && ((starts && !shared) || is_sanitizers(frames[i].name)))
			return module;
	}
	return NULL;
}

/* Distributions compile theirs under a relative path: "./nptl/./nptl/pthread_create.c". */
static bool may_be_librarys(const char *file)
{
	static const char *const folders[] = {"glibc", "musl", "uclibc", "compiler-rt/", "libsanitizer/", NULL};
	return !file || *file != '/' || xc_names_in(folders, file);
}

void xc_static_runtime_find(const struct xc_record *record, const struct xc_signature_frame *frames,
			    bool *linked_in_out)
{
	const char *module = module_of(record, frames);
	for (size_t i = 0; i < record->frame_count; i++) {
		const struct xc_record_frame *f = &record->frames[i];
		bool own_start = may_start_thread(frames[i].name) && !starts_thread(frames, i, record->frame_count);
		linked_in_out[i] =
			module && f->module && !strcmp(f->module, module) && may_be_librarys(f->file) && !own_start;
	}
}
