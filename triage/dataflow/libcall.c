/* libcall: see libcall.h. Only functions that access the target of a pointer before anything else. */
#include "triage/dataflow/libcall.h"

#include <string.h>

const char *xc_libcall_name(const char *name, struct xc_arena *arena)
{
	static const char *const variants[] = {"_avx",     "_sse",   "_ssse3", "_evex", "_erms",
					       "_generic", "_asimd", "_sve",   "_ia32", "_unaligned"};
	if (strncmp(name, "__", 2) != 0)
		return name;
	for (size_t i = 0; i < XC_COUNT(variants); i++) {
		const char *end = strstr(name, variants[i]);
		if (end && end > name + 2)
			return xc_arena_printf(arena, "%.*s", (int)(end - name - 2), name + 2);
	}
	return name;
}

const char *xc_libcall_plain(const char *name)
{
	static const char *const marks[] = {"GI_", "IO_", "new_", "isoc99_", "isoc23_"};
	name += strspn(name, "_");
	for (size_t i = 0; i < XC_COUNT(marks); i++)
		if (strncmp(name, marks[i], strlen(marks[i])) == 0)
			name += strlen(marks[i]) + strspn(name + strlen(marks[i]), "_");
	return name;
}

static const struct library_function {
	const char *name;
	unsigned writes, reads; /* bit per argument */
} library[] = {
	{"memcpy", 1, 2},       {"memmove", 1, 2},      {"mempcpy", 1, 2},       {"strcpy", 1, 2},
	{"strncpy", 1, 2},      {"stpcpy", 1, 2},       {"strcat", 1, 3},        {"strncat", 1, 3},
	{"memset", 1, 0},       {"bzero", 1, 0},        {"strlen", 0, 1},        {"strnlen", 0, 1},
	{"strdup", 0, 1},       {"strchr", 0, 1},       {"strrchr", 0, 1},       {"memchr", 0, 1},
	{"puts", 0, 1},         {"atoi", 0, 1},         {"strtol", 0, 1},        {"strcmp", 0, 3},
	{"strncmp", 0, 3},      {"strcasecmp", 0, 3},   {"strncasecmp", 0, 3},   {"memcmp", 0, 3},
	{"bcmp", 0, 3},         {"strstr", 0, 3},       {"strspn", 0, 3},        {"strcspn", 0, 3},
	{"strpbrk", 0, 3},      {"__memcpy_chk", 1, 2}, {"__memmove_chk", 1, 2}, {"__memset_chk", 1, 0},
	{"__strcpy_chk", 1, 2}, {"__strcat_chk", 1, 3},
};

unsigned xc_libcall_arguments(const char *name, enum xc_access access)
{
	for (size_t i = 0; name && i < XC_COUNT(library); i++)
		if (strcmp(library[i].name, name) == 0)
			return access == XC_ACCESS_WRITE ? library[i].writes : library[i].reads;
	return 0;
}

int xc_libcall_length(const char *name)
{
	static const char *const third[] = {"memcpy",       "memmove",       "mempcpy",      "memset",
					    "__memcpy_chk", "__memmove_chk", "__memset_chk", NULL};
	for (size_t i = 0; name && third[i]; i++)
		if (strcmp(third[i], name) == 0)
			return 2;
	return name && strcmp(name, "bzero") == 0 ? 1 : -1;
}

const char *xc_libcall_frees(const char *name)
{
	static const char *const names[] = {"free",         "realloc",         "cfree",
					    "reallocarray", "operator delete", "operator delete[]"};
	if (name && strncmp(name, "__libc_", 7) == 0)
		name += 7;
	for (size_t i = 0; name && i < XC_COUNT(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0 && strchr("(@", name[strlen(names[i])]))
			return names[i];
	return NULL;
}
