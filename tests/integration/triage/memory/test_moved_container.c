/* layer: triage tier: long */
/* Pointers, references and iterators into the storage that a container had before it grew, when that memory is in use
 * again: they are stale, and nothing damaged what they lead to. */
#include "tests/support/grid.h"
#include "tests/support/run_verdict.h"

static const char *const cxx[] = {"g++ -g -O0 -x c++", "g++ -g -O2 -x c++", "clang++ -g -O0 -x c++",
				  "clang++ -g -O2 -x c++"};
static const char *const c[] = {"gcc -g -O0 -x c", "gcc -g -O2 -x c", "clang -g -O0 -x c", "clang -g -O2 -x c"};

static void expect(const char *const compilers[4], const char *source, const struct wanted *want)
{
	GRID(i, 4)
		judged_expect(compilers[i], source, true, want);
}

#define CXX "#include <cstdlib>\n#include <functional>\n#include <vector>\nvolatile long sum;\n"

/* A handler that is called adds a handler, while the loop that called it goes on. */
#define HUB(reuse)                                                                                                     \
	CXX "struct Slot { long id; std::function<void(int)> fn; };\n" reuse                                           \
	    "class Hub {\n\tstd::vector<Slot> slots_;\n"                                                               \
	    "public:\n\tvoid add(std::function<void(int)> fn) { slots_.push_back({(long)slots_.size(), fn}); }\n"      \
	    "\t__attribute__((noinline)) void tell(int v) { for (auto &s : slots_) s.fn(v); }\n};\n"                   \
	    "Hub *hub; int n;\n"                                                                                       \
	    "void grow(int) { if (n++) return; hub->add([](int v) { sum += v; }); reuse(); }\n"                        \
	    "int main() { hub = new Hub; for (int i = 0; i < 4; i++) hub->add(grow); hub->tell(3); return 0; }\n"

static void a_reference_of_a_loop_over_a_vector_that_grew(void **state)
{
	(void)state;
	static const struct wanted doubles = {
		.class_name = "use-after-free",
		.kind = "call",
		.says = "`s` (Slot &) is stale: the memory that it points to has another owner now",
		.without = "damaged"};
	static const struct wanted named = {.class_name = "use-after-free",
					    .also = "`slots_` (std::vector of length 5"};
	static const struct wanted numbers = {.class_name = "use-after-free",
					      .kind = "call",
					      .says = "is stale: the memory that it points to has another owner now",
					      .also = "slots_",
					      .without = "damaged"};
	static const char prices[] =
		HUB("std::vector<double> *prices;\nvoid reuse() { prices = new std::vector<double>(20, 103.5); }\n");
	expect(cxx, prices, &doubles);
	judged_expect(cxx[0], prices, true, &named);
	judged_expect(cxx[1], prices, true, &named);
	/* whole numbers might be a pool that the object is in: the vector must be known */
	static const char counts[] = HUB("struct Stat { std::vector<unsigned long> *all; } stat;\n"
					 "void reuse() { stat.all = new std::vector<unsigned long>(20, "
					 "0x4142000000000009ul); }\n");
	judged_expect(cxx[0], counts, true, &numbers);
	judged_expect(cxx[1], counts, true, &numbers);
}

/* The element's first members were written since, so that the text begins within it. */
static void a_reference_that_is_written_before_it_is_read(void **state)
{
	(void)state;
	static const char source[] = CXX
		"#include <string>\nstruct Tenant { long spent; };\n"
		"struct Task { unsigned id; int phase; long began, ended; std::string title; Tenant *tenant; long "
		"more[6]; };\n"
		"class Runner {\n\tstd::vector<Task> tasks_;\n\tstd::vector<char> *page_ = nullptr;\npublic:\n"
		"\tvoid add(Tenant *t) { tasks_.emplace_back(); tasks_.back().tenant = t; }\n"
		"\tvoid grow(Tenant *t) { for (int i = 0; i < 9; i++) add(t);\n"
		"\t\tpage_ = new std::vector<char>(8 * sizeof(Task), 'K'); }\n"
		"\t__attribute__((noinline)) void run(size_t i, Tenant *t) { Task &task = tasks_[i]; task.phase = 1;\n"
		"\t\tgrow(t); task.began = 5; task.ended = 7; task.phase = 2; task.tenant->spent += 3; }\n};\n"
		"int main() { Runner r; Tenant t = {0}; for (int i = 0; i < 8; i++) r.add(&t); r.run(2, &t); sum = "
		"t.spent; }\n";
	static const struct wanted want = {
		.class_name = "use-after-free",
		.says = "`task` (Task &) is stale: the memory that it points to has another owner now",
		.also = "`tasks_` (std::vector of length 17"};
	judged_expect(cxx[0], source, true, &want);
}

