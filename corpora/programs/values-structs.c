/* Dies of SIGSEGV below functions that hold structs, unions and bit-fields, on the stack and passed by value. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"

enum mode { MODE_OFF, MODE_ON, MODE_AUTO };

struct bits {
	int three : 3;
	unsigned five : 5;
	bool flag : 1;
	enum mode mode : 2;
	unsigned : 0;
	uint64_t wide : 40;
	int64_t negative : 20;
	unsigned char tail : 7;
};

union any {
	int i;
	float f;
	unsigned char bytes[8];
	void *pointer;
};

struct tagged {
	int tag;
	union {
		long number;
		struct {
			short low, high;
		};
		char text[8];
	};
	struct {
		int inner;
		struct {
			int deepest;
		} level;
	} named;
};

struct __attribute__((packed)) packed {
	char c;
	int i;
	double d;
};

struct aligned {
	char c;
	int vector[4] __attribute__((aligned(32)));
};

struct flexible {
	size_t count;
	int items[];
};

struct list {
	struct list *next, **back;
	const volatile int value;
};

struct unknown;
struct empty {
};

struct operations {
	int (*open)(const char *path, int flags);
	void (*close)(int fd);
	int (*missing)(void);
};

struct small {
	int a, b;
};
struct floats {
	float x, y, z;
};
struct mixed {
	double d;
	long l;
};
struct large {
	long values[6];
	struct small pair[2];
};

static int operation_open(const char *path, int flags)
{
	return path[0] + flags;
}

static void operation_close(int fd)
{
	KEEP(fd);
}

static NOINLINE void by_value(struct small small, struct floats floats, struct mixed mixed, struct large large,
			      union any any, struct empty empty)
{
	struct small copy = small;
	const struct large *where = &large;

	KEEP(copy), KEEP(where);
	crash();
	KEEP(small), KEEP(floats), KEEP(mixed), KEEP(large), KEEP(any), KEEP(empty), KEEP(copy), KEEP(where);
}

static NOINLINE void with_pointers(struct unknown *unknown, struct tagged *tagged, struct tagged **handle)
{
	struct list second = {.value = 2}, first = {.next = &second, .back = &second.next, .value = 1};
	struct operations operations = {operation_open, operation_close, NULL};
	struct flexible *flexible = malloc(sizeof *flexible + 3 * sizeof(int));
	struct list *dangling = opaque((void *)0x123456789000UL);

	second.next = &first;
	flexible->count = 3;
	for (int i = 0; i < 3; i++)
		flexible->items[i] = i * 11;
	KEEP(*flexible), KEEP(first), KEEP(second), KEEP(operations), KEEP(dangling);
	by_value((struct small){-1, 2}, (struct floats){1.5f, 2.5f, 3.5f}, (struct mixed){0.25, -9},
		 (struct large){{1, 2, 3, 4, 5, 6}, {{7, 8}, {9, 10}}}, (union any){.f = 1.0f}, (struct empty){});
	KEEP(unknown), KEEP(tagged), KEEP(handle), KEEP(first), KEEP(second), KEEP(operations), KEEP(flexible);
	KEEP(dangling);
}

static NOINLINE void on_stack(int tag)
{
	struct bits bits = {-3, 21, true, MODE_AUTO, 0x123456789aUL, -1000, 99};
	struct tagged tagged = {.tag = tag, .text = "abcdefg", .named = {.inner = 5, .level = {.deepest = 6}}};
	struct tagged *pointer = &tagged;
	struct packed packed = {'p', 1234567, -0.5};
	struct aligned aligned = {'a', {1, 2, 3, 4}};
	union any any = {.pointer = &bits};
	struct {
		int x, y;
	} unnamed = {3, 4};
	const struct small constant = {100, 200};
	volatile struct small changing = {300, 400};

	KEEP(bits), KEEP(packed), KEEP(aligned), KEEP(any), KEEP(unnamed), KEEP(constant), KEEP(changing);
	with_pointers((struct unknown *)&packed, &tagged, &pointer);
	KEEP(tag), KEEP(bits), KEEP(tagged), KEEP(pointer), KEEP(packed), KEEP(aligned), KEEP(any), KEEP(unnamed);
	KEEP(constant), KEEP(changing);
}

int main(void)
{
	on_stack(31);
	return 0;
}
