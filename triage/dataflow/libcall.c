/* libcall: see libcall.h. Only functions that access the target of a pointer before anything else. */
#include "triage/dataflow/libcall.h"

#include <string.h>

/* Functions that glibc defines under names of its own: "_IO_new_fopen", "__readdir64", "__libc_calloc". */
static const struct renamed {
	const char *name;
	bool fails; /* returns NULL, or MAP_FAILED, and sets errno */
} renamed[] = {
	{"calloc", true},    {"malloc", true},    {"realloc", true},   {"memalign", true},   {"aligned_alloc", true},
	{"strdup", true},    {"strndup", true},   {"fopen", true},     {"fdopen", true},     {"freopen", true},
	{"popen", true},     {"tmpfile", true},   {"fmemopen", true},  {"opendir", true},    {"fdopendir", true},
	{"mmap", true},      {"mremap", true},    {"shmat", true},     {"getcwd", true},     {"realpath", true},
	{"sem_open", true},  {"free", false},     {"fclose", false},   {"pclose", false},    {"closedir", false},
	{"fgets", false},    {"fputs", false},    {"fread", false},    {"fwrite", false},    {"fprintf", false},
	{"printf", false},   {"puts", false},     {"vfprintf", false}, {"fflush", false},    {"fseek", false},
	{"fseeko", false},   {"ftell", false},    {"ftello", false},   {"rewind", false},    {"fgetc", false},
	{"fputc", false},    {"getc", false},     {"putc", false},     {"ungetc", false},    {"getline", false},
	{"getdelim", false}, {"setvbuf", false},  {"setbuf", false},   {"fscanf", false},    {"fgetpos", false},
	{"fsetpos", false},  {"fileno", false},   {"feof", false},     {"ferror", false},    {"clearerr", false},
	{"readdir", false},  {"telldir", false},  {"seekdir", false},  {"rewinddir", false}, {"dirfd", false},
	{"munmap", false},   {"mprotect", false}, {"scanf", false},    {"sscanf", false},    {"vfscanf", false},
};

/* Only a name that is reserved to the C library has its marks. */
static const char *without_mark(const char *name)
{
	if (xc_begins_with(name, "__libc_"))
		return name + strlen("__libc_");
	return xc_begins_with(name, "__") || xc_begins_with(name, "_IO_") ? xc_libcall_plain(name) : name;
}

/* "_IO_new_fopen", "__fprintf", "__mmap64" without what glibc adds. NULL: none of these functions. */
static const struct renamed *find_renamed(const char *name)
{
	name = without_mark(name);
	for (size_t i = 0; i < XC_COUNT(renamed); i++) {
		size_t len = strlen(renamed[i].name);
		if (strncmp(name, renamed[i].name, len) == 0 && (!name[len] || strcmp(name + len, "64") == 0))
			return &renamed[i];
	}
	return NULL;
}

bool xc_libcall_fails(const char *name)
{
	const struct renamed *found = name ? find_renamed(name) : NULL;
	return found && found->fails;
}

const char *xc_libcall_name(const char *name, struct xc_arena *arena)
{
	const struct renamed *found = find_renamed(name);
	if (found)
		return found->name;
	if (xc_begins_with(without_mark(name), "pthread_") || xc_begins_with(without_mark(name), "sem_"))
		return without_mark(name);
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
	static const char *const third[] = {"memcpy",       "memmove",       "mempcpy",      "memset",  "strncpy",
					    "__memcpy_chk", "__memmove_chk", "__memset_chk", "stpncpy", NULL};
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
