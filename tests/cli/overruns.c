/* Dies of arrays that were too short, far from the mistake, and of a member that is set on some ways only. The name of the death is the argument. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct message {
	uint16_t type, length;
	unsigned char body[60];
};
static unsigned char copied[64];

static int copy_static(const struct message *m)
{
	memcpy(copied, m->body, m->length);
	return copied[0];
}

struct context {
	int id;
	char buffer[128];
	int rows;
};

static void fill_member(struct context *c, int rows)
{
	memset(c->buffer, 0, sizeof c->buffer * (size_t)rows);
	c->id++;
}

static char small[32];

static int pad(void)
{
	static char *large;
	large = calloc(1, 1 << 20);
	/* cppcheck-suppress bufferAccessOutOfBounds */
	strncpy(small, large, 1 << 20);
	return small[0];
}

struct column {
	char name[24];
	int width;
	double *data;
};
struct table {
	int count;
	struct column *columns;
};

static int find(const struct table *t, const char *name)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return i;
	return -1;
}

static double sum(const struct table *t, const char *name)
{
	int i = find(t, name);
	double all = 0;
	for (int k = 0; k < 4; k++)
		all += t->columns[i].data[k];
	return all;
}

static int index_below(void)
{
	struct table t = {3, calloc(3, sizeof(struct column))};
	return (int)sum(&t, "prize");
}

struct parser {
	const char *input;
	int line;
	void (*on_error)(struct parser *);
	char name[64];
};

static void log_error(struct parser *p)
{
	printf("line %d\n", p->line);
}

static int parse(struct parser *p)
{
	/* cppcheck-suppress ctuuninitvar */
	for (; *p->input; p->input++)
		if (*p->input == '!')
			p->on_error(p);
	return p->line;
}

static int run(const char *input, int verbose)
{
	struct parser p;
	p.input = input;
	p.line = 1;
	if (verbose)
		p.on_error = log_error;
	return parse(&p);
}

static int fill_stack(void)
{
	volatile unsigned words[128];
	for (unsigned i = 0; i < 128; i++)
		words[i] = 77;
	return (int)words[9];
}

struct user {
	char *name;
	int uses;
};
static struct {
	char label[16];
} shown;
static struct user *current;

__attribute__((noinline)) static void set_label(const char *text)
{
	strcpy(shown.label, text);
}

static char title[16];
static struct user *owner;
static unsigned counts[12];
static struct user *last;

int main(int argc, char **argv)
{
	const char *death = argc > 1 ? argv[1] : "";
	static struct message m = {.length = 60};
	struct context c = {.id = 1};
	volatile unsigned many = 14;
	set_label("short");
	current = owner = last = calloc(1, sizeof *last);
	if (strcmp(death, "copy-static") == 0) {
		m.length = 0xff00;
		return copy_static(&m);
	}
	if (strcmp(death, "fill-member") == 0)
		fill_member(&c, 100000);
	if (strcmp(death, "pad") == 0)
		return pad();
	if (strcmp(death, "index-below") == 0)
		return index_below();
	if (strcmp(death, "unset") == 0)
		return run("a", 1) + fill_stack() + run("a!", 0);
	if (strcmp(death, "text") == 0) {
		char *volatile to = title;
		sprintf(to, "%s-%d-session", "workstation", 4711);
		return owner->uses;
	}
	if (strcmp(death, "numbers") == 0)
		for (unsigned i = 0; i < 1000; i++) {
			counts[i % many]++;
			last->uses++;
		}
	return current->uses + copy_static(&m) + (int)c.id;
}
