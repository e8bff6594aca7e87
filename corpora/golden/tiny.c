/* The golden cores' program, without a C library so that its pack is small: each case dies of SIGSEGV in its own way.
 * Built once per case with -DCASE=… ; see build. */
#include <stdint.h>

#define NOINLINE __attribute__((noinline, noclone))
#define INLINE   static inline __attribute__((always_inline))

enum color { RED, GREEN = 5, BLUE };
enum flags { READABLE = 1, WRITABLE = 2, SHARED = 4 };

struct point {
	short x, y;
};

union number {
	uint32_t bits;
	float value;
};

struct shape {
	const char *name;
	struct point corners[3];
	enum color color;
	enum flags flags;
	unsigned width : 5, height : 11;
	union number scale;
	struct shape *next;
	int (*area)(const struct shape *self, int factor);
	double weights[40];
};

static volatile int sink;
static int *volatile null;

static int area_of(const struct shape *self, int factor)
{
	return self->corners[0].x * factor;
}

static struct shape second = {.name = "second \033[31m\"quoted\"", .color = (enum color)9, .flags = READABLE | SHARED};
static struct shape first = {.name = "first",
			     .corners = {{1, -2}, {3, 4}, {-5, 6}},
			     .color = GREEN,
			     .flags = WRITABLE,
			     .width = 17,
			     .height = 1000,
			     .scale = {.value = 0.5F},
			     .next = &second,
			     .area = area_of,
			     .weights = {1.5, 1.5, 1.5, -0.25}};

static NOINLINE int write_field(struct shape *shape, int value)
{
	char label[8] = "label";

	sink = label[0];
	shape->flags = (enum flags)value; /* cppcheck-suppress ctunullpointer */
	return value + label[1];
}

static NOINLINE int show_values(const struct shape *shape, long count, double ratio, const char *nothing)
{
	struct point moved = {shape->corners[1].x, (short)count};
	unsigned char bytes[6] = {0, 1, 2, 'x', 255, 128};
	int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
	int result;

	{
		_Bool inner = ratio > 0.5;
		float half = (float)ratio / 2;

		sink = bytes[3] + matrix[1][2] + moved.x + inner + (int)half;
		result = nothing ? 0 : write_field(null ? &first : (struct shape *)0, (int)count);
	}
	return result + bytes[5];
}

static NOINLINE int parse_list(unsigned long depth, const char *text);

static NOINLINE int parse_value(unsigned long depth, const char *text)
{
	char copy[200] = "value";

	sink = copy[depth % sizeof copy];
	return sink == 'z' ? 0 : parse_list(depth + 1, text) + copy[1];
}

static NOINLINE int parse_list(unsigned long depth, const char *text)
{
	return sink == 'z' ? 0 : parse_value(depth + 1, text) + 1;
}

INLINE int load(const struct shape *shape, int bias)
{
	return shape->width + bias + *null;
}

INLINE int weigh(const struct shape *shape, int factor)
{
	int bias = factor - 1;

	return load(shape, bias) * factor;
}

static NOINLINE int inline_chain(const struct shape *shape, int factor)
{
	int total = sink;

	total += weigh(shape, factor * 2);
	sink = total;
	return total;
}

static NOINLINE int tail_target(int value)
{
	*null = value;
	return value + sink;
}

static NOINLINE int tail_caller(int value)
{
	return tail_target(value * 2);
}

static NOINLINE int call_pointer(int (*function)(int))
{
	return function(7) + sink;
}

/* prlimit64(0, RLIMIT_STACK, …): the kernel asks the limit at each growth, so that the core stays small. */
static void limit_stack(void)
{
	static const uint64_t limit[2] = {160 << 10, 160 << 10};
	register const uint64_t *limits __asm__("rdx") = limit;
	register void *old __asm__("r10") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(302), "D"(0), "S"(3), "r"(limits), "r"(old)
			 : "rcx", "r11", "memory");
	sink = (int)result;
}

static NOINLINE int run(int which)
{
	switch (which) {
	case 1:
		return write_field(&second + (sink ? 1 : 0) == &first ? &first : (struct shape *)null, 3) + sink;
	case 2:
		return show_values(&first, 3, 0.75, 0) + sink;
	case 3:
		limit_stack();
		return parse_list(1, "((((") + sink;
	case 4:
		return inline_chain(&first, 5) + sink;
	case 5:
		return tail_caller(which) + sink;
	default:
		return call_pointer((int (*)(int))(uintptr_t)null) + sink;
	}
}

__attribute__((noreturn, force_align_arg_pointer)) void _start(void);
void _start(void)
{
#ifndef NO_CFI
	__asm__ volatile(".cfi_undefined rip"); /* nobody called it */
#endif
	for (;;)
		sink = run(CASE);
}
