/* classhelp: the table. A test compares its names with triage/README.md. */
#include "batch/signature/classhelp.h"

#include <string.h>

#define NULL_ADVICE                                                                                                    \
	"Find out which pointer it was and why nobody set it: the expression and its origin are in the message."
#define WILD_ADVICE                                                                                                    \
	"Look at where the pointer came from. Stale pointers, unchecked lengths and overwritten objects "              \
	"are the usual reasons."
#define CONTROL_ADVICE                                                                                                 \
	"Treat it as exploitable until shown otherwise: find what wrote the return address or function "               \
	"pointer."
#define SENT_ADVICE "Ask who sends signals on that machine: supervisors, time limits, people."

static const struct xc_classhelp table[] = {
	{"abort", "Program aborted itself", "The program, or a library, called abort() without a message.",
	 "Look at who called it: the first frame that counts.", "low", 0, false},
	{"arithmetic", "Arithmetic error", "An instruction raised an arithmetic exception.",
	 "Look at the operands that the evidence gives.", "low", 682, false},
	{"assertion", "Assertion failed", "A condition that the program relies on did not hold.",
	 "The expression and the values of its variables are in the message.", "low", 617, false},
	{"bad-hardware", "Hardware memory error", "The kernel reported defective memory.",
	 "Check the machine before the program.", "info", 0, false},
	{"bad-instruction", "Not an instruction", "Control reached bytes that are no instruction of this processor.",
	 "Find out how it got there: a damaged function pointer, or a program built for another processor.", "critical",
	 0, true},
	{"bus-error", "Bus error", "A memory access failed below the level of pages.",
	 "Look at what is mapped at the address.", "low", 0, false},
	{"busy", "The program is busy", "A thread of a process that did not die runs; nothing is known to be wrong.",
	 "If it should not run, look where it spends its time: xcore profile.", "info", 0, false},
	{"call-null", "Call of a NULL function pointer", "A function was called through a pointer that is NULL.",
	 NULL_ADVICE, "medium", 476, true},
	{"deadlock", "Deadlock", "Threads wait for one another and none can go on.",
	 "The message names the locks and who holds them: take them in one order everywhere.", "medium", 833, false},
	{"div-by-zero", "Division by zero", "An integer was divided by zero.", "Check the divisor where it comes in.",
	 "low", 369, false},
	{"dump-request", "Core requested", "Somebody requested a core with a signal.", SENT_ADVICE, "info", 0, false},
	{"exec-data", "Data executed as code", "Control went to memory that holds data, not code.", CONTROL_ADVICE,
	 "critical", 94, true},
	{"file-truncated", "Mapped file was truncated", "A mapped file is shorter than what the program reads of it.",
	 "Find out who shortens the file while it is mapped.", "low", 0, false},
	{"format-string", "Format that does not fit its call",
	 "printf() or a related function took an argument that was never passed: the format is data, "
	 "or asks for too much.",
	 "Pass data as an argument of \"%s\", and let the compiler check formats (-Wformat -Wformat-security).", "high",
	 134, true},
	{"fortify", "Buffer overflow, caught by the C library",
	 "A checked function of the C library noticed that it would write, or read, past an object.",
	 "The object and its size are in the message: check the length before the call.", "medium", 120, true},
	{"hang", "The program hangs",
	 "A thread keeps a lock that others wait for, or it is only busy, or it runs in a loop that does not end: "
	 "round "
	 "a list that leads back to itself, without progress, or past its end.",
	 "Look at what that thread does: whether it sleeps, waits for input, or runs in a circle.", "low", 833, false},
	{"hardware-guard", "Caught by a hardware guard",
	 "A protection key, a memory tag, a shadow stack or a signed pointer did not fit.",
	 "Treat it as memory corruption: the guard stopped what would have continued.", "high", 119, true},
	{"heap-corruption", "Heap corruption",
	 "The allocator found its own data damaged, or was given a pointer that it never gave out.",
	 "The damage was done earlier: look at the neighbour that the message names, or run with AddressSanitizer.",
	 "high", 787, true},
	{"heap-overrun", "Heap buffer overrun", "Memory past the end, or before the beginning, of a block was used.",
	 "The block and its size are in the message: check the index against it.", "high", 122, true},
	{"killed", "Killed by a signal", "Another process sent a signal that ends programs.", SENT_ADVICE, "info", 0,
	 false},
	{"memory-access", "Bad memory access", "Memory was accessed without permission; the address is unknown.",
	 WILD_ADVICE, "medium", 119, true},
	{"misaligned", "Misaligned access", "An instruction needs an aligned address and was given another.",
	 "Copy with memcpy() instead of casting pointers.", "low", 0, false},
	{"no-crash", "No crash", "The core is of a process that kept running: gcore or a debugger wrote it.",
	 "Look at what its threads were doing then.", "info", 0, false},
	{"null-access", "NULL pointer access", "Memory at or just above address 0 was used.", NULL_ADVICE, "low", 476,
	 true},
	{"null-read", "NULL pointer read", "Memory at or just above address 0 was read.", NULL_ADVICE, "low", 476,
	 true},
	{"null-write", "NULL pointer write", "Memory at or just above address 0 was written.", NULL_ADVICE, "medium",
	 476, true},
	{"out-of-memory", "Out of memory", "An allocation failed, and the program gave up.",
	 "The requested size is in the message: was it checked?", "low", 789, false},
	{"panic", "Panic", "A runtime (Rust's, Go's) stopped the program.",
	 "The panic's message and location are in the message.", "low", 248, false},
	{"pc-control", "Control flow hijacked or lost", "A return, call or jump went to an address without code.",
	 CONTROL_ADVICE, "critical", 787, true},
	{"protected-access", "Access against a page's permissions",
	 "Memory is mapped, but not for this kind of access.", WILD_ADVICE, "medium", 119, true},
	{"pure-virtual-call", "Pure virtual function called",
	 "A virtual function was called while its object was being constructed or destroyed.",
	 "Call no virtual functions from constructors and destructors; look for threads that still use the object.",
	 "medium", 416, true},
	{"sanitizer", "Reported by a sanitizer", "A sanitizer that the program was built with stopped it.",
	 "Its report is in the message.", "high", 119, true},
	{"seccomp-kill", "System call not allowed", "The program's own filter forbids a system call that it made.",
	 "Allow it, or do without.", "info", 0, false},
	{"sent-by-user", "Signal sent by a process", "A signal that looks like a fault was sent by a process.",
	 SENT_ADVICE, "info", 0, false},
	{"stack-overflow", "Stack overflow", "The stack was used up.",
	 "The cycle of the recursion is in the message, and the argument that changes: give it a limit.", "medium", 674,
	 false},
	{"stack-smash", "Stack buffer overflow",
	 "A function found on return that the guard value above its arrays was overwritten.",
	 "Look at the array beside the guard, and what writes to it.", "high", 121, true},
	{"stopped", "Process is stopped", "A signal or a debugger has stopped all threads of the process.",
	 "Continue it (kill -CONT), or look at the debugger.", "info", 0, false},
	{"terminate", "std::terminate() called", "The C++ program was ended without an exception that nothing caught.",
	 "A thread that is still to be joined, `throw;` outside of a handler, or a call: the message tells.", "low",
	 248, false},
	{"trap-instruction", "Trap", "An instruction that a compiler or a person put there stopped the program.",
	 "It marks a failed check, or unreachable code.", "low", 0, false},
	{"uncaught-exception", "Uncaught exception", "A C++ exception was thrown and not caught.",
	 "Its type and what() are in the message, with the location of the throw.", "low", 248, false},
	{"use-after-free", "Use after free", "Freed memory was accessed.",
	 "Find out who freed it, and who still holds the pointer.", "high", 416, true},
	{"use-after-return", "Use of a local variable after return",
	 "A local variable was accessed whose function had returned.",
	 "Find out who keeps its address: a captured reference, a global, a list.", "high", 562, true},
	{"wild-access", "Access through a wild pointer", "Memory was used where nothing is mapped.", WILD_ADVICE,
	 "high", 119, true},
	{"wild-read", "Read through a wild pointer", "Memory was read where nothing is mapped.", WILD_ADVICE, "high",
	 125, true},
	{"wild-write", "Write through a wild pointer", "Memory was written where nothing is mapped.", WILD_ADVICE,
	 "critical", 787, true},
	{"write-rodata", "Write to read-only data", "Memory was written that is mapped for reading only.",
	 "Often a string literal, or a constant, that is changed through a cast.", "medium", 0, true},
};

const struct xc_classhelp *xc_classhelp(const char *class_name)
{
	static const struct xc_classhelp unknown = {.meaning = "A class of the project's own.",
						    .advice = "See the policy that assigned it.",
						    .severity = "info"};
	for (size_t i = 0; i < XC_COUNT(table); i++)
		if (strcmp(table[i].name, class_name) == 0)
			return &table[i];
	return &unknown;
}
