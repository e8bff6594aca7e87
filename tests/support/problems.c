#include "tests/support/problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch/problems/classes.h"

/* A frame of a stack. A frame without a function, other than the first, ends the stack. */
struct row {
	const char *function, *file;
	unsigned line;
	enum xc_frame_fate fate;
};

struct row_list {
	struct row rows[8];
};

static const struct row_list session_rows = {{
	{"__memmove_avx_unaligned_erms", NULL, 0, XC_FRAME_LEAF},
	{"session_close", "/build/app/src/session.c", 210, XC_FRAME_KEPT},
	{"conn_drop", "/build/app/src/conn.c", 88, XC_FRAME_KEPT},
	{"loop", "/build/app/src/main.c", 31, XC_FRAME_KEPT},
	{"main", "/build/app/src/main.c", 60, XC_FRAME_BELOW},
}};
static const struct row_list parse_rows = {{
	{"abort", NULL, 0, XC_FRAME_ABOVE},
	{"std::vector<int, std::allocator<int> >::at", "/usr/include/c++/12/bits/stl_vector.h", 1154, XC_FRAME_LEAF},
	{"parse<int>", "/build/app/src/parse file.cc", 17, XC_FRAME_KEPT},
}};
static const struct row_list hostile_rows = {{
	{PROBLEMS_HOSTILE, "/build/app/" PROBLEMS_HOSTILE, 7, XC_FRAME_KEPT},
	{"::error::owned", "../../etc/passwd", 1, XC_FRAME_KEPT},
}};
static const struct row_list stripped_rows = {{{NULL, NULL, 0, XC_FRAME_KEPT}}};

static char *hex(struct xc_arena *arena, const char *id, size_t len)
{
	char *text = xc_arena_alloc(arena, len + 1);
	for (size_t i = 0; i < len; i++)
		text[i] = id[i % strlen(id)];
	return text;
}

static size_t row_count(const struct row_list *list)
{
	size_t count = 0;
	while (list->rows[count].function)
		count++;
	return count ? count : 1;
}

static struct xc_record *record(struct xc_arena *arena, const char *path, const struct row_list *list)
{
	struct xc_record *r = xc_arena_alloc(arena, sizeof *r);
	*r = (struct xc_record){
		.path = path,
		.core_id = hex(arena, "0123456789abcdef", 64),
		.stored = 17843,
		.size = 454656,
		.program = "server",
		.build_id = "9c5f0a",
		.arch = "x86_64",
		.signal = "SIGSEGV",
		.class_name = "null-read",
		.severity = "low",
		.confidence = "certain",
		.thread = "server",
		.threads = 4,
		.stop = "outermost frame",
		.frame_count = row_count(list),
	};
	r->frames = xc_arena_alloc(arena, r->frame_count * sizeof *r->frames);
	for (size_t i = 0; i < r->frame_count; i++)
		r->frames[i] = (struct xc_record_frame){
			.function = list->rows[i].function,
			.module = list->rows[i].file || list == &stripped_rows ? "server" : "libc.so.6",
			.build_id = "9c5f0a",
			.has_offset = true,
			.offset = 0x1136 + 16 * i,
			.file = list->rows[i].file,
			.line = list->rows[i].line,
			.trust = i ? "cfi" : "context",
		};
	return r;
}

static struct xc_signature *signature(struct xc_arena *arena, const struct xc_record *record,
				      const struct row_list *list, const char *id)
{
	struct xc_signature *s = xc_arena_alloc(arena, sizeof *s);
	s->frames = xc_arena_alloc(arena, record->frame_count * sizeof *s->frames);
	s->kept = s->shown = xc_arena_alloc(arena, record->frame_count * sizeof *s->kept);
	s->class_name = record->class_name;
	s->severity = record->severity;
	s->class_group = "read";
	s->text = record->class_name;
	s->quality = 0.75;
	for (size_t i = 0; i < record->frame_count; i++) {
		const char *name = record->frames[i].function;
		s->frames[i] = (struct xc_signature_frame){
			.name = name, .shown = name ? name : "server+0x1136", .fate = list->rows[i].fate};
		if (list->rows[i].fate == XC_FRAME_KEPT) {
			s->kept[s->kept_count++] = i;
			s->shown_count = s->kept_count;
			s->text = xc_arena_printf(arena, "%s | %s", s->text, s->frames[i].shown);
		} else {
			s->frames[i].rule = "SKIP (frames.txt:12)";
		}
	}
	s->told = s->text;
	memcpy(s->exact, hex(arena, id, XC_SIGNATURE_HEX - 1), XC_SIGNATURE_HEX);
	memcpy(s->sig, s->exact, XC_SIGNATURE_HEX);
	memcpy(s->loose, s->exact, XC_SIGNATURE_HEX);
	return s;
}

struct wanted {
	const char *id;
	enum xc_problem_state state;
	const char *class_name, *severity, *headline;
	size_t members;
	const struct row_list *rows;
};

static const char *member_path(struct xc_arena *arena, const struct wanted *w, size_t i)
{
	return w->rows == &hostile_rows ? "core." PROBLEMS_HOSTILE : xc_arena_printf(arena, "%s/core.%zu", w->id, i);
}

static void fill(struct xc_problems *p, const struct wanted *w)
{
	struct xc_problem *problem = &p->problems[p->count++];
	struct xc_arena *arena = &p->arena;
	snprintf(problem->id, sizeof problem->id, "%s", w->id);
	problem->state = w->state;
	problem->severity = w->severity;
	problem->member_count = problem->unique = w->members;
	problem->members = xc_arena_alloc(arena, (w->members + 1) * sizeof *problem->members);
	for (size_t i = 0; i < w->members; i++) {
		struct xc_record *r = record(arena, member_path(arena, w, i), w->rows);
		r->class_name = w->class_name;
		r->severity = w->severity;
		r->headline = w->headline;
		problem->members[i] =
			(struct xc_problem_member){.record = r, .signature = signature(arena, r, w->rows, w->id)};
	}
	p->cores += w->members;
	p->counts[w->state]++;
}

