/* layer: dwarf */
#include "../../dwarf/lookup.h"

#include <dirent.h>
#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../dwarf/index.h"
#include "../../dwarf/type.h"
#include "../support/scratch.h"
#include "opened.h"

static const char c_source[] =
	"struct node { struct node *next; long value; };\n"
	"enum colour { RED, GREEN = 7 };\n"
	"typedef struct node node_t;\n"
	"union both { int i; float f; };\n"
	"struct hidden;\n"
	"node_t head; static enum colour paint; struct hidden *secret; extern int elsewhere;\n"
	"static int helper(node_t *n) { return n->value + paint; }\n"
	"int main(void) { union both b = {1}; return *(volatile int *)0 + helper(&head) + b.i + (secret != 0); }\n";

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

static struct xc_process *open_in(const char *core, const char *cache)
{
	static struct xc_finder finder; /* borrowed for the life of the process */
	struct xc_process *process;
	finder = (struct xc_finder){.quiet = true, .cache_dir = cache};
	CHECK_OK(xc_process_open_core(core, &(struct xc_open_options){.finder = &finder}, &process));
	xc_debugfiles_use(process, &finder);
	return process;
}

static size_t count_of(const struct xc_process *process, struct xc_query query)
{
	struct xc_definitions found = {0};
	query.kinds = query.kinds ? query.kinds : XC_NAME_ANY;
	query.module = process->modules[0];
	CHECK_OK(xc_lookup(process, &query, &found));
	size_t count = found.count;
	xc_definitions_fini(&found);
	return count;
}

/* The one definition of a name; fails when there is none or another. */
static struct xc_definition one(const struct xc_process *process, const char *name, unsigned kinds)
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

static uint64_t size_of(const struct xc_process *process, const char *name)
{
	struct xc_definition d = one(process, name, XC_NAME_TYPE);
	uint64_t size = 0;
	assert_true(xc_type_size(xc_type_get(xc_types_of(process), &d.die), &size));
	return size;
}