static void an_iterator_into_a_vector_that_grew(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "use-after-free",
					   .kind = "read",
					   .says = "is stale: the memory that it points to has another owner now",
					   .also = "has its elements at 0x",
					   .without = "damaged"};
	expect(cxx,
	       CXX "struct Part { long id; const long *weight; };\nstruct Point { double x, y; };\nlong one = 1;\n"
		   "std::vector<Point> *path;\n"
		   "__attribute__((noinline)) void split(std::vector<Part> &parts) { parts.push_back({9, &one});\n"
		   " path = new std::vector<Point>(4, Point{2.5, 7.25}); }\n"
		   "__attribute__((noinline)) long weigh(std::vector<Part> &parts) { long all = 0;\n"
		   " for (auto it = parts.begin(); it != parts.end(); ++it) { all += *it->weight;\n"
		   "  if (it->id == 1) split(parts); }\n return all; }\n"
		   "int main() { std::vector<Part> parts; parts.reserve(4);\n"
		   " for (long i = 0; i < 4; i++) parts.push_back({i, &one}); sum = weigh(parts); return 0; }\n",
	       &want);
}

#define HOOKS                                                                                                          \
	"#include <stdlib.h>\n"                                                                                        \
	"struct hook { long id; void (*run)(struct hook *); const char *name; };\n"                                    \
	"struct hooks { struct hook *items; size_t n, room; };\n"                                                      \
	"struct sample { double at, value; }; struct sample *volatile samples; volatile double *filled;\n"             \
	"struct hooks all; volatile long sum;\n"                                                                       \
	"__attribute__((noinline)) void add(struct hooks *h, void (*run)(struct hook *)) {\n"                          \
	" if (h->n == h->room) { h->room = h->room ? h->room * 2 : 4;\n"                                               \
	"  h->items = realloc(h->items, h->room * sizeof *h->items); }\n"                                              \
	" h->items[h->n].id = (long)h->n; h->items[h->n].name = \"hook\"; h->items[h->n++].run = run; }\n"             \
	"void run(struct hook *h) { sum += h->id; }\n"                                                                 \
	"char *volatile wall;\n"                                                                                       \
	"void grow(struct hook *h) { sum += h->id; wall = malloc(64); add(&all, run);\n"                               \
	" samples = malloc(6 * sizeof *samples);\n"                                                                    \
	" for (int i = 0; i < 6; i++) { samples[i].at = 1.5; samples[i].value = 97.25; } }\n"

static void a_pointer_into_an_array_that_realloc_moved(void **state)
{
	(void)state;
	static const struct wanted want = {.class_name = "use-after-free",
					   .kind = "call",
					   .says = "is stale: the memory that it points to has another owner now",
					   .also = "samples",
					   .without = "damaged"};
	static const struct wanted moved = {.class_name = "use-after-free", .also = "`h->items`", .without = "damaged"};
	static const char loop[] =
		HOOKS "__attribute__((noinline)) void run_all(struct hooks *h) { struct hook *end = h->items + h->n;\n"
		      " for (struct hook *k = h->items; k < end; k++) k->run(k); sum += (long)h->n; }\n"
		      "int main(void) { add(&all, run); add(&all, grow); add(&all, run); add(&all, run);\n"
		      " wall = malloc(64); run_all(&all); return 0; }\n";
	expect(c, loop, &want);
	judged_expect("gcc -g -O0 -x c", loop, true, &moved);
}

