/* signature: which frames of a crash count, their names for comparison, and the three keys made of them.
 *
 *	sig_exact  the same place in the same binaries: class group, build-ids and offsets of the kept frames
 *	sig        the same cause, also in another build: class group and normalised names of the first five kept frames
 *	sig_loose  the same with three
 *
 * If fewer than five of the first five frames have names, the program's name (program_name.h) is part of each key: any
 * program may have one or two such frames.
 *
 * Kept frames. First, frames above the fault, and those between it and the end of the program, are dropped; then
 * helpers; then start-up code. Repetitions are removed from the rest. A frame without a name counts by its module. Its
 * offset counts, too, if it is the first kept frame, or if fewer than two of the first five have names: a signature per
 * build is better than one that all crashes of a stripped program share.
 *
 * Weak signatures. If nothing is kept, the function that the verdict blames represents the stack, or main, or the first
 * frame with a name or a module; the program's name, the class and its kind are then part of the keys. Such a signature
 * is weak. So is that of an incomplete stack with fewer than three kept frames, whose keys also include the program's
 * name. A frame that was found by scanning the stack is a guess, and so is everything after it. A stack with a guess is
 * incomplete, and only the frames before the guess count as kept here. Two kinds of scanned frames must be right and
 * are no guesses: the return address that a call into nowhere left at the top of the stack, and the end of a program.
 * In an incomplete stack, the end of the program (abort() and what it calls) represents nothing: if there is nothing
 * else, the stack is lost, and records with the same sig may belong to several problems.
 *
 * Rules are data (framerules.h); a policy may override them (policy.h). The decision on each frame, with its rule, is
 * kept: `triage --explain` shows it. */
#ifndef XC_SIGNATURE_H
#define XC_SIGNATURE_H

#include "batch/signature/framerules.h"
#include "batch/record/policy.h"
#include "batch/record/record.h"

enum xc_frame_fate {
	XC_FRAME_KEPT,
	XC_FRAME_ABOVE,    /* the end of the program, or called by it: everything up to it is dropped */
	XC_FRAME_LEAF,     /* a helper; its caller is to blame */
	XC_FRAME_BELOW,    /* start-up code, or code that a signal interrupted, with everything that called it */
	XC_FRAME_REPEATED, /* repeats kept frames; in a stack overflow also frames outside of the cycle */
	XC_FRAME_HANDLER,  /* above a signal trampoline: the program's crash handler */
	XC_FRAME_POLICY,   /* the user's policy skipped it */
};

struct xc_signature_frame {
	const char *name;  /* normalised (normalise.h); NULL when there is none */
	const char *shown; /* name, else module+0xOFFSET, else "?" */
	enum xc_frame_fate fate;
	const char *rule; /* the rule that decided: "SKIP-ABOVE abort (frames.txt:12)", "recursion"; NULL: none did */
	bool app;         /* a rule says that it is the program's own */
	bool foreign;     /* a rule says that it is not: never the place to look at */
};

#define XC_SIGNATURE_HEX 65 /* length of a SHA-256 in hex, with NUL */

/* Version of the three keys, increased when the same stack gets other keys than in an earlier release, through new
 * rules or names. Part of baselines and SARIF. */
#define XC_SIGNATURE_VERSION "4"

struct xc_signature {
	struct xc_signature_frame *frames; /* one for each frame of the record */
	/* indexes of the frames that count, innermost first. Of a stack overflow: its cycle, rotated so that its names
	 * are lexicographically smallest. Of several threads' stacks: the innermost of each, then the next of each, and
	 * so on, each name once, so that the few frames in the keys represent all of them */
	size_t *kept;
	size_t kept_count;
	/* The frames shown to people: the kept ones. Of several threads' stacks: one stack after the other, with the
	 * frames that were left out because another thread has the same name at that depth. */
	size_t *shown, shown_count;
	size_t sure;             /* the number of kept frames before the first one that was found by scanning */
	const char *class_name;  /* of the record, or the policy's */
	const char *severity;    /* likewise */
	const char *class_group; /* "read", "write", "heap:double free": classgroup.h */
	/* of the record, without its version (program_name.h); else its build-id, else the build-id or name of the
	 * module where it crashed; or NULL, which makes it weak with a sig of its own */
	const char *program;
	const char *text; /* "class | f1 | f2 | f3", for people: at most five names and 255 bytes */
	const char *told; /* the same, followed by xc_signature_doubt in brackets */
	char exact[XC_SIGNATURE_HEX], sig[XC_SIGNATURE_HEX], loose[XC_SIGNATURE_HEX];
	/* no frame can represent it: grouped only with the same program and class, never by similarity */
	bool frameless;
	/* nothing is kept and a weak frame represents it, or an incomplete stack has too few frames: never similar to
	 * others */
	bool weak;
	bool lost;           /* weak, and neither a frame that counts nor a culprit is known */
	bool round;          /* the kept frames are the cycle of a stack overflow */
	const char *culprit; /* if weak: the function that the verdict blames, which replaces the frames; or NULL */
	bool complete;       /* without guesses down to the start of a program, thread or signal handler */
	/* of the trace, 0 to 1: the share of its frames with names; less for an incomplete stack (0 if lost), and less
	 * by up to a quarter for missing parts of the core */
	double quality;
};

/* Computes the signature, in the arena. policy may be NULL. The record must be OK. Never fails. Cost: some microseconds
 * per frame. */
struct xc_signature *xc_signature(const struct xc_record *record, const struct xc_framerules *rules,
				  const struct xc_policy *policy, struct xc_arena *arena);

/* Is it too weak to recognise another crash by? Then a crash with the same sig may be another problem, also one that a
 * baseline knows. */
bool xc_signature_is_weak(const struct xc_signature *signature);

/* Why it may cover several problems: "stack lost: maybe several problems"; NULL: it does not, or the verdict blames one
 * function. Static. */
const char *xc_signature_doubt(const struct xc_signature *signature);

/* The frame of the record to look at first: the first kept frame of the program's own code with file and line, else the
 * culprit's place. An index, or record->frame_count if there is none. */
size_t xc_signature_place(const struct xc_record *record, const struct xc_signature *signature);

#endif
