/* toy: an interpreter that stores its functions in its own data, and traces of hand-made machine code (x86-64) without
 * call frame information. C, traces and script call each other. It records who called whom, then dies.
 *
 *	main → run [outer_main, outer_two, outer_three] → call_c → TRACE 1 → middle → TRACE 2 → builtin → run [inner_one] → call_c → crash */
#include <string.h>
#include <sys/mman.h>

char texts[4096], *text_at = texts; /* where a core has them */

static const char *keep(const char *string)
{
	char *to = text_at;
	strcpy(to, string);
	text_at += strlen(string) + 1;
	return to;
}

const char *account[64]; /* outermost first */
int account_count;
#define ENTER(name) (account[account_count++] = keep(name))
#define LEAVE()     (account_count--)

/* ---- traces ---- */

struct trace {
	char name[16];
	unsigned char *code;
	unsigned long size, frame; /* sub rsp, frame */
	int line;
};
struct trace traces[2];
typedef long callback(long);
typedef long traced(callback *, long, void *);

long call_decoy(long n) __attribute__((noinline));
extern char behind_call[];

/* Its return address is planted in the traces' frames: a stack scan finds it first. */
long call_decoy(long n)
{
	__asm__ volatile("call 1f\n.globl behind_call\nbehind_call: nop\n1:" ::: "memory");
	return n + 2;
}

static void put(unsigned char **at, const char *bytes, unsigned long count)
{
	memcpy(*at, bytes, count);
	*at += count;
}

static void put32(unsigned char **at, unsigned number)
{
	memcpy(*at, &number, 4);
	*at += 4;
}

/* The frame: return address at CFA - 8, rbx at CFA - 16. */
static traced *make_trace(int i, unsigned frame)
{
	static unsigned char *at;
	if (!at)
		at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct trace *t = &traces[i];
	*t = (struct trace){.name = "TRACE ?", .code = at, .frame = frame, .line = 41 + i};
	t->name[6] = (char)('1' + i);
	put(&at, "\x48\x81\xec", 3), put32(&at, frame);         /* sub rsp, frame */
	put(&at, "\x48\x89\x9c\x24", 4), put32(&at, frame - 8); /* mov [rsp + frame - 8], rbx */
	put(&at, "\x48\x89\x54\x24\x10", 5);                    /* mov [rsp + 16], rdx */
	put(&at, "\x48\xc7\xc3\xef\xbe\xad\x0b", 7);            /* mov rbx, 0x0badbeef */
	put(&at, "\x48\x89\xf8\x48\x89\xf7\xff\xd0", 8);        /* mov rax, rdi; mov rdi, rsi; call rax */
	put(&at, "\x48\x8b\x9c\x24", 4), put32(&at, frame - 8); /* mov rbx, [rsp + frame - 8] */
	put(&at, "\x48\x81\xc4", 3), put32(&at, frame);         /* add rsp, frame */
	put(&at, "\xc3", 1);                                    /* ret */
	t->size = (unsigned long)(at - t->code);
	return (traced *)t->code;
}

static traced *trace_1, *trace_2;

/* ---- the interpreter ---- */

/* The activations of one run() are in its own frame. */
struct activation {
	struct activation *prev;
	const char *name;
	int line, first;
	long arg;
};
struct activation *top;
volatile int *nowhere;

__attribute__((noinline)) static long crash(long n)
{
	ENTER("crash");
	return *nowhere + n;
}

long run(const char *const *program, long arg);

__attribute__((noinline)) static long builtin(long n)
{
	static const char *const inner[] = {"inner_one", "!crash", 0};
	ENTER("builtin");
	long kept = n * 3 + 1, r = run(inner, n + 1);
	LEAVE();
	return r + kept;
}

__attribute__((noinline)) static long middle(long n)
{
	ENTER("middle");
	long kept = n * 7 + 5; /* in rbx over the call */
	ENTER("TRACE 2");
	long r = trace_2(builtin, n, behind_call);
	LEAVE();
	LEAVE();
	__asm__ volatile("" : "+r"(kept));
	return r + kept;
}

__attribute__((noinline)) static long call_c(const char *name, long arg)
{
	ENTER("run"); /* the loop is the code that runs in the innermost function */
	ENTER("call_c");
	long r = 0;
	if (!strcmp(name, "!crash")) {
		r = crash(arg);
	} else {
		ENTER("TRACE 1");
		r = trace_1(middle, arg, behind_call);
		LEAVE();
	}
	LEAVE();
	LEAVE();
	return r;
}

/* "name" calls a function of the script, "!name" one of C. */
__attribute__((noinline)) long run(const char *const *program, long arg)
{
	struct activation stack[8] = {{.prev = top}};
	int depth = 0;
	long r = 0;
	for (int i = 0; program[i]; i++) {
		if (program[i][0] == '!') {
			r = call_c(program[i], arg);
			continue;
		}
		stack[depth] = (struct activation){top, keep(program[i]), 10 + i, depth == 0, arg};
		top = &stack[depth++];
		ENTER(program[i]);
	}
	top = stack[0].prev;
	account_count -= depth;
	return r;
}

/* ---- coroutines ---- */

struct coroutine {
	struct coroutine *next;
	char name[16], functions[2][16];
} made[] = {{made + 1, "one", {"yield", "worker"}},
	    {made + 2, "two", {"yield", "worker"}},
	    {0, "three", {"sleep", "worker"}}};
struct coroutine *coroutines;

int main(void)
{
	static const char *const outer[] = {"outer_main", "outer_two", "outer_three", "!trace", 0};
	coroutines = made;
	trace_1 = make_trace(0, 0x58);
	trace_2 = make_trace(1, 0x78);
	ENTER("main");
	return (int)(run(outer, 5) + call_decoy(1));
}
