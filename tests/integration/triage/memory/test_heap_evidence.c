/* layer: triage tier: long */
/* The heap's contribution to the verdict, on programs that crash from it. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "triage/cause.h"
#include "heap/session/session.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n"                                                                   \
	"struct node { struct node *next; long id; char name[24]; }; struct node *volatile head; volatile long sum;\n"

static bool has_evidence_of(const char *compiler, const char *source, const char *part)
{
	struct xc_process *process = died(compiler, source);
	struct xc_report *report = xc_report_new("analyze");
	bool found = false;
	xc_cause(report, process, xc_heap_of(process, NULL));
	assert_non_null(report->verdict);
	for (size_t i = 0; i < report->verdict->evidence_count; i++)
		found |= strstr(report->verdict->evidence[i], part) != NULL;
	for (size_t i = 0; i < report->verdict->evidence_count && !found; i++)
		print_message("evidence: %s\n", report->verdict->evidence[i]);
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
	return found;
}

static bool has_evidence(const char *source, const char *part)
{
	return has_evidence_of("gcc -g -O1 -x c", source, part);
}

static void a_pointer_that_is_text_says_which(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { head = calloc(1, sizeof *head); memcpy((char *)head, \"hello me\", 8);\n"
		     " sum = head->next->id; return 0; }\n",
		"\"hello me\""));
}

static void a_register_into_freed_memory_is_named(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b); head = a; "
		     "a->next = b;\n"
		     " free(b); free(a); struct node *n = head; struct node *bad = n->next; sum = bad->id + n->id;\n"
		     " return (int)n->id; }\n",
		"is stored in freed memory"));
}

static void the_block_that_was_written_past_its_end_is_named_with_its_type(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); head = a;\n"
		     " a->next = 0; free(malloc(3000)); memset(a->name, 'x', 60); free(b); free(malloc(2000));\n"
		     " abort(); }\n",
		"was likely written past its end: struct node"));
	assert_true(has_evidence(
		HEAD "int main(int argc, char **argv) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); "
		     "head = a;\n"
		     " a->next = 0; free(malloc(3000)); strcpy(a->name, argc ? \"a name that is longer than its node\" "
		     ": *argv);\n"
		     " free(b); free(malloc(2000)); abort(); }\n",
		"the text \"a name that is longer than its node\", 35 bytes and a NUL, begins in that block at"));
}

/* Bytes of a picture, of which some are letters; a text of other letters than ASCII's is one all the same. */
#define SAMPLES(name, after)                                                                                           \
	HEAD "struct sample { double value; long when, seq; }; char *volatile next; struct sample *volatile slots;\n"  \
	     "__attribute__((noinline)) void push(int at) { struct sample *" name " = &slots[at]; " name               \
	     "->value = 1.5; " name "->when = 7; " name "->seq = 9; " after " sum += " name "->seq; }\n"               \
	     "int main(void) { slots = malloc(9 * sizeof *slots); next = malloc(40); push(9); return 0; }\n"

/* Its owner may be gone, and with it the type of the block. */
static void the_element_behind_the_last_is_told(void **state)
{
	(void)state;
	static const char told[] = "points right behind the last of the 9 elements that have room in that block";
	assert_true(has_evidence_of("gcc -g -O0 -w -x c", SAMPLES("s", "abort();"), told));
	assert_true(has_evidence_of("gcc -g -O0 -w -x c",
				    SAMPLES("s", "slots = 0; *(volatile char *)0x1234567890 = 1;"), told));
	/* a pointer to the end is meant to be there */
	assert_false(has_evidence_of("gcc -g -O0 -w -x c", SAMPLES("end", "abort();"), told));
	/* in the array */
	assert_false(has_evidence_of("gcc -g -O0 -w -x c", SAMPLES("s", "s -= 2; abort();"), told));
}

static void bytes_that_ran_over_are_called_text_only_when_they_are(void **state)
{
	(void)state;
	assert_false(has_evidence(
		HEAD
		"int main(void) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); unsigned char c = 93;\n"
		" head = a; a->next = 0; for (char *p = a->name; p < a->name + 60; p++) *p = c = c * 5 + 131 | 128;\n"
		" free(b); free(malloc(2000)); abort(); }\n",
		"the text \""));
	assert_true(has_evidence(
		HEAD "int main(int argc, char **argv) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); "
		     "head = a;\n"
		     " a->next = 0; strcpy(a->name, argc ? \"grüße, die länger als der Knoten sind\" : *argv);\n"
		     " free(b); free(malloc(2000)); abort(); }\n",
		"the text \"grüße, die länger als der Knoten sind\""));
}

/* The memory before the first block belongs to the C library, which is not accused. */
static void the_books_of_the_library_are_not_said_to_run_over(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { char *a = malloc(2000); head = (struct node *)a;\n"
		     " ((volatile long *)a)[-1] = 0x10; free(a); abort(); }\n",
		"the code that wrote past its end, or before the beginning of a later block, is not known"));
}

