/* layer: triage tier: long */
/* The argument of free() when glibc found the heap damaged; the truth is in the source. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\nstruct order { long id; char name[40]; }; volatile int sink;\n"     \
	"__attribute__((noinline)) void drop(char *it) { free(it); sink = 1; }\n"
static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void expect_all(const char *source, const struct wanted *want)
{
	GRID(i, XC_COUNT(compilers))
		judged_expect(compilers[i], source, true, want);
}

static void a_block_that_was_freed_twice_is_told_as_free(void **state)
{
	(void)state;
	expect_all(HEAD "int main(void) { char *volatile a = malloc(40); drop(a); drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "double free",
				    .function = "drop",
				    .says = "which is free already: free block (heap, tcache, 40 bytes)",
				    .without = "overwritten"});
}

/* Both still have it, and each would free it. */
static void the_owners_of_a_block_that_was_freed_twice_are_told(void **state)
{
	(void)state;
#define OWNERS                                                                                                         \
	HEAD "struct cache { int count; struct order *entries[3]; } *cache; struct scene { double shine; struct "      \
	     "order "                                                                                                  \
	     "*skin; } *scene;\nint main(void) { cache = malloc(sizeof *cache); scene = malloc(sizeof *scene); "       \
	     "scene->shine = 1; cache->count = 1; cache->entries[0] = scene->skin = malloc(sizeof(struct order));\n"
	static const char two[] = OWNERS "drop((char *)scene->skin); drop((char *)cache->entries[0]); return sink; }\n";
	static const char none[] =
		OWNERS "char *volatile it = (char *)scene->skin; scene->skin = 0; cache->entries[0] = "
		       "0; drop(it); drop(it); return sink; }\n";
	expect_all(two, &(struct wanted){.class_name = "heap-corruption",
					 .kind = "double free",
					 .says = "that block is still pointed to by struct scene (heap, live, 24 "
						 "bytes) .skin",
					 .also = "that block is still pointed to by struct cache (heap, live, 40 "
						 "bytes) .entries[0]"});
	expect_all(none, &(struct wanted){.class_name = "heap-corruption",
					  .kind = "double free",
					  .without = "that block is still pointed to"});
}

static void a_pointer_that_is_no_block_is_told_as_what_it_is(void **state)
{
	(void)state;
	expect_all(
		HEAD
		"int main(void) { char local[64]; memset(local, 0, 64); drop(local + 16); return sink + local[3]; }\n",
		&(struct wanted){.class_name = "heap-corruption",
				 .kind = "bad pointer",
				 .function = "drop",
				 .says = "which is: stack of thread"});
	expect_all(HEAD "int main(void) { char *volatile a = calloc(1, 40); drop(a + 16); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "bad pointer",
				    .function = "drop",
				    .says = "40 bytes) +0x10"});
}

/* The bytes before it say that it is of another arena: free() itself reads where the arena would begin, at 0 of a
 * program that is not moved. */
static void a_pointer_that_is_no_block_is_told_where_free_itself_dies(void **state)
{
	(void)state;
#define OPTION(name, storage)                                                                                          \
	HEAD "struct option { long before, size; char value[32]; }; struct entry { const char *key; char *value; } "   \
	     "*entries;\n"                                                                                             \
	     "int main(void) { " storage " struct option level __attribute__((aligned(16))) = {0, 0x25, \"info\"}; "   \
	     "entries = calloc(2, sizeof *entries); entries[1].value = (char *)level.value; drop(entries[1].value); "  \
	     "return sink; }\n"
	static const char *const fixed[] = {"gcc -no-pie -g -O0 -x c", "gcc -no-pie -g -O2 -x c",
					    "clang -no-pie -g -O2 -x c"};
	GRID(i, XC_COUNT(fixed)) {
		judged_expect(fixed[i], OPTION(level, "static const"), true,
			      &(struct wanted){.class_name = "heap-corruption",
					       .kind = "bad pointer",
					       .function = "drop",
					       .says = "program, constants)",
					       .also = "it is stored at 0x"});
		judged_expect(fixed[i], OPTION(level, "static"), true,
			      &(struct wanted){.class_name = "heap-corruption",
					       .kind = "bad pointer",
					       .function = "drop",
					       .says = "program, data)"});
	}
}

