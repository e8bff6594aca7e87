/* signature_impl: shared by the files of signature. */
#ifndef XC_SIGNATURE_IMPL_H
#define XC_SIGNATURE_IMPL_H

#include "batch/record/language.h"
#include "batch/signature/signature.h"

enum { XC_SIGNATURE_TOP = 5 }; /* kept frames in sig, and shown to people */

/* A signature under construction. */
struct xc_signing {
	const struct xc_record *record;
	const struct xc_framerules *rules;
	const struct xc_policy *policy; /* or NULL */
	struct xc_arena *arena;
	struct xc_signature *s;
	bool nothing_counts; /* the kept frames, if any, only represent the stack */
	/* By frame: */
	bool *whole;   /* the stack that begins there is complete */
	bool *guessed; /* found by scanning, or after such a frame in its stack, and so only a guess */
	enum xc_language *languages;
	bool *linked_in; /* may be from a statically linked C library */
};

/* Sets the name and fate of every frame. */
void xc_signature_classify(struct xc_signing *g);

/* The name of a function (or NULL), normalised by the rules of its language. */
const char *xc_signature_name(const struct xc_signing *g, const char *function, enum xc_language language);

/* Lists the kept frames without repetitions; of a stack overflow its cycle. */
void xc_signature_fold(struct xc_signing *g);

/* Computes the three keys from the kept frames. */
void xc_signature_keys(struct xc_signing *g);

#endif
