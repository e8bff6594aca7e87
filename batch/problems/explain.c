#include "batch/problems/explain.h"

#include <errno.h>
#include <string.h>

#include "core/base/text.h"

static const char *fate_text(enum xc_frame_fate fate)
{
	static const char *const texts[] = {
		[XC_FRAME_KEPT] = "kept",     [XC_FRAME_ABOVE] = "above",       [XC_FRAME_LEAF] = "leaf",
		[XC_FRAME_BELOW] = "below",   [XC_FRAME_REPEATED] = "repeated", [XC_FRAME_HANDLER] = "handler",
		[XC_FRAME_POLICY] = "policy",
	};
	return texts[fate];
}

static void describe_culprit(const struct xc_signature *s, struct xc_text *text)
{
	if (!s->culprit)
		return;
	xc_text_add(text, "  culprit    ");
	xc_text_name(text, s->culprit);
	xc_text_add(text, ": no frame counts; the verdict blames it, and it stands for the stack\n");
}

static void describe_frame(const struct xc_signature_frame *frame, size_t index, const char *trust,
			   struct xc_text *text)
{
	xc_text_printf(text, "  %3zu  %-8s  ", index, fate_text(frame->fate));
	xc_text_name(text, frame->shown);
	xc_text_add(text, "   (");
	xc_text_name(text, frame->rule ? frame->rule : "no rule");
	xc_text_add(text, trust && !strcmp(trust, "scan") ? "; found by scanning the stack)\n" : ")\n");
}

static void describe_member(const struct xc_problem *problem, const struct xc_problem_member *member,
			    struct xc_text *text)
{
	const struct xc_signature *s = member->signature;
	xc_text_name(text, xc_record_shown(member->record));
	xc_text_add(text, "\n  ");
	xc_text_name(text, s->text);
	xc_text_printf(text, "\n  cluster    %s%s\n  group      ", problem->id,
		       member->guessed ? ", by its first frames alone: a guess" : "");
	xc_text_name(text, s->class_group);
	xc_text_printf(text, "\n  sig_exact  %s\n  sig        %s\n  sig_loose  %s\n  quality    %.2f\n", s->exact,
		       s->sig, s->loose, s->quality);
	describe_culprit(s, text);
	xc_text_char(text, '\n');
	for (size_t i = 0; i < member->record->frame_count; i++) {
		const struct xc_record_frame *frame = &member->record->frames[i];
		if (frame->thread) {
			xc_text_add(text, "  ");
			xc_text_name(text, frame->thread);
			xc_text_char(text, '\n');
		}
		describe_frame(&s->frames[i], i, frame->trust, text);
	}
	xc_text_char(text, '\n');
}

struct xc_error *xc_explain(const struct xc_problems *problems, FILE *out)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < problems->count; i++)
		for (size_t k = 0; k < problems->problems[i].member_count; k++)
			describe_member(&problems->problems[i], &problems->problems[i].members[k], &text);
	for (size_t i = 0; i < problems->failed_count; i++) {
		xc_text_name(&text, xc_record_shown(problems->failed[i]));
		xc_text_printf(&text, "\n  %s: ", xc_record_status_name(problems->failed[i]->status));
		xc_text_name(&text, problems->failed[i]->why);
		xc_text_add(&text, "\n\n");
	}
	bool good = fputs(xc_text_string(&text), out) != EOF;
	xc_text_fini(&text);
	return good ? NULL : xc_error_errno(errno, "writing the explanation");
}