static void give_reasons(struct xc_problems *p)
{
	struct xc_problem *worst = &p->problems[0];
	struct xc_record *r = (struct xc_record *)worst->members[0].record;
	r->cause = "session_close() reads a session that conn_drop() freed.";
	r->expression = "session->next";
	r->origin = "the argument of session_close()";
	worst->members[1].copy_of = worst->members[0].record->path;
	worst->unique = worst->member_count - 1;
	static const char *absent[] = {"libplugin.so.2 77ab12: no such file"};
	r->absent = absent;
	r->absent_count = 1;
	struct xc_record *hostile = (struct xc_record *)p->problems[1].members[0].record;
	hostile->program = hostile->thread = hostile->cause = hostile->message = PROBLEMS_HOSTILE;
	hostile->kind = hostile->expression = hostile->origin = PROBLEMS_HOSTILE;
	hostile->signal = hostile->confidence = hostile->arch = hostile->package = PROBLEMS_HOSTILE;
	hostile->build_id = hostile->core_id = hostile->stop = hostile->cycle = PROBLEMS_HOSTILE;
	hostile->class_name = hostile->severity = p->problems[1].severity = PROBLEMS_HOSTILE;
	struct xc_signature *signature = (struct xc_signature *)p->problems[1].members[0].signature;
	signature->class_name = signature->severity = signature->class_group = PROBLEMS_HOSTILE;
	hostile->frames[0].module = hostile->frames[1].module = "|::error::owned \xef\xbf\xbe";
	p->version = p->config = PROBLEMS_HOSTILE;
}

static void fail(struct xc_problems *p)
{
	static const enum xc_record_status statuses[] = {XC_RECORD_UNREADABLE, XC_RECORD_TIMEOUT, XC_RECORD_DIED};
	static const char *const paths[] = {"notes.txt", "slow/core.1", "core.zz" PROBLEMS_HOSTILE};
	static const char *const whys[] = {"not an ELF file", "after 60 s", PROBLEMS_HOSTILE};
	p->failed = xc_arena_alloc(&p->arena, XC_COUNT(paths) * sizeof *p->failed);
	for (size_t i = 0; i < XC_COUNT(paths); i++) {
		struct xc_record *r = xc_arena_alloc(&p->arena, sizeof *r);
		*r = (struct xc_record){.status = statuses[i], .why = whys[i], .path = paths[i]};
		p->failed[p->failed_count++] = r;
	}
	p->cores += p->failed_count;
}

void problems_class(struct xc_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		xc_classes_find(&problems->problems[i], &problems->arena);
}

static struct xc_problems *empty(size_t room)
{
	struct xc_problems *p = xc_alloc(sizeof *p);
	p->problems = xc_arena_alloc(&p->arena, room * sizeof *p->problems);
	p->version = XC_VERSION;
	p->config = hex(&p->arena, "c0f1", 64);
	return p;
}

struct xc_problems *problems_made(void)
{
	static const struct wanted clusters[] = {
		{"3f9a2c17b0de", XC_PROBLEM_NEW, "use-after-free", "high", "SIGSEGV: read 8 bytes of freed memory", 41,
		 &session_rows},
		{"666666666666", XC_PROBLEM_NEW, "null-read", "low", PROBLEMS_HOSTILE, 1, &hostile_rows},
		{"0123456789ab", XC_PROBLEM_KNOWN, "uncaught-exception", "low", "SIGABRT: std::out_of_range", 3,
		 &parse_rows},
		{"beefbeefbeef", XC_PROBLEM_KNOWN, "wild-write", "critical", "SIGSEGV: wrote to 0x4141", 2,
		 &session_rows},
		{"aaaabbbbcccc", XC_PROBLEM_FLAKY, "pc-control", "critical", "SIGSEGV: jumped to 0x4141", 1,
		 &stripped_rows},
		{"dddddddddddd", XC_PROBLEM_GONE, NULL, NULL, NULL, 0, NULL},
	};
	static const char *missing[] = {"part-00003-of-00008.jsonl"};
	struct xc_problems *p = empty(XC_COUNT(clusters));
	for (size_t i = 0; i < XC_COUNT(clusters); i++)
		fill(p, &clusters[i]);
	give_reasons(p);
	fail(p);
	p->problems[2].note = "ticket 812, fixed in 2.4";
	p->problems[2].expires = "2027-01-31";
	p->problems[3].note = "ticket " PROBLEMS_HOSTILE;
	p->problems[3].expires = "2026-01-31";
	p->problems[3].expired = true;
	p->problems[5].text = "null-write | gone_by | main";
	p->missing_parts = missing;
	p->missing_part_count = XC_COUNT(missing);
	problems_class(p);
	return p;
}

struct xc_problems *problems_many(size_t count)
{
	struct xc_problems *p = empty(count);
	for (size_t i = 0; i < count; i++) {
		const struct wanted w = {xc_arena_printf(&p->arena, "%012zx", i),
					 XC_PROBLEM_OPEN,
					 "null-read",
					 "low",
					 "SIGSEGV: read 8 bytes at 0x18",
					 1,
					 &session_rows};
		fill(p, &w);
	}
	problems_class(p);
	return p;
}

void problems_unmake(struct xc_problems *problems)
{
	xc_arena_fini(&problems->arena);
	free(problems);
}