/* Copies that the compiler makes share the block that the destructor frees. */
static void a_class_without_a_copy_constructor_is_told(void **state)
{
	(void)state;
#define SNAPSHOT(more)                                                                                                 \
	"#include <cstring>\n#include <vector>\nstruct snapshot { char *text; snapshot(const char *from) : text(new "  \
	"char[60]) { strcpy(text, from); } ~snapshot() { delete[] text; } " more " };\n"
#define TWICE "int main() { snapshot one(\"a\"); snapshot *two = new snapshot(one); delete two; return 0; }\n"
	static const char told[] = "snapshot has a destructor, and no copy constructor of its own";
	static const char again[] =
		SNAPSHOT("snapshot(const snapshot &o) : snapshot(o.text) {}") "int main() { snapshot one(\"a\"); "
									      "snapshot *two = new snapshot(one); "
									      "delete[] two->text; delete two; "
									      "return 0; }\n";
	static const char *const cxx[] = {"g++ -g -O0 -x c++", "clang++ -g -O0 -x c++"};
	GRID(i, XC_COUNT(cxx)) {
		judged_expect(cxx[i], SNAPSHOT("") TWICE, true,
			      &(struct wanted){.class_name = "heap-corruption", .kind = "double free", .says = told});
		judged_expect(cxx[i], again, true,
			      &(struct wanted){.class_name = "heap-corruption",
					       .kind = "double free",
					       .without = "copy constructor"});
	}
}

/* glibc prints "double free or corruption" for both. */
static void an_overrun_is_no_double_free(void **state)
{
	(void)state;
	expect_all(HEAD
		   "char *volatile b; int main(void) { char *volatile a = malloc(2008); b = malloc(2008); malloc(40);\n"
		   " ((volatile size_t *)(a + 2008))[0] = 0x7e0; drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption", .kind = "overrun", .function = "drop"});
	expect_all(HEAD "char *volatile b; int main(void) { char *volatile a = malloc(2008); b = malloc(40); drop(a); "
			"drop(a); return sink; }\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "double free",
				    .function = "drop",
				    .says = "which is free already"});
}

/* glibc prints "munmap_chunk(): invalid pointer" if the bytes written over the header have the bit of a mapped chunk,
 * and "free(): invalid pointer" if the size is so large that the block would end past all memory. */
static void a_block_whose_header_was_overwritten_is_no_bad_pointer(void **state)
{
	static const char *const writes[] = {"for (int i = 0; i < 32; i++) ((volatile char *)a)[i] = 'B';",
					     "((volatile size_t *)a)[3] = ~(size_t)15;"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(writes); i++) {
		xc_auto(xc_freep) char *source = xc_asprintf(
			HEAD "char *volatile b; int main(void) { char *volatile a = malloc(24); b = malloc(24); "
			     "malloc(40);\n %s drop(b); return sink; }\n",
			writes[i]);
		expect_all(source, &(struct wanted){.class_name = "heap-corruption",
						    .kind = "overrun",
						    .function = "drop",
						    .says = "was likely written past its end"});
	}
}

/* The chunk that free() stopped at, among several that are damaged, though optimized code has lost the argument. */
static void the_chunk_that_free_stopped_at_is_told(void **state)
{
	(void)state;
	static const char rows[] =
		HEAD "struct row { double *cells; size_t n, cap; char *name; }; struct row rows[4];\n"
		     "__attribute__((noinline)) void add(struct row *r, double v) { if (r->n > r->cap) abort();\n"
		     " r->cells[r->n++] = v; }\n"
		     "__attribute__((noinline)) void end(struct row *r) { free(r->name); free(r->cells); sink = 1; }\n"
		     "int main(void) { for (int i = 0; i < 4; i++) { rows[i].cap = 13;\n"
		     " rows[i].cells = malloc(13 * sizeof(double)); rows[i].name = strdup(\"a name of it\"); }\n"
		     " for (int i = 0; i < 4; i++) for (int k = 0; k < 14; k++) add(&rows[i], 99.5 + k);\n"
		     " end(&rows[2]); return sink; }\n";
	expect_all(rows, &(struct wanted){.class_name = "heap-corruption",
					  .kind = "overrun",
					  .says = "the header of that block is damaged",
					  .also = "its size was overwritten with 0x405c200000000000"});
	expect_all(HEAD
		   "char *volatile b; int main(void) { char *volatile a = malloc(2008); b = malloc(2008);\n"
		   " malloc(40); for (int i = 0; i < 2048; i++) ((volatile char *)a)[i] = 'A'; drop(a); return sink; "
		   "}\n",
		   &(struct wanted){.class_name = "heap-corruption",
				    .kind = "overrun",
				    .says = "free() was given",
				    .also = "the header of the block after it is damaged"});
}