#define NODES                                                                                                          \
	CXX "#include <string>\nstruct Node { unsigned depth, hits; std::string *url; std::vector<unsigned> edges; "   \
	    "};\n"

/* The old storage is free still. */
static void a_reference_into_storage_that_was_freed(void **state)
{
	(void)state;
	static const struct wanted grown = {.class_name = "use-after-free",
					    .says = "likely `n` was kept while a container grew or was replaced",
					    .also = "`nodes_` (std::vector of length "};
	static const char source[] = NODES
		"struct Frontier { std::vector<Node> nodes_;\n"
		"__attribute__((noinline)) unsigned add(const std::string &url, unsigned depth) { "
		"nodes_.push_back(Node{depth, 0, new std::string(url), {}}); return nodes_.size() - 1; }\n"
		"__attribute__((noinline)) void expand(unsigned i) { Node &n = nodes_[i]; for (int k = 0; k < 9; "
		"k++) { n.edges.push_back(add(*n.url + \"/\", n.depth + 1)); n.hits++; } } };\n"
		"int main() { Frontier f; f.add(\"http://example.org/a/long/path\", 0); f.expand(0); return 0; }\n";
	judged_expect(cxx[0], source, true, &grown);
	judged_expect(cxx[1], source, true, &grown);
}

/* A node that was freed alone; such nodes are in a vector, too. */
static void an_object_that_was_freed_alone_is_of_no_container(void **state)
{
	(void)state;
	static const struct wanted alone = {.class_name = "use-after-free", .without = "a container grew"};
	static const char source[] =
		NODES "struct Tree { std::vector<Node> nodes_; Node *extra;\n"
		      "__attribute__((noinline)) long weigh(Node *n) { return n->url->size() + nodes_.size(); } };\n"
		      "int main() { Tree t; t.nodes_.resize(3); t.extra = new Node{1, 2, new std::string(\"x\"), {}};\n"
		      "Node *volatile n = t.extra; delete n; sum = t.weigh(t.extra); return 0; }\n";
	expect(cxx, source, &alone);
}

/* The pointer is in the present storage: it was damaged, and no reference is stale. */
static void a_pointer_in_the_present_storage_is_not_stale(void **state)
{
	(void)state;
	static const struct wanted damaged = {
		.class_name = "pc-control", .kind = "call", .says = "its bytes are the double 2.5", .without = "stale"};
	expect(c,
	       HOOKS "__attribute__((noinline)) void run_all(struct hooks *h) {\n"
		     " for (struct hook *k = h->items; k < h->items + h->n; k++) k->run(k); sum += (long)h->n; }\n"
		     "int main(void) { add(&all, run); add(&all, run); double d = 2.5;\n"
		     " __builtin_memcpy(&all.items[1].run, &d, sizeof d); run_all(&all); return 0; }\n",
	       &damaged);
	/* words of a pool are no other owner */
	expect(c,
	       HOOKS
	       "unsigned long *pool;\n"
	       "__attribute__((noinline)) void run_one(struct hook *k) { k->run(k); sum++; }\n"
	       "int main(void) { pool = calloc(64, sizeof *pool); struct hook *k = (struct hook *)(void *)(pool + "
	       "8);\n"
	       " k->run = run; __asm__ volatile(\"\" : \"+r\"(k) : : \"memory\"); run_one(k); double d = 2.5;\n"
	       " __builtin_memcpy(&k->run, &d, sizeof d); run_one(k); return 0; }\n",
	       &damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reference_of_a_loop_over_a_vector_that_grew),
		cmocka_unit_test(a_reference_that_is_written_before_it_is_read),
		cmocka_unit_test(an_iterator_into_a_vector_that_grew),
		cmocka_unit_test(a_pointer_into_an_array_that_realloc_moved),
		cmocka_unit_test(a_reference_into_storage_that_was_freed),
		cmocka_unit_test(an_object_that_was_freed_alone_is_of_no_container),
		cmocka_unit_test(a_pointer_in_the_present_storage_is_not_stale),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