static void names_of_c_are_found(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -x c", c_source);
	struct xc_definition node = one(p, "node", XC_NAME_TYPE);
	assert_int_equal(dwarf_tag(&node.die), DW_TAG_structure_type);
	assert_int_equal(size_of(p, "node_t"), 16);
	assert_int_equal(size_of(p, "both"), 4);
	assert_int_equal(one(p, "GREEN", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(one(p, "head", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_true(one(p, "head", XC_NAME_ANY).external);
	assert_false(one(p, "paint", XC_NAME_ANY).external);
	assert_int_equal(one(p, "helper", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(size_of(p, "long int"), 8);
	assert_int_equal(count_of(p, (struct xc_query){.name = "nothing"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "head", .kinds = XC_NAME_TYPE}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "node", .tag = DW_TAG_union_type}), 0);
	close_process(p);
}

static void declarations_are_found_when_asked_for(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -x c", c_source);
	assert_int_equal(count_of(p, (struct xc_query){.name = "hidden"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "hidden", .declarations = true}), 1);
	assert_int_equal(count_of(p, (struct xc_query){.name = "elsewhere"}), 0);
	close_process(p);
}

/* Two units make two structs of one line and size. */
static void structs_that_a_macro_makes_differ_are_two(void **state)
{
	char command[1024];
	(void)state;
	static const char header[] =
		"struct clock { int hour;\n#ifdef NEW\nlong zone;\n#else\nlong __zone;\n#endif\n};\n";
	scratch_file("two/clock.h", header, sizeof header - 1);
	snprintf(command, sizeof command,
		 "cd '%s' && printf '#include \"clock.h\"\nstruct clock a; int f(void) { return a.hour; }\n' >a.c && "
		 "printf '#define NEW\n#include \"clock.h\"\nstruct clock b; int main(void) { return *(volatile int "
		 "*)0; }\n' "
		 ">b.c && printf '#include \"clock.h\"\nstruct clock c;\n' >c.c && gcc -g a.c b.c c.c -o program",
		 scratch_path("two"));
	if (system(command) != 0)
		fail_msg("%s", command);
	struct xc_process *p = open_core(dying_core(scratch_path("two/program"), NULL));
	assert_int_equal(count_of(p, (struct xc_query){.name = "clock", .kinds = XC_NAME_TYPE}), 2);
	close_process(p);
}

static const char *macro(const struct xc_process *process, const char *name)
{
	return one(process, name, XC_NAME_MACRO).macro;
}

static void macros_that_stand_for_numbers_are_found(void **state)
{
	static const char source[] = "#define LIMIT 42\n#define SHIFTED (1 << 4)\n#define ALIAS LIMIT\n#define EMPTY\n"
				     "#define CALL(x) x\n#define CODE do { } while (0)\n#undef LIMIT\n"
				     "int main(void) { return *(volatile int *)0; }\n";
	static const char *const compilers[] = {"gcc -g3 -x c", "gcc -g3 -gdwarf-4 -x c", "gcc -g3 -gz -x c",
						"clang -g -gdwarf-5 -fdebug-macro -x c"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], source);
		assert_string_equal(macro(p, "LIMIT"), "42");
		assert_string_equal(macro(p, "SHIFTED"), "(1 << 4)");
		assert_string_equal(macro(p, "ALIAS"), "LIMIT");
		assert_int_equal(count_of(p, (struct xc_query){.name = "EMPTY", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "CALL", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "CODE", .kinds = XC_NAME_MACRO}), 0);
		assert_int_equal(count_of(p, (struct xc_query){.name = "LIMIT"}), 0);
		close_process(p);
	}
}

static void check_process(struct xc_process *p)
{
	assert_int_equal(size_of(p, "outer::Box<unsigned long>"), 8);
	assert_int_equal(size_of(p, "outer::Box<long unsigned int>::Inner"), 16);
	assert_int_equal(size_of(p, "::outer::Shape::Corner"), 8);
	assert_int_equal(size_of(p, "outer::Versioned"), 11);
	assert_int_equal(size_of(p, "outer::v1::Versioned"), 11);
	assert_int_equal(one(p, "outer::unseen", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Mode::Fast", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Fast"}), 0);
	assert_int_equal(one(p, "outer::Good", XC_NAME_ANY).kind, XC_NAME_ENUMERATOR);
	assert_int_equal(one(p, "outer::limit", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(one(p, "outer::Shape::Corner::twin", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(one(p, "outer::Box<unsigned long>::count", XC_NAME_ANY).kind, XC_NAME_VARIABLE);
	assert_int_equal(one(p, "outer::Box<unsigned long>::grow", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "Shape"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "Shape", .kinds = XC_NAME_TYPE, .anywhere = true}), 1);
	close_process(p);
}

static void check_cpp(const char *compiler)
{
	check_process(died(compiler, cpp_source));
}

/* By way of an object file that stays. */
static void check_split(const char *compiler)
{
	char command[1024];
	scratch_file("split/shape.cc", cpp_source, sizeof cpp_source - 1);
	snprintf(command, sizeof command, "cd '%s' && rm -f *.o *.dwo && %s -c shape.cc && %s -o program shape.o",
		 scratch_path("split"), compiler, compiler);
	if (system(command) != 0)
		fail_msg("%s", command);
	const char *core = dying_core(scratch_path("split/program"), NULL);
	check_process(open_in(core, scratch_path("split-cache")));
	check_process(open_in(core, scratch_path("split-cache"))); /* from the kept one */
}

static void names_of_cpp_are_found_as_gcc_writes_them(void **state)
{
	(void)state;
	check_cpp("g++ -g -x c++");
}

static void names_of_cpp_are_found_as_clang_writes_them(void **state)
{
	(void)state;
	check_cpp("clang++ -g -gdwarf-5 -x c++");
	check_cpp("clang++ -g -gsimple-template-names -x c++");
}

/* One name and place for many types: they are neither folded nor taken for one another. */
static void templates_without_their_arguments_are_told_apart(void **state)
{
	(void)state;
	struct xc_process *p =
		died("clang++ -g -gsimple-template-names -x c++",
		     "template <class T, int N> struct box { struct in { T t[N]; } i; };\n"
		     "template <char C> struct one { int x; };\n"
		     "box<int, 3> a; box<char, 5> b; box<int, 4>::in c; one<'a'> d; one<'b'> e; struct box2 {} f;\n"
		     "int main() { return *(volatile int *)0; }\n");
	assert_int_equal(size_of(p, "box<int, 3>"), 12);
	assert_int_equal(size_of(p, "box<char,5>"), 5);
	assert_int_equal(size_of(p, "box<char, 5>::in"), 5);
	assert_int_equal(size_of(p, "box<int, 4>::in"), 16);
	assert_int_equal(size_of(p, "one<'a'>"), 4);
	assert_int_equal(count_of(p, (struct xc_query){.name = "one<'c'>"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "box<int, 5>::in"}), 0);
	assert_int_equal(count_of(p, (struct xc_query){.name = "one"}), 2);
	close_process(p);
}

static void names_of_cpp_are_found_in_dwarf_4_and_type_units(void **state)
{
	(void)state;
	check_cpp("g++ -g -gdwarf-4 -x c++");
	check_cpp("g++ -g -gdwarf-4 -fdebug-types-section -x c++");
	check_cpp("g++ -g -gdwarf-5 -fdebug-types-section -x c++");
	check_cpp("g++ -g -O2 -flto -x c++");
}

static void names_of_split_units_are_found(void **state)
{
	(void)state;
	check_split("clang++ -g -gdwarf-5 -gsplit-dwarf=single");
	check_split("g++ -g -gdwarf-5 -gsplit-dwarf");
	check_split("g++ -g -gdwarf-4 -gsplit-dwarf");
	check_split("g++ -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section");
}

/* ---- the kept file ---- */

/* Where the index of the program is kept; valid until the next call. */
static const char *kept_file(const struct xc_process *process, const char *cache)
{
	static char path[512];
	char hex[2 * XC_BUILD_ID_MAX + 1];
	snprintf(path, sizeof path, "%s/index/%s", cache, xc_build_id_hex(&process->modules[0]->build_id, hex));
	return path;
}

static const char *prepared_core(void)
{
	static const char *core;
	if (!core)
		core = dying_core(dying_program("kept", "g++ -g -Wl,--build-id -x c++", cpp_source), NULL);
	return core;
}

static void check_answers(struct xc_process *p)
{
	assert_int_equal(size_of(p, "outer::Box<unsigned long>::Inner"), 16);
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "nothing"}), 0);
}

static void run_with(const char *cache)
{
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	close_process(p);
}

static struct stat stat_of(const char *path)
{
	struct stat st = {0};
	assert_int_equal(stat(path, &st), 0);
	return st;
}

static void an_index_is_kept_and_used_again(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-kept");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	struct stat first = stat_of(path);
	close_process(p);
	run_with(cache);
	assert_int_equal(stat_of(path).st_ino, first.st_ino);
}

static void flip(const char *path, off_t at)
{
	uint8_t byte;
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void every_flipped_bit_is_noticed(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-flip");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	close_process(p);
	off_t size = stat_of(path).st_size;
	for (off_t at = 0; at < size; at += at < 200 ? 3 : 131) {
		flip(path, at);
		run_with(cache);
		assert_int_equal(stat_of(path).st_size, size);
		if (at % 5 == 0)
			run_with(cache); /* what was rebuilt is whole */
	}
}

static void a_truncated_index_is_rebuilt(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-cut");
	struct xc_process *p = open_in(prepared_core(), cache);
	check_answers(p);
	const char *path = kept_file(p, cache);
	close_process(p);
	off_t size = stat_of(path).st_size;
	for (off_t cut = 0; cut < size; cut += 1777) {
		assert_int_equal(truncate(path, cut), 0);
		run_with(cache);
		assert_int_equal(stat_of(path).st_size, size);
	}
}

static void an_index_of_another_build_is_not_used(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-foreign");
	const char *other = dying_core(dying_program("other", "gcc -g -Wl,--build-id -x c", c_source), NULL);
	struct xc_process *p = open_in(other, cache);
	assert_int_equal(size_of(p, "node"), 16);
	char *foreign = xc_strdup(kept_file(p, cache));
	close_process(p);
	p = open_in(prepared_core(), cache);
	const char *path = kept_file(p, cache);
	assert_int_equal(rename(foreign, path), 0); /* a forged id */
	check_answers(p);
	close_process(p);
	free(foreign);
}

static void a_cache_that_cannot_be_written_does_no_harm(void **state)
{
	(void)state;
	const char *file = scratch_file("cache-is-a-file", "x", 1);
	run_with(file);
	run_with("/proc/xcore-cannot-be-made");
}

/* No more than 100 bytes fit: as on a full disk, a part of the file is written. */
static void a_full_disk_leaves_no_half_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-full");
	pid_t child = fork();
	if (child == 0) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
		struct xc_process *p = open_in(prepared_core(), cache);
		bool good = count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1;
		_exit(good ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	struct xc_process *p = open_in(prepared_core(), cache);
	struct stat st;
	assert_int_not_equal(stat(kept_file(p, cache), &st), 0);
	check_answers(p);
	assert_int_equal(stat(kept_file(p, cache), &st), 0);
	close_process(p);
}

/* The signal comes while the file is written. */
static void a_writer_that_dies_leaves_no_half_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-dies");
	for (rlim_t size = 1; size < 30000; size += 4999) {
		pid_t child = fork();
		if (child == 0) {
			signal(SIGXFSZ, SIG_DFL);
			setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
			setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, size});
			struct xc_process *p = open_in(prepared_core(), cache);
			_exit(count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1 ? 0 : 1);
		}
		int status;
		waitpid(child, &status, 0);
		assert_true(WIFSIGNALED(status) || status == 0);
		run_with(cache);
	}
}