/* A write from elsewhere ends in the block at b; the block before it, at a, did not do it. */
#define BEFORE(kind, before_write)                                                                                     \
	HEAD "struct gate { struct gate *next; long id, at; } *volatile gate; int main(void) { " kind                  \
	     " *a = malloc(sizeof *a), *volatile b = malloc(40); head = (struct node *)b;\n " before_write             \
	     " ((volatile long *)b)[-1] = 0x123456789; abort(); }\n"

static void a_block_that_was_not_written_past_its_end_is_not_accused(void **state)
{
	static const char unknown[] =
		"the code that wrote past its end, or before the beginning of a later block, is not known",
			  likely[] = "was likely written past its end";
	static const char gate[] = BEFORE("struct gate", "gate = a; a->next = 0; a->id = 3; a->at = 4;");
	static const char freed[] = BEFORE("struct node", "gate = (struct gate *)a; free(gate);");
	(void)state;
	assert_true(has_evidence(gate, unknown));
	assert_true(has_evidence(gate, "has no array at its end"));
	assert_false(has_evidence(gate, likely));
	assert_true(has_evidence(freed, unknown));
	assert_true(has_evidence(freed, "is free"));
	assert_false(has_evidence(freed, likely));
	/* one that has an array there is the likely one, no more */
	assert_true(has_evidence(BEFORE("struct node", "static struct node *volatile kept; kept = a; a->next = 0;"),
				 "; a write before the beginning of a block after it is possible, too"));
	/* its own bytes go on behind it, though it was freed later */
	assert_true(has_evidence(HEAD
				 "int main(void) { char *a = malloc(56), *volatile b = malloc(40); head = (void *)b;\n"
				 "  for (int i = 0; i < 70; i++) ((volatile char *)a)[i] = 'x'; free(a); abort(); }\n",
				 likely));
}

/* All from the first block on is zero: what blocks there were is not known. */
static void memory_whose_blocks_are_lost_is_no_block(void **state)
{
	static const char lost[] =
		HEAD "int main(void) { char *volatile a = malloc(72), *volatile b = malloc(3000); head = (void *)b;\n"
		     " for (int i = 0; i < 3900; i++) ((volatile char *)a)[i] = 0;\n"
		     " for (volatile char *p = b;; p++) sum += *p; }\n";
	(void)state;
	assert_true(has_evidence(lost, "on are not known: the header there is damaged"));
	assert_false(has_evidence(lost, "(heap, unknown"));
}

/* Signal handlers that allocate while malloc holds its lock; another thread ends that. */
#define STUCK(body)                                                                                                    \
	"#include <pthread.h>\n#include <signal.h>\n#include <fcntl.h>\n#include <unistd.h>\n" HEAD                    \
	"void *volatile sink; volatile int handles;\n"                                                                 \
	"static void on(int n) { handles = 1; sink = malloc(5000 + n); }\n"                                            \
	"static int sleeps(void) { static char text[4096], *last; int fd = open(\"/proc/self/stat\", O_RDONLY);\n"     \
	" long n = read(fd, text, sizeof text - 1); close(fd); text[n > 0 ? n : 0] = 0;\n"                             \
	" return (last = strrchr(text, ')')) && last[2] == 'S'; }\n"                                                   \
	"static void *end(void *x) { while (!handles || !sleeps()) usleep(1000); kill(getpid(), SIGQUIT);\n"           \
	" return x; }\n"                                                                                               \
	"int main(void) { pthread_t t; signal(SIGABRT, on); signal(SIGSEGV, on); pthread_create(&t, 0, end, 0);\n"     \
	" long *volatile block = malloc(2000); sink = malloc(2000); " body " sink = malloc(100000); return 0; }\n"

/* malloc was in the middle of an operation: its apparent damage proves nothing. */
static void damage_that_malloc_was_interrupted_at_is_not_known(void **state)
{
	(void)state;
	assert_true(has_evidence(STUCK("free(block); block[1] = 0x123456789000; memset(sink, 'x', 2040);"),
				 "missing: whether the heap is damaged: it looks damaged at 0x"));
}

static void damage_that_malloc_complained_of_is_told(void **state)
{
	(void)state;
	assert_true(has_evidence(STUCK("memset(sink, 'x', 2040);"), "was likely written past its end"));
}

/* The verdict on a program with the heap's contribution; before_out gets the one without it. The caller frees both. */
static struct xc_report *judged(const char *source, struct xc_report **before_out)
{
	struct xc_process *process = died("gcc -g -O1 -x c", source);
	struct xc_report *report = xc_report_new("analyze");
	*before_out = xc_report_new("analyze");
	xc_cause(*before_out, process, NULL);
	xc_cause(report, process, xc_heap_of(process, NULL));
	xc_heap_forget(process);
	close_process(process);
	return report;
}

static void free_both(struct xc_report *report, struct xc_report *before)
{
	xc_report_free(report);
	xc_report_free(before);
}

