/* export_object: each member's name is next to its value. An unknown text is null. */
#include "batch/export/export_object.h"

#include "core/text/jsonvalue.h"
#include "batch/export/export_cluster.h"

#define SCHEMA "xcore.triage/1"

/* pairs: key and text in turn, ended by a NULL key. */
static void set_texts(json_t *object, const char *const *pairs)
{
	for (; pairs[0]; pairs += 2)
		xc_jsonvalue_set(object, pairs[0], xc_jsonvalue_text(pairs[1]));
}

/* ---- a cluster ---- */

static json_t *place_of(const struct xc_export_cluster *c)
{
	json_t *place = json_object();
	xc_jsonvalue_set(place, "function", xc_jsonvalue_text(c->function));
	xc_jsonvalue_set(place, "file", xc_jsonvalue_text(c->file));
	xc_jsonvalue_set(place, "line", c->line ? xc_jsonvalue_count(c->line) : json_null());
	return place;
}

static json_t *frames_of(const struct xc_signature *signature, const struct xc_record *record)
{
	json_t *frames = json_array();
	for (size_t i = 0; i < record->frame_count; i++) {
		const struct xc_signature_frame *frame = &signature->frames[i];
		json_t *object = json_object();
		const char *const texts[] = {"name",   frame->name,
					     "shown",  frame->shown,
					     "fate",   xc_export_fate(frame->fate),
					     "rule",   frame->rule,
					     "thread", record->frames[i].thread,
					     NULL};
		set_texts(object, texts);
		json_array_append_new(frames, object);
	}
	return frames;
}

static json_t *member_of(const struct xc_problem_member *member)
{
	const struct xc_record *r = member->record;
	const struct xc_signature *s = member->signature;
	json_t *object = json_object();
	const char *const texts[] = {
		"path",      xc_record_shown(r),
		"core_id",   r->core_id,
		"copy_of",   member->copy_of,
		"program",   r->program,
		"build_id",  r->build_id,
		"package",   r->package,
		"unit",      r->unit,
		"arch",      r->arch,
		"thread",    r->thread,
		"sig_exact", s->exact,
		"sig",       s->sig,
		"sig_loose", s->loose,
		NULL,
	};
	set_texts(object, texts);
	xc_jsonvalue_set(object, "stored", xc_jsonvalue_count(r->stored));
	xc_jsonvalue_set(object, "size", r->size ? xc_jsonvalue_count(r->size) : json_null());
	xc_jsonvalue_set(object, "missing", xc_jsonvalue_count(r->missing));
	xc_jsonvalue_set(object, "quality", xc_jsonvalue_double(s->quality));
	xc_jsonvalue_set(object, "guessed", json_boolean(member->guessed));
	return object;
}

static json_t *classes_of(const struct xc_problem *problem)
{
	json_t *classes = json_array();
	for (size_t i = 0; i < problem->class_count; i++) {
		const struct xc_problem_class *c = &problem->classes[i];
		json_t *object = json_object();
		const char *const texts[] = {"class",
					     c->name,
					     "severity",
					     xc_severity_name(xc_severity_rank(c->severity)),
					     "representative",
					     xc_record_shown(problem->members[c->best].record),
					     NULL};
		set_texts(object, texts);
		xc_jsonvalue_set(object, "cores", xc_jsonvalue_count(c->count));
		json_array_append_new(classes, object);
	}
	return classes;
}

/* Adds what the representative reports. */
static void set_shown(json_t *object, const struct xc_export_cluster *c)
{
	const struct xc_record *r = c->record;
	const struct xc_signature *s = c->signature;
	const char *const texts[] = {
		"class",    s->class_name, "kind",     r->kind,      "group",       s->class_group, "signature",
		s->text,    "program",     r->program, "confidence", r->confidence, "signal",       r->signal,
		"headline", r->headline,   "cause",    r->cause,     "expression",  r->expression,  "origin",
		r->origin,  "message",     r->message, NULL,
	};
	set_texts(object, texts);
	xc_jsonvalue_set(object, "doubt", xc_jsonvalue_text(xc_signature_doubt(s)));
	xc_jsonvalue_set(object, "place", place_of(c));
	xc_jsonvalue_set(object, "representative", xc_jsonvalue_text(xc_record_shown(r)));
	xc_jsonvalue_set(object, "frames", frames_of(s, r));
	json_t *whole = xc_record_json(r);
	xc_jsonvalue_set(whole, "path", xc_jsonvalue_text(xc_record_shown(r)));
	xc_jsonvalue_set(object, "record", whole);
}

json_t *xc_export_object_cluster(const struct xc_problem *problem, const struct xc_export_options *options)
{
	struct xc_export_cluster c = xc_export_cluster(problem, options);
	json_t *object = json_object(), *members = json_array();
	const char *const texts[] = {"id",      problem->id,      "state",    xc_problem_state_name(problem->state),
				     "note",    problem->note,    "why",      problem->why,
				     "expires", problem->expires, "severity", problem->severity ? c.severity : NULL,
				     NULL};
	set_texts(object, texts);
	xc_jsonvalue_set(object, "expired", json_boolean(problem->expired));
	xc_jsonvalue_set(object, "cores", xc_jsonvalue_count(problem->member_count));
	xc_jsonvalue_set(object, "guessed", xc_jsonvalue_count(problem->guessed));
	xc_jsonvalue_set(object, "unique", xc_jsonvalue_count(problem->unique));
	xc_jsonvalue_set(object, "classes", classes_of(problem));
	if (c.record)
		set_shown(object, &c);
	else
		xc_jsonvalue_set(object, "signature", xc_jsonvalue_text(problem->text));
	for (size_t i = 0; i < problem->member_count; i++)
		json_array_append_new(members, member_of(&problem->members[i]));
	xc_jsonvalue_set(object, "members", members);
	xc_export_cluster_fini(&c);
	return object;
}

/* ---- the rest ---- */

json_t *xc_export_object_failure(const struct xc_record *record)
{
	json_t *object = json_object();
	const char *const texts[] = {"path",    xc_record_shown(record),
				     "core_id", record->core_id,
				     "status",  xc_record_status_name(record->status),
				     "why",     record->why,
				     NULL};
	set_texts(object, texts);
	xc_jsonvalue_set(object, "stored", xc_jsonvalue_count(record->stored));
	return object;
}

json_t *xc_export_object_head(const struct xc_problems *problems)
{
	json_t *head = json_object(), *states = json_object(), *missing = json_array();
	const char *const texts[] = {"schema", SCHEMA, "version", problems->version, "config", problems->config, NULL};
	set_texts(head, texts);
	xc_jsonvalue_set(head, "cores", xc_jsonvalue_count(problems->cores));
	for (enum xc_problem_state state = XC_PROBLEM_OPEN; state < XC_PROBLEM_STATES; state++)
		xc_jsonvalue_set(states, xc_problem_state_name(state), xc_jsonvalue_count(problems->counts[state]));
	xc_jsonvalue_set(head, "states", states);
	for (size_t i = 0; i < problems->missing_part_count; i++)
		json_array_append_new(missing, xc_jsonvalue_text(problems->missing_parts[i]));
	xc_jsonvalue_set(head, "missing_parts", missing);
	xc_jsonvalue_set(head, "partial", xc_jsonvalue_text(problems->partial));
	return head;
}
