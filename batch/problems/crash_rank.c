/* crash_rank: lexicographic comparisons, criterion by criterion. */
#include "batch/problems/crash_rank.h"

#include <string.h>

static uint64_t present(const struct xc_record *record)
{
	uint64_t size = record->size ? record->size : record->stored;
	return size > record->missing ? size - record->missing : 0;
}

int xc_crash_rank(const struct xc_problem_member *a, const struct xc_problem_member *b)
{
	const struct xc_record *l = a->record, *r = b->record;
	const struct xc_signature *s = a->signature, *t = b->signature;
	int d = XC_ORDER(t->complete, s->complete);
	d = d ? d : XC_ORDER(l->missing, r->missing);
	d = d ? d : XC_ORDER(t->quality, s->quality);
	d = d ? d : XC_ORDER(l->size ? l->size : l->stored, r->size ? r->size : r->stored);
	d = d ? d : XC_ORDER(l->stored, r->stored);
	return d ? d : strcmp(l->path, r->path);
}

int xc_crash_rank_shown(const struct xc_problem_member *a, const struct xc_problem_member *b)
{
	int d = XC_ORDER(xc_severity_rank(b->signature->severity), xc_severity_rank(a->signature->severity));
	return d ? d : xc_crash_rank(a, b);
}

int xc_crash_rank_stack(const struct xc_problem_member *a, const struct xc_problem_member *b)
{
	const struct xc_record *l = a->record, *r = b->record;
	const struct xc_signature *s = a->signature, *t = b->signature;
	int d = XC_ORDER(t->complete, s->complete);
	d = d ? d : XC_ORDER(xc_signature_is_weak(s), xc_signature_is_weak(t));
	d = d ? d : XC_ORDER(t->quality, s->quality);
	d = d ? d : XC_ORDER(t->kept_count, s->kept_count);
	d = d ? d : XC_ORDER(present(r), present(l));
	d = d ? d : XC_ORDER(l->stored, r->stored);
	return d ? d : strcmp(l->path, r->path);
}