/* Several at once, some of them killed on the way: whoever is left answers right. */
static void writers_that_race_and_die_leave_a_sound_index(void **state)
{
	(void)state;
	const char *cache = scratch_path("cache-race");
	enum { WRITERS = 12 };
	pid_t children[WRITERS];
	prepared_core();
	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			struct xc_process *p = open_in(prepared_core(), cache);
			_exit(count_of(p, (struct xc_query){.name = "outer::Shape::area"}) == 1 ? 0 : 1);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;
		if (i % 3 == 0) {
			usleep((useconds_t)i * 700);
			kill(children[i], SIGKILL);
		}
		waitpid(children[i], &status, 0);
		if (i % 3)
			assert_int_equal(status, 0);
	}
	run_with(cache);
}

/* ---- tables of the file ---- */

/* A table leads to the units, and what it leads to is what the whole index says. */
static void check_table(const char *program)
{
	struct xc_process *p = open_in(dying_core(program, NULL), NULL);
	struct xc_index *index = xc_index_open(p, p->modules[0]);
	assert_false(xc_index_ready(index));
	struct xc_index *part = xc_index_partial(index, "outer::Shape", "Shape", 5);
	assert_non_null(part);
	assert_true(xc_index_table_count(xc_index_table(part)) > 0);
	xc_index_close(part);
	assert_null(xc_index_partial(index, "outer::Nothing", "Nothing", 7));
	xc_index_close(index);
	assert_int_equal(size_of(p, "outer::Shape"), 8);
	assert_int_equal(size_of(p, "outer::Box<unsigned long>::Inner"), 16); /* spelled in another way there */
	assert_int_equal(one(p, "outer::Shape::area", XC_NAME_ANY).kind, XC_NAME_FUNCTION);
	assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Nothing"}), 0);
	close_process(p);
}

