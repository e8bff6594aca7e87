/* signature_impl: the parts of signature, for its own files. */
#ifndef XC_SIGNATURE_IMPL_H
#define XC_SIGNATURE_IMPL_H

#include "batch/record/language.h"
#include "batch/signature/signature.h"

enum { XC_SIGNATURE_TOP = 5 }; /* kept frames that sig is made of, and that people see */

/* A signature in the making. */
struct xc_signing {
	const struct xc_record *record;
	const struct xc_framerules *rules;
	const struct xc_policy *policy; /* or NULL */
	struct xc_arena *arena;
	struct xc_signature *s;
	bool nothing_counts; /* what is kept, if anything, only stands for it */
	/* for each frame: */
	bool *whole;   /* the stack that begins there is */
	bool *guessed; /* it, or one before it in its stack, was found by scanning, and is no more than a guess */
	enum xc_language *languages;
	bool *linked_in; /* may be of a C library that is linked into the program */
};

/* Give every frame its name and fate. */
void xc_signature_classify(struct xc_signing *g);

/* What a function (or NULL) is called by the rules of its language. */
const char *xc_signature_name(const struct xc_signing *g, const char *function, enum xc_language language);

/* List the frames that are kept, without repetitions; of a stack overflow its cycle. */
void xc_signature_fold(struct xc_signing *g);

/* Make the three keys of what is kept. */
void xc_signature_keys(struct xc_signing *g);

#endif
