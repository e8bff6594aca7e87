/* signature: which frames of a crash count, what they are called for comparison, and the three keys made of them.
 *
 *	sig_exact  the same place in the same binaries: class group, build-ids and offsets of the kept frames
 *	sig        the same cause, also in another build: class group and normalised names of the first five kept frames
 *	sig_loose  the same with three
 *
 * Where fewer than five of the first five have names, the program's (program_name.h) is a part of each: a frame or two any program may have.
 *
 * What is kept of a stack: what stands above the fault, or led from it to the end of the program, goes; then helpers, then start-up code. What
 * is left is freed of repetitions. A frame without a name counts by its module; by its offset in it, too, where it is the first that is kept, or
 * fewer than two of the first five have names: a build's own signature is better than one that all crashes of a stripped program share.
 * When nothing is left, the function that the verdict blames stands for it, or main, or the first frame with a name or a module, and the
 * program's name, the class and its kind are parts of the keys: such a signature is weak. So is that of a stack that is not whole and of which fewer
 * than three frames are kept, whose keys have the program's name, too. A frame that was found by scanning the stack is a guess, and so is what it
 * leads to: a stack with one is not whole, and only the frames before it count as kept for this. Scans that must be right are none: what a call into
 * nowhere left at the top of the stack, and how a program ends. Of a stack that is not whole, how the program ended (abort() and what
 * it calls) stands for nothing: when there is nothing else the stack is lost, and the records of one sig may be of several problems.
 *
 * Rules are data (framerules.h), and a policy may overrule them (policy.h). What was decided on each frame, and by which rule, is
 * kept: `triage --explain` shows it. */
#ifndef XC_SIGNATURE_H
#define XC_SIGNATURE_H

#include "batch/signature/framerules.h"
#include "batch/record/policy.h"
#include "batch/record/record.h"

enum xc_frame_fate {
	XC_FRAME_KEPT,
	XC_FRAME_ABOVE, /* it, or one that called it, is how a program ends: everything up to it goes */
	XC_FRAME_LEAF,  /* a helper; its caller is to blame */
	XC_FRAME_BELOW, /* start-up code, or what a signal interrupted, and everything that called it */
	XC_FRAME_REPEATED, /* a repetition of frames that are kept; of a stack overflow also what is outside of the cycle */
	XC_FRAME_HANDLER, /* above a signal trampoline: the program's crash handler */
	XC_FRAME_POLICY,  /* the user's policy skipped it */
};

struct xc_signature_frame {
	const char *name;  /* normalised (normalise.h); NULL when there is none */
	const char *shown; /* name, else module+0xOFFSET, else "?" */
	enum xc_frame_fate fate;
	const char *rule; /* what decided: "SKIP-ABOVE abort (frames.txt:12)", "recursion"; NULL: nothing did */
	bool app;         /* told to be the program's own by a rule */
	bool foreign;     /* told to be another's: never the place to look at */
};

#define XC_SIGNATURE_HEX 65 /* of a SHA-256, with NUL */

/* Of the three keys: raised when the same stack gives other keys than in a release before, by other rules or names. Baselines and SARIF say it. */
#define XC_SIGNATURE_VERSION "4"

struct xc_signature {
	struct xc_signature_frame *frames; /* one for each of the record's */
	size_t *kept;                      /* indexes of the frames that count, innermost first; of a stack
					    * overflow its cycle, turned so that its names are the smallest in order; of the stacks of
					    * several threads the innermost of each, then the next of each, and so on, each name
					    * once: of all of them the few that keys are made of must tell */
	size_t kept_count;
	/* The frames that people are shown: those that are kept; of several threads' stacks one after the other, with those that count but once,
	 * since another thread has a frame of that name at the same depth. */
	size_t *shown, shown_count;
	size_t sure; /* how many of them no frame that was found by scanning the stack stands before, nor are found so themselves */
	const char *class_name;  /* of the record, or as the policy says */
	const char *severity;    /* likewise */
	const char *class_group; /* "read", "write", "heap:double free": classgroup.h */
	const char *
		program; /* of the record, without its release (program_name.h); of one without a name its build-id, else the build-id or name
				  * of the module where it happened; or NULL, which is weak and has a sig of its own */
	const char *text; /* "class | f1 | f2 | f3", for people: at most five names and 255 bytes */
	const char *told; /* the same, and in brackets xc_signature_doubt */
	char exact[XC_SIGNATURE_HEX], sig[XC_SIGNATURE_HEX], loose[XC_SIGNATURE_HEX];
	bool frameless; /* no frame can stand for it: alone with its like of the same program and class, never similar */
	bool weak; /* rules left nothing, and a frame that tells little stands for it, or a stack that is not whole left too few: only with its like, too */
	bool lost; /* weak, and neither a frame that counts nor a culprit is known */
	bool round; /* kept is what a stack that overflowed repeats */
	const char *
		culprit; /* of a weak one: the function that the verdict blames, which counts instead of frames; or NULL */
	bool complete; /* the stack is whole, without a guess down to where a program, thread or signal handler starts */
	double quality; /* of the trace, 0 to 1: the share of its frames that have names, less for a stack that is not whole (0 when it is lost), and
			 * less by up to a quarter for what is missing of the core */
};

/* Work it out, into the arena. policy may be NULL. Only for records that are OK. Never fails. Cost: some microseconds a frame. */
struct xc_signature *xc_signature(const struct xc_record *record, const struct xc_framerules *rules,
				  const struct xc_policy *policy, struct xc_arena *arena);

/* Does it say too little to know another death by it? What has the same sig may be another problem then, also one that a baseline knows. */
bool xc_signature_is_weak(const struct xc_signature *signature);

/* Why it may stand for several problems, in words: "stack lost: maybe several problems"; NULL: it does not, or the verdict blames one
 * function. Static. */
const char *xc_signature_doubt(const struct xc_signature *signature);

/* The frame of the record that a person should look at: the first kept one of the program's own with file and line, else the culprit's
 * place; an index, or record->frame_count when there is none. */
size_t xc_signature_place(const struct xc_record *record, const struct xc_signature *signature);

#endif
