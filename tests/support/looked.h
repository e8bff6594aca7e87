/* looked: look-ups in the executable of a process, for tests. */
#ifndef XC_TEST_LOOKED_H
#define XC_TEST_LOOKED_H

#include <dwarf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "tests/support/scratch.h"
#include "tests/support/opened.h"

/* A program with functions, variables and types of several kinds. */
static const char cpp_source[] =
	"namespace outer { namespace { int unseen = 3; } inline namespace v1 { struct Versioned { char c[11]; }; }\n"
	"  template <typename T> struct Box { T value; struct Inner { T a, b; }; static int count; void grow(); };\n"
	"  template <typename T> int Box<T>::count = 4; template <typename T> void Box<T>::grow() { value += count; }\n"
	"  struct Shape { virtual ~Shape(); int area(); struct Corner { int x, y; Corner *twin(); }; };\n"
	"  int Shape::area() { return 5; } Shape::~Shape() {} Shape::Corner *Shape::Corner::twin() { return this; }\n"
	"  enum class Mode : char { Slow = 1, Fast }; enum Old { Bad = -1, Good };\n"
	"  constexpr int limit = 99; }\n"
	"outer::Box<unsigned long> box; outer::Box<unsigned long>::Inner inner; outer::Versioned versioned;\n"
	"outer::Shape shape; outer::Shape::Corner corner; outer::Mode mode; outer::Old old;\n"
	"int main() { box.grow(); corner.twin(); return *(volatile int *)0 + outer::unseen + shape.area() + "
	"outer::limit; }\n";

static inline struct xc_process *open_in(const char *core, const char *cache)
{
	static struct xc_finder finder; /* borrowed for the life of the process */
	struct xc_process *process;
	finder = (struct xc_finder){.quiet = true, .cache_dir = cache};
	CHECK_OK(xc_process_open_core(core, &(struct xc_open_options){.finder = &finder}, &process));
	xc_debugfiles_use(process, &finder);
	return process;
}

static inline size_t count_of(const struct xc_process *process, struct xc_query query)
{
	struct xc_definitions found = {0};
	query.kinds = query.kinds ? query.kinds : XC_NAME_ANY;
	query.module = process->modules[0];
	CHECK_OK(xc_lookup(process, &query, &found));
	size_t count = found.count;
	xc_definitions_fini(&found);
	return count;
}

/* The only definition of a name. Fails if there is none or more than one. */
static inline struct xc_definition one(const struct xc_process *process, const char *name, unsigned kinds)
{
	struct xc_definitions found = {0};
	struct xc_query query = {.name = name, .kinds = kinds, .module = process->modules[0]};
	CHECK_OK(xc_lookup(process, &query, &found));
	if (found.count != 1)
		fail_msg("%s: %zu definitions", name, found.count);
	struct xc_definition d = found.items[0];
	xc_definitions_fini(&found);
	return d;
}

static inline uint64_t size_of(const struct xc_process *process, const char *name)
{
	struct xc_definition d = one(process, name, XC_NAME_TYPE);
	uint64_t size = 0;
	assert_true(xc_type_size(xc_type_get(xc_types_of(process), &d.die), &size));
	return size;
}

/* ---- files ---- */

static inline struct stat stat_of(const char *path)
{
	struct stat st = {0};
	assert_int_equal(stat(path, &st), 0);
	return st;
}

/* Flip one bit of a file. */
static inline void flip(const char *path, off_t at)
{
	uint8_t byte;
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

#endif