/* Units enough that one of them is a small part. */
static const char *program_of_units(const char *name, const char *compiler)
{
	char directory[512], command[2048];
	snprintf(directory, sizeof directory, "%s", scratch_path(name));
	mkdir(directory, 0700);
	snprintf(command, sizeof command, "%s/shape.cc", name);
	scratch_file(command, cpp_source, sizeof cpp_source - 1);
	snprintf(command, sizeof command,
		 "cd '%s' && for i in 1 2 3 4 5 6 7 8 9; do printf '#include <map>\n#include <string>\n"
		 "std::map<std::string, int> filler_%%d;\n' $i >f$i.cc && %s -c f$i.cc || exit 1; done && "
		 "%s -c shape.cc && %s *.o -o program",
		 directory, compiler, compiler, compiler);
	if (system(command) != 0)
		fail_msg("%s", command);
	snprintf(command, sizeof command, "%s/program", name);
	return scratch_path(command);
}

static void debug_names_lead_to_the_units(void **state)
{
	(void)state;
	check_table(program_of_units("with-names", "clang++ -g -gdwarf-5 -gpubnames"));
}

static void add_gdb_index(const char *program)
{
	char command[2048];
	snprintf(command, sizeof command,
		 "cd \"$(dirname '%s')\" && gdb -nx -q --batch -ex 'save gdb-index .' program >log 2>&1 && "
		 "objcopy --add-section .gdb_index=program.gdb-index --set-section-flags .gdb_index=readonly program",
		 program);
	if (system(command) != 0)
		fail_msg("%s", command);
}

