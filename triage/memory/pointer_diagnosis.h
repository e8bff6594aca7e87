/* pointer_diagnosis: what a bad pointer is: freed, past the end of a block, text, poison, one bit away from a valid
 * one, into a returned frame. */
#ifndef XC_POINTER_DIAGNOSIS_H
#define XC_POINTER_DIAGNOSIS_H

#include "core/base/text.h"
#include "triage/crash/crash_context.h"
#include "triage/dataflow/pointers.h"
#include "triage/memory/stale_pointer.h"

/* A value that the faulting instruction used as an address, or as a part of one. */
struct xc_suspect {
	const char *who; /* "rax", "the target", "the address" */
	uint64_t value;
	int reg;     /* -1: none */
	bool inside; /* the address itself, in a library function: its argument is slightly below */
};

enum { XC_SUSPECTS = 2 };

struct xc_pointer_diagnosis {
	struct xc_crash_context *crash;
	struct xc_suspect suspects[XC_SUSPECTS];
	size_t suspect_count;
	struct xc_pointers pointers; /* candidates of the crashed code */
	struct xc_stale stale;       /* found by the explanation "stale pointer on the way" */
};

/* Diagnose the bad pointer and report it: raises the class to use-after-free, use-after-return, heap-overrun or
 * heap-corruption where the heap or the stack shows it, adds evidence, and appends the best explanation to the cause.
 * Does nothing for deaths without a memory access. Call it after the rules that set the class. */
void xc_pointer_diagnosis_report(struct xc_crash_context *crash);

/* ---- explanations: each reports itself and returns true when it applies ---- */

/* A member of a live block that nothing has set: it has what the block's last owner, or the allocator, left there. */
bool xc_unset_member_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* A member of an object on the stack, that no function which has the object sets. */
bool xc_unset_local_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* The same of a member that the object's function sets on some ways only. */
bool xc_unset_local_partly(struct xc_pointer_diagnosis *diagnosis);

/* A freed block: reached directly, or the value was read from it. */
bool xc_freed_block_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* A block with its own mapping, which was unmapped when it was freed. */
bool xc_unmapped_block_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* Code of a library that was unloaded. */
bool xc_unloaded_code_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* An access past the end of a block, or before its beginning. */
bool xc_block_overrun_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* Text that was written over a pointer. */
bool xc_text_overwrite_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* A number that was written over a pointer: a double, small integers, the -1 of a function that failed. */
bool xc_number_overwrite_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* A pointer whose upper half is lost. */
bool xc_cut_pointer_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* In words: "the double 2.0". False when the word is not the bits of a double of ordinary size, or may be an
 * address. */
bool xc_number_is_double(uint64_t value, char *text, size_t size);

/* A frame that has returned. */
bool xc_returned_frame_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* A value in a block whose header is overwritten: the class becomes heap-corruption, likely. Also for values near NULL,
 * but not for NULL itself. */
bool xc_damaged_block_report(struct xc_crash_context *crash);

/* For a value near NULL, but not NULL, of which no more is known: the cause mentions that headers of the heap are
 * overwritten; severity is at least medium. */
void xc_damaged_block_remark(struct xc_crash_context *crash);

/* ---- stack_smash.c: text that a local array was written past its end with, over the return address ---- */

/* Is the return address of one of the innermost frames text that begins in one of the frame's arrays? x86-64. */
bool xc_stack_smash_exists(const struct xc_crash_context *crash);

/* Report the array and the extent of the text, and explain the cause: that a string was written over `what` ("the
 * pointer"; NULL: it is no text), and past the end of the array. The class becomes stack-smash, likely, unless a return
 * went wrong. False when there is no such array. */
bool xc_stack_smash_diagnose(struct xc_pointer_diagnosis *diagnosis, const char *what);

/* Append an explanation to the cause. */
void xc_pointer_diagnosis_explain(struct xc_pointer_diagnosis *diagnosis, const char *format, ...) XC_PRINTF(2, 3);

/* The cause, when it contains expressions of the source, which are in backquotes; else NULL. */
const char *xc_pointer_diagnosis_cause(const struct xc_crash_context *crash);

/* Raise the severity by one step: "medium" becomes "high", and so on. */
void xc_pointer_diagnosis_raise(struct xc_pointer_diagnosis *diagnosis);

/* ---- erased_element.c ---- */

/* Report a variable that is an iterator of a map, set, list or hash table of C++ and points into the freed block
 * (XC_NO_BLOCK: which one is not known), or has moved on to the value that was read from it: likely its element was
 * erased. False when there is none. */
bool xc_erased_element_report(struct xc_pointer_diagnosis *diagnosis, uint32_t block, uint64_t bad);

/* ---- neighbour.c: a static pointer right behind an array ---- */

/* Explanation: the value was read from a static variable, or a member, in front of which an array ends. */
bool xc_neighbour_diagnose(struct xc_pointer_diagnosis *diagnosis);

/* ---- field_overrun.c: the array of a structure that was written past its end, over the members after it ---- */

/* The array in front of a word, in the same object: a block of the heap, a variable of the crashed stack, a static. Or
 * in the static variable before it. */
struct xc_field_array {
	const char *name;             /* "`key` of struct entry", "`users[2].name`": lives as long as the report */
	const struct xc_type *record; /* the structure that the array is a member of; NULL: it is before the object */
	xc_addr record_at;
	const struct xc_type *element;
	xc_addr begin, end; /* of the array; end is exclusive */
	const char *next;   /* without a record: the static variable that holds the word */
	xc_addr next_at;
	uint64_t next_size; /* 0: not known */
};

/* The array that ends at or before `at`, nearest to it. Infers the types of blocks. False when the object or its type
 * is not known, or it has none. */
bool xc_field_array_before(const struct xc_crash_context *crash, xc_addr at, struct xc_field_array *out);

/* Evidence: text that begins in an array of characters and goes on to the word at `at`: the array, the text, and the
 * members it ran over. Appends the same without the text to `cause`. False when it is not so. */
bool xc_field_overrun_report(struct xc_crash_context *crash, xc_addr at, struct xc_text *cause);

#endif