/* The object is destroyed twice; its part is what free() complains of. */
static void an_object_that_was_freed_itself_is_told(void **state)
{
	(void)state;
	static const char *const cxx[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++"};
	static const char shared[] =
		"#include <memory>\n#include <string>\n#include <vector>\n"
		"struct Image { std::string path; std::vector<int> dots; Image() : path(\"a\"), dots(1000) {}\n"
		" __attribute__((noinline)) ~Image(); };\nvolatile int sink;\nImage::~Image() { sink = 1; }\n"
		"struct Skin { std::shared_ptr<Image> image; }; Skin *one, *other; void *volatile wall;\n"
		"int main() { one = new Skin; other = new Skin; Image *i = new Image; one->image.reset(i);\n"
		" other->image.reset(i); wall = malloc(40); delete one; delete other; return sink; }\n";
	static const char held[] = HEAD
		"struct box { long id; long kind; char *text; } *volatile first, *volatile second;\n"
		"__attribute__((noinline)) void box_free(struct box *b) { free(b->text); sink = 2; free(b); }\n"
		"int main(void) { struct box *b = calloc(1, sizeof *b); b->text = malloc(4000); first = second = b;\n"
		" void *volatile wall = malloc(40); (void)wall; box_free(first); box_free(second); return sink; }\n";
	static const char whole[] = HEAD
		"struct box { long id; long kind; char *text; } *volatile first, *volatile second;\n"
		"__attribute__((noinline)) void box_free(struct box *b, char *t) { sink = (int)b->id; free(t); sink = "
		"2; }\n"
		"int main(void) { struct box *b = calloc(1, sizeof *b); b->text = malloc(4000); first = second = b;\n"
		" void *volatile wall = malloc(40); (void)wall; box_free(b, b->text); box_free(b, b->text);\n"
		" return sink; }\n";
	for (size_t i = 0; i < XC_COUNT(cxx); i++)
		judged_expect(cxx[i], shared, true,
			      &(struct wanted){.class_name = "heap-corruption",
					       .kind = "double free",
					       .says = "the destructor runs on an object that had been freed",
					       .also = "that freed object is still pointed to by"});
	judged_expect(compilers[0], held, true,
		      &(struct wanted){.class_name = "heap-corruption",
				       .kind = "double free",
				       .says = "`b` of box_free() points to an object that had been freed itself",
				       .also = "that freed object is still pointed to by first"});
	expect_all(whole, &(struct wanted){.class_name = "heap-corruption",
					   .kind = "double free",
					   .without = "had been freed itself"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_that_was_freed_twice_is_told_as_free),
		cmocka_unit_test(the_owners_of_a_block_that_was_freed_twice_are_told),
		cmocka_unit_test(a_pointer_that_is_no_block_is_told_as_what_it_is),
		cmocka_unit_test(a_pointer_that_is_no_block_is_told_where_free_itself_dies),
		cmocka_unit_test(a_class_without_a_copy_constructor_is_told),
		cmocka_unit_test(an_overrun_is_no_double_free),
		cmocka_unit_test(a_block_whose_header_was_overwritten_is_no_bad_pointer),
		cmocka_unit_test(the_chunk_that_free_stopped_at_is_told),
		cmocka_unit_test(an_object_that_was_freed_itself_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