static void a_gdb_index_leads_to_the_units(void **state)
{
	(void)state;
	const char *program = program_of_units("with-gdb-index", "g++ -g -gdwarf-4");
	add_gdb_index(program);
	check_table(program);
}

/* Whatever its bytes say: the names are those of .debug_info. */
static void a_damaged_gdb_index_misleads_nobody(void **state)
{
	(void)state;
	const char *program = program_of_units("bad-gdb-index", "g++ -g -gdwarf-4");
	char path[600], command[1400];
	add_gdb_index(program);
	snprintf(path, sizeof path, "%s.gdb-index", program);
	off_t size = stat_of(path).st_size;
	for (off_t at = 0; at < size; at += at < 64 ? 1 : size / 24) {
		flip(path, at);
		snprintf(command, sizeof command, "objcopy --update-section .gdb_index='%s' '%s'", path, program);
		assert_int_equal(system(command), 0);
		struct xc_process *p = open_in(dying_core(program, NULL), NULL);
		assert_int_equal(size_of(p, "outer::Shape"), 8);
		assert_int_equal(count_of(p, (struct xc_query){.name = "outer::Nothing"}), 0);
		close_process(p);
		flip(path, at);
	}
}

static bool collect(void *context, const char *name, const struct xc_definition *d)
{
	struct xc_text *text = context;
	if (d->kind == XC_NAME_TYPE && !strncmp(name, "outer::", 7))
		xc_text_printf(text, "%s\n", name);
	return true;
}

static void all_names_are_listed_in_the_order_of_the_file(void **state)
{
	(void)state;
	struct xc_process *p = died("g++ -g -x c++", cpp_source);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_lookup_each(p, p->modules[0], XC_NAME_ANY, collect, &text);
	assert_string_equal(xc_text_string(&text), "outer::v1::Versioned\nouter::Shape\nouter::Shape::Corner\n"
						   "outer::Mode\nouter::Old\nouter::Box<long unsigned int>\n"
						   "outer::Box<long unsigned int>::Inner\n");
	close_process(p);
}

static void near_names_are_offered(void **state)
{
	(void)state;
	struct xc_process *p = died("g++ -g -x c++", cpp_source);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	struct xc_query query = {.name = "outer::Shap", .kinds = XC_NAME_TYPE, .module = p->modules[0]};
	assert_true(xc_lookup_similar(p, &query, 3, &text) > 0);
	assert_non_null(strstr(text.bytes, "outer::Shape"));
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_c_are_found),
		cmocka_unit_test(declarations_are_found_when_asked_for),
		cmocka_unit_test(names_of_cpp_are_found_as_gcc_writes_them),
		cmocka_unit_test(names_of_cpp_are_found_as_clang_writes_them),
		cmocka_unit_test(templates_without_their_arguments_are_told_apart),
		cmocka_unit_test(names_of_cpp_are_found_in_dwarf_4_and_type_units),
		cmocka_unit_test(names_of_split_units_are_found),
		cmocka_unit_test(structs_that_a_macro_makes_differ_are_two),
		cmocka_unit_test(macros_that_stand_for_numbers_are_found),
		cmocka_unit_test(an_index_is_kept_and_used_again),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(a_truncated_index_is_rebuilt),
		cmocka_unit_test(an_index_of_another_build_is_not_used),
		cmocka_unit_test(a_cache_that_cannot_be_written_does_no_harm),
		cmocka_unit_test(a_full_disk_leaves_no_half_index),
		cmocka_unit_test(a_writer_that_dies_leaves_no_half_index),
		cmocka_unit_test(writers_that_race_and_die_leave_a_sound_index),
		cmocka_unit_test(debug_names_lead_to_the_units),
		cmocka_unit_test(a_gdb_index_leads_to_the_units),
		cmocka_unit_test(a_damaged_gdb_index_misleads_nobody),
		cmocka_unit_test(all_names_are_listed_in_the_order_of_the_file),
		cmocka_unit_test(near_names_are_offered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