static void an_abort_in_a_damaged_heap_is_severe(void **state)
{
	(void)state;
	struct xc_report *before;
	struct xc_report *report =
		judged(HEAD "int main(void) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); head = a;\n"
			    " a->next = b; memset(a->name, 'x', 60); abort(); }\n",
		       &before);
	assert_string_equal(before->verdict->severity, "low");
	assert_string_equal(report->verdict->class_name, "abort");
	assert_string_equal(report->verdict->severity, "high");
	assert_non_null(strstr(report->verdict->cause, "the header of a heap block was overwritten"));
	free_both(report, before);
	report = judged(HEAD "int main(void) { head = malloc(sizeof *head); abort(); }\n", &before);
	assert_string_equal(report->verdict->severity, "low");
	free_both(report, before);
}

/* A variable of the program hides libc's, as if those words were not dumped. */
static void an_abort_of_the_allocator_without_its_words_is_known_by_the_damage(void **state)
{
	(void)state;
	struct xc_report *before;
	struct xc_report *report = judged(
		HEAD "char *__abort_msg; int main(void) { struct node *a = malloc(sizeof *a), *b = "
		     "malloc(sizeof *b); head = a;\n"
		     " free(malloc(3000)); sum = (long)b; memset(a->name, 'x', 30); free((void *)sum); return 0; }\n",
		&before);
	assert_string_equal(before->verdict->severity, "low");
	assert_string_equal(report->verdict->class_name, "heap-corruption");
	assert_string_equal(report->verdict->kind, "overrun");
	assert_string_equal(report->verdict->severity, "high");
	assert_string_equal(report->verdict->confidence, "likely");
	free_both(report, before);
}

static void a_healthy_heap_adds_nothing(void **state)
{
	(void)state;
	struct xc_report *before,
		*report = judged(HEAD "int main(void) { head = malloc(40); return *(volatile int *)8; }\n", &before);
	assert_int_equal(report->verdict->evidence_count, before->verdict->evidence_count);
	free_both(report, before);
}

/* What was cast wrongly has the type of the variable by that alone. */
#define CAST(place, read)                                                                                              \
	"#include <stdlib.h>\nstruct typed { const char *text; long at; }; struct drop { int x, y; const char *path; " \
	"};\n"                                                                                                         \
	"struct event { int kind; void *payload; }; struct typed *kept; volatile long sum;\n"                          \
	"__attribute__((noinline)) void handle(void *p) { struct typed *t = p; " read " sum += t->at; }\n"             \
	"__attribute__((noinline)) void *made(void) { struct drop *d = malloc(sizeof *d); d->x = 312; d->y = 208;\n"   \
	" d->path = \"a\"; return d; }\n"                                                                              \
	"int main(void) { struct event *e = malloc(sizeof *e); e->payload = made(); " place "\n"                       \
	" handle(e->payload); return e->kind; }\n"

static void a_type_by_the_suspect_pointer_alone_is_labelled(void **state)
{
	(void)state;
	static const char label[] =
		"struct typed (heap, live, 24 bytes) .text, whose type only local t of handle tells";
	assert_true(has_evidence_of("gcc -g -O0 -x c", CAST("", "sum = *t->text;"), label));
	assert_true(has_evidence_of("gcc -g -O1 -x c", CAST("", "sum = t->text[1];"), "only local t of handle tells"));
	assert_true(has_evidence_of("clang -g -O0 -x c", CAST("", "sum = t->text[3];"), label));
	/* a global says so, too */
	assert_true(
		has_evidence_of("gcc -g -O0 -x c", CAST("kept = e->payload;", "sum = *t->text;"), "it was read at 0x"));
	assert_false(has_evidence_of("gcc -g -O0 -x c", CAST("kept = e->payload;", "sum = *t->text;"), "only local"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pointer_that_is_text_says_which),
		cmocka_unit_test(a_register_into_freed_memory_is_named),
		cmocka_unit_test(the_block_that_was_written_past_its_end_is_named_with_its_type),
		cmocka_unit_test(the_element_behind_the_last_is_told),
		cmocka_unit_test(bytes_that_ran_over_are_called_text_only_when_they_are),
		cmocka_unit_test(the_books_of_the_library_are_not_said_to_run_over),
		cmocka_unit_test(a_block_that_was_not_written_past_its_end_is_not_accused),
		cmocka_unit_test(memory_whose_blocks_are_lost_is_no_block),
		cmocka_unit_test(damage_that_malloc_was_interrupted_at_is_not_known),
		cmocka_unit_test(damage_that_malloc_complained_of_is_told),
		cmocka_unit_test(an_abort_in_a_damaged_heap_is_severe),
		cmocka_unit_test(an_abort_of_the_allocator_without_its_words_is_known_by_the_damage),
		cmocka_unit_test(a_healthy_heap_adds_nothing),
		cmocka_unit_test(a_type_by_the_suspect_pointer_alone_is_labelled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
