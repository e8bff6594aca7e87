/* Dies of SIGSEGV through a pointer that is NULL. */
#include <stdio.h>
#include <stdlib.h>

#include "death.h"

struct headers {
	unsigned status;
	char *location;
	struct {
		long length;
		unsigned flags;
	} body;
};

struct request {
	int id;
	struct headers in, out;
	struct request *next;
	int (*on_done)(struct request *r, int status);
};

struct route {
	const char *prefix;
	long hits;
};

struct server {
	unsigned port;
	struct route *routes;
	struct request *head;
};

struct config {
	int version;
	struct server *server;
};

struct request *current;
struct route *table;
int (*hooks[4])(int);
volatile long sink;

/* ---- fields ---- */

static NOINLINE long read_field(const struct request *r)
{
	return r->out.status + 1; /* dies: field-read passed-null */
}

static NOINLINE void write_field(struct request *r, char *uri)
{
	r->out.location = uri; /* dies: field-write passed-on */
}

static NOINLINE void add_nested(struct request *r, long bytes)
{
	r->out.body.length += bytes; /* dies: nested-write */
}

static NOINLINE long read_chain(const struct config *config)
{
	return config->server->head->in.body.flags; /* dies: chain-read */
}

static NOINLINE void count_hit(struct config *config, long i)
{
	config->server->routes[i].hits++; /* dies: chain-array-write */
}

static NOINLINE const char *route_prefix(long i)
{
	return table[i].prefix; /* dies: global-array-read */
}

static NOINLINE int current_id(void)
{
	return current->id + 1; /* dies: global-read */
}

static NOINLINE int second_id(const struct request *r)
{
	return r->next->id + 1; /* dies: next-read */
}

static NOINLINE int last_of_list(const struct request *r)
{
	while (r->id != 77) { /* dies: list-end */
		sink += r->in.status;
		r = r->next; /* the end of the list is not looked for */
	}
	return r->id;
}

static NOINLINE char first_letter(const char *text)
{
	return (char)(*text + 1); /* dies: string-read */
}

static NOINLINE void store(int *out, int value)
{
	*out = value; /* dies: out-write */
}

static NOINLINE double third(const double *values)
{
	return values[3] * 2; /* dies: index-read */
}

static void field_read(void)
{
	sink = read_field(opaque(NULL));
}

static void field_write(void)
{
	write_field(opaque(NULL), opaque("/index"));
}

static void nested_write(void)
{
	add_nested(opaque(NULL), 12);
}

static void chain_read(void)
{
	struct server server = {.port = 80};
	struct config config = {.server = &server};
	sink = read_chain(opaque(&config));
}

static void chain_array_write(void)
{
	struct server server = {.port = 80};
	struct config config = {.server = &server};
	count_hit(opaque(&config), opaque_long(3));
}

static void global_array_read(void)
{
	sink = (long)route_prefix(opaque_long(5));
}

static void global_read(void)
{
	sink = current_id();
}

static void next_read(void)
{
	struct request r = {.id = 1};
	sink = second_id(opaque(&r));
}

static void list_end(void)
{
	struct request tail = {.id = 2}, r = {.id = 1, .next = &tail};
	sink = last_of_list(opaque(&r));
}

static void string_read(void)
{
	sink = first_letter(opaque(NULL));
}

static void out_write(void)
{
	store(opaque(NULL), 5);
}

static void index_read(void)
{
	sink = (long)third(opaque(NULL));
}

/* ---- calls ---- */

static NOINLINE int finish(struct request *r)
{
	return r->on_done(r, 200) + 1; /* dies: field-call */
}

static NOINLINE int run_hook(long i)
{
	return hooks[i](7) + 1; /* dies: array-call */
}

static NOINLINE int apply(int (*callback)(int), int value)
{
	return callback(value) + 1; /* dies: argument-call */
}

static void field_call(void)
{
	struct request r = {.id = 1};
	sink = finish(opaque(&r));
}

static void array_call(void)
{
	sink = run_hook(opaque_long(2));
}

static void argument_call(void)
{
	sink = apply((int (*)(int))opaque(NULL), 4);
}

/* ---- where it came from ---- */

static NOINLINE struct request *find_request(int id)
{
	struct request *r = opaque(current);
	return r && r->id == id ? r : NULL;
}

static NOINLINE void redirect(int id, char *uri)
{
	struct request *r = find_request(id);
	r->out.location = uri; /* dies: returned-write */
}

static NOINLINE void handle(struct request *r)
{
	sink = 1;
	write_field(r, opaque("/passed"));
	sink = 2;
}

static NOINLINE int make_request(struct request **out)
{
	*out = opaque(NULL);
	return -1;
}

static NOINLINE int start(void)
{
	struct request *r;
	make_request(&r);
	return r->id + 1; /* dies: out-argument-read */
}

static NOINLINE char *copy_name(size_t length)
{
	char *copy = malloc(length);
	copy[0] = 'x'; /* dies: failed-malloc-write */
	return copy;
}

static void returned_write(void)
{
	redirect(4, opaque("/found"));
}

static NOINLINE void pass_null(void)
{
	sink = read_field(NULL);
	sink = 3;
}

static void passed_on(void)
{
	handle(opaque(NULL));
}

static void out_argument_read(void)
{
	sink = start();
}

static void failed_malloc_write(void)
{
	sink = copy_name((size_t)opaque_long(1L << 60))[0];
}

/* ---- inside the C library ---- */

static NOINLINE size_t name_length(const char *name)
{
	return strlen(name) + 1; /* dies: strlen */
}

static NOINLINE void save_name(char *to, const char *name, size_t size)
{
	memcpy(to, name, size); /* dies: memcpy */
	KEEP(*to);
}

static NOINLINE int same(const char *a, const char *b)
{
	return strcmp(a, b) + 1; /* dies: strcmp */
}

static NOINLINE void print_line(FILE *out)
{
	fputs("a line\n", out); /* dies: fputs */
	sink = 1;
}

static void in_strlen(void)
{
	sink = (long)name_length(opaque(NULL));
}

static void in_memcpy(void)
{
	static char name[300];
	save_name(opaque(NULL), name, (size_t)opaque_long(300));
}

static void in_strcmp(void)
{
	sink = same(opaque("left"), opaque(NULL));
}

static void in_fputs(void)
{
	print_line(opaque(NULL));
}

DEATHS({"field-read", field_read}, {"field-write", field_write}, {"nested-write", nested_write},
       {"chain-read", chain_read}, {"chain-array-write", chain_array_write}, {"global-array-read", global_array_read},
       {"global-read", global_read}, {"next-read", next_read}, {"list-end", list_end}, {"string-read", string_read},
       {"out-write", out_write}, {"index-read", index_read}, {"field-call", field_call}, {"array-call", array_call},
       {"argument-call", argument_call}, {"returned-write", returned_write}, {"passed-null", pass_null},
       {"passed-on", passed_on}, {"out-argument-read", out_argument_read}, {"failed-malloc-write", failed_malloc_write},
       {"strlen", in_strlen}, {"memcpy", in_memcpy}, {"strcmp", in_strcmp}, {"fputs", in_fputs})
