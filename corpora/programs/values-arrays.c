/* Dies of SIGSEGV below functions that hold arrays of every kind, strings and bad string pointers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "crash.h"

enum day { MONDAY, TUESDAY, SUNDAY = 6 };
struct cell {
	int row;
	char mark;
};
typedef int vector4 __attribute__((vector_size(16)));
typedef double matrix[2][2];

static int add(int a, int b)
{
	return a + b;
}

static int subtract(int a, int b)
{
	return a - b;
}

/* Eight bytes of text that run up to the end of the last readable page: reading on would fault. */
static char *text_before_hole(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		exit(2);
	return memcpy(pages + 4088, "ABCDEFGH", 8);
}

static NOINLINE void strings(const char *plain, char *null, const char *empty, const unsigned char *bytes)
{
	const char *utf8 = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac", *latin1 = "gr\xfc\xdf",
		   *control = "tab\tnewline\nbell\a\x1b[31m";
	const char *quoted = "say \"hello\" \\ bye", *embedded = "before\0after", *digits = "\0011\00223";
	char *bad = opaque((void *)0x10), *high = opaque((void *)0xffff800000000000UL), *hole = text_before_hole();
	char *longest = malloc(5000);
	const wchar_t *wide = L"wide \u20ac";
	signed char *signed_text = (signed char *)"signed";
	const char *const names[] = {"first", NULL, "third"};

	memset(longest, 'l', 4999);
	longest[4999] = '\0';
	KEEP(*longest);
	crash();
	KEEP(plain), KEEP(null), KEEP(empty), KEEP(bytes), KEEP(utf8), KEEP(latin1), KEEP(control), KEEP(quoted);
	KEEP(embedded), KEEP(digits), KEEP(bad), KEEP(high), KEEP(hole), KEEP(longest), KEEP(wide), KEEP(signed_text);
	KEEP(names);
}

static NOINLINE void char_arrays(char name[16])
{
	char terminated[8] = "abc", full[4] = {'f', 'u', 'l', 'l'}, zeroes[32] = "", bell[4] = "\a\b\x1b";
	char two_texts[12] = "one\0two", high[6] = "\xff\xfe\xc3\xbc";
	signed char small[3] = {-1, 0, 1};
	unsigned char raw[5] = {0, 128, 255, 65, 66};
	char rows[2][6] = {"row-0", "row-1"}, repeated[400];

	memset(repeated, 'r', sizeof repeated);
	KEEP(repeated);
	strings("plain", NULL, "", raw);
	KEEP(name), KEEP(terminated), KEEP(full), KEEP(zeroes), KEEP(bell), KEEP(two_texts), KEEP(high), KEEP(small);
	KEEP(raw), KEEP(rows), KEEP(repeated);
}

static NOINLINE void number_arrays(int *numbers, int grid[2][3], matrix *matrices)
{
	int single[1] = {9}, five[5] = {1, 2, 3, 4, 5}, cube[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}}};
	int many[1000], same[50], no_items[0];
	double ratios[3] = {0.5, -1.25, 1e100};
	bool answers[3] = {true, false, true};
	enum day week[3] = {MONDAY, SUNDAY, (enum day)3};
	struct cell cells[2][2] = {{{1, 'a'}, {2, 'b'}}, {{3, 'c'}, {4, 'd'}}};
	int (*table[3])(int, int) = {add, subtract, NULL}, (*pointer)[5] = &five;
	vector4 vector = {10, 20, 30, 40};
	void *pointers[3] = {&single, NULL, opaque((void *)0x1234)};

	for (int i = 0; i < 1000; i++)
		many[i] = i * i;
	for (int i = 0; i < 50; i++)
		same[i] = i < 40 ? 6 : i;
	KEEP(many), KEEP(same), KEEP(five), KEEP(single);
	char_arrays(opaque("a parameter"));
	KEEP(numbers), KEEP(grid), KEEP(matrices), KEEP(single), KEEP(five), KEEP(cube), KEEP(many), KEEP(same);
	KEEP(no_items), KEEP(ratios), KEEP(answers), KEEP(week), KEEP(cells), KEEP(table), KEEP(pointer), KEEP(vector);
	KEEP(pointers);
}

int main(void)
{
	int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
	matrix matrices[2] = {{{1, 0}, {0, 1}}, {{2, 3}, {4, 5}}};

	number_arrays(opaque(grid), opaque(grid), opaque(matrices));
	KEEP(grid), KEEP(matrices);
	return 0;
}
