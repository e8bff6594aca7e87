/* strings: texts as C programs keep them: pointers to char, with a header before them, shared and counted, wide, from the library. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include "account.h"

/* The pointer that is passed around points behind the header (as in sds). */
struct header {
	uint32_t length, allocated;
	char text[];
};

struct counted {
	int references;
	size_t length;
	char *bytes;
};

struct person {
	char *first, *last;
	const char *title; /* constant: not in the heap */
	char *biography;   /* as of struct header */
	struct counted *country;
	wchar_t *native;
	unsigned char *photo;
	size_t photo_size;
};

struct line {
	char *text;
	struct line *next;
};

HELD struct person *people[300];
HELD char **arguments;
HELD struct line *lines;
HELD struct counted *countries[10];

static PART char *joined(const char *what, unsigned number)
{
	char *text = NULL;
	int size = asprintf(&text, "%s %u", what, number) + 1;
	return account_is(text, "char", (size_t)size);
}

static PART char *with_header(unsigned length)
{
	struct header *header = account_is(malloc(sizeof *header + length + 1), "struct header|char", 1);
	header->length = header->allocated = length;
	for (unsigned i = 0; i < length; i++)
		header->text[i] = (char)('a' + i % 26);
	header->text[length] = 0;
	return header->text;
}

static PART wchar_t *wide(const char *text)
{
	size_t size = strlen(text) + 1;
	wchar_t *out = NEWS(wchar_t, size);
	for (size_t i = 0; i < size; i++)
		out[i] = (wchar_t)(text[i] ? 0x400 + text[i] : 0);
	account_is(out, "wchar_t|int|long", size);
	return out;
}

static PART struct person *make_person(unsigned i)
{
	struct person *person = NEW(struct person);
	person->first = account_is(strdup("Ada or whoever it was"), "char", 22);
	person->last = joined("of the house", i);
	person->title = "Dr.";
	person->biography = with_header(account_random(500));
	person->country = countries[i % 10];
	person->country->references++;
	person->native = wide(person->last);
	person->photo_size = 64 + account_random(900);
	person->photo = NEWS(unsigned char, person->photo_size);
	for (size_t k = 0; k < person->photo_size; k++)
		person->photo[k] = (unsigned char)account_random(256);
	return person;
}

static PART void read_lines(void)
{
	for (unsigned i = 0; i < 400; i++) {
		struct line *line = NEW(struct line);
		line->text = joined("a line of the file, with its number", i);
		line->next = lines;
		lines = line;
	}
}

static PART void split_arguments(void)
{
	arguments = NEWS(char *, 201);
	for (unsigned i = 0; i < 200; i++)
		arguments[i] = joined("--option", i);
}

int main(void)
{
	for (unsigned i = 0; i < 10; i++) {
		countries[i] = NEW(struct counted);
		countries[i]->bytes = joined("country", i);
		countries[i]->length = strlen(countries[i]->bytes);
	}
	for (unsigned i = 0; i < 300; i++)
		people[i] = make_person(i);
	for (unsigned i = 0; i < 300; i += 9) {
		free(people[i]->first);
		people[i]->first = NULL;
	}
	read_lines();
	split_arguments();
	account_die();
}
