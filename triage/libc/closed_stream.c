/* closed_stream: fclose() takes a stream out of the list of open ones (stream.h), and frees it. Streams in memory
 * (open_memstream) are not in the list: they have their vtable. */
#include "triage/libc/closed_stream.h"

#include <inttypes.h>
#include <string.h>

#include "heap/query/whatis.h"
#include "triage/dataflow/argument.h"
#include "triage/dataflow/libcall.h"
#include "triage/libc/stream.h"

static const struct {
	const char *name;
	unsigned stream; /* the argument */
} takers[] = {
	{"fclose", 0}, {"pclose", 0}, {"fflush", 0}, {"fprintf", 0}, {"vfprintf", 0}, {"fprintf_chk", 0},
	{"fputs", 1},  {"fputc", 1},  {"putc", 1},   {"fwrite", 3},  {"fread", 3},    {"vfprintf_chk", 0},
	{"fgets", 2},  {"fgetc", 0},  {"getc", 0},   {"getline", 2}, {"ungetc", 1},   {"fscanf", 0},
	{"fseek", 0},  {"ftell", 0},  {"rewind", 0}, {"fseeko", 0},  {"ftello", 0},   {"setvbuf", 0},
};

struct stream {
	const char *function;
	xc_addr at;
	bool freed; /* its memory is free */
};

/* Also true when it is not known. */
static bool is_open(const struct xc_crash_context *crash, xc_addr stream)
{
	xc_addr at;
	if (!xc_stream_first(crash->process, &at))
		return true;
	for (unsigned i = 0; at && at != stream; i++)
		if (i == XC_STREAMS || !xc_stream_next(crash->process, &at))
			return true;
	return at == stream;
}

/* Its functions are those of a library: it may be a stream without a file. */
static bool has_functions(const struct xc_crash_context *crash, xc_addr stream)
{
	uint64_t table;
	return !xc_space_peek_uint(crash->process->space, stream + XC_STREAM_VTABLE, 8, &table) ||
	       xc_process_module(crash->process, table);
}

/* fopen() and related functions allocate a stream alone. */
static bool find_block(const struct xc_crash_context *crash, struct stream *s)
{
	const struct xc_blocks *blocks = crash->heap ? &crash->heap->blocks : NULL;
	uint32_t block = blocks && blocks->count ? xc_blocks_find(blocks, s->at) : XC_NO_BLOCK;
	if (block == XC_NO_BLOCK || xc_block_addr(blocks, block) != s->at ||
	    xc_block_size(blocks, block) <= XC_STREAM_VTABLE)
		return false;
	enum xc_block_state state = xc_block_state(blocks, block);
	s->freed = xc_block_is_free(state);
	return state != XC_BLOCK_TOP;
}

/* The stream that the program's function gave to the C library, when it is no open one. */
static bool find(const struct xc_crash_context *crash, struct stream *out)
{
	const char *callee = crash->blame.place && crash->blamed ? xc_argument_callee(crash, crash->blamed) : NULL;
	size_t i = 0;
	callee = callee ? xc_libcall_plain(callee) : NULL;
	while (callee && i < XC_COUNT(takers) && strcmp(takers[i].name, callee) != 0)
		i++;
	if (!callee || i == XC_COUNT(takers) || !xc_arch_is_x86_64(crash->process->arch) ||
	    !xc_argument_find(crash, crash->blamed, takers[i].stream, &out->at) || !out->at ||
	    !find_block(crash, out) || is_open(crash, out->at))
		return false;
	out->function = takers[i].name;
	return out->freed || !has_functions(crash, out->at);
}

static void report(const struct xc_crash_context *crash, const struct stream *s)
{
	struct xc_text text = {0};
	struct xc_what what = xc_what(crash->process, crash->heap, s->at);
	xc_what_text(crash->process, crash->heap, &what, &text);
	xc_verdict_evidence(crash->report,
			    "%s() was given the stream 0x%" PRIx64
			    ", which is not among the open streams of the C library: %s",
			    s->function, s->at, xc_text_string(&text));
	xc_text_fini(&text);
}

bool xc_closed_stream_classify(struct xc_crash_context *crash)
{
	struct stream s;
	if (!crash->blame.through || !find(crash, &s))
		return false;
	xc_crash_context_classify(crash, "use-after-free", xc_fault_use(&crash->fault), "high", "likely",
				  xc_arena_printf(&crash->report->arena,
						  "%s() was given a stream that is not open: likely "
						  "it had been closed, and its memory %s",
						  s.function, s.freed ? "is free" : "is used for something else"));
	report(crash, &s);
	return true;
}

void xc_closed_stream_explain(struct xc_crash_context *crash)
{
	struct stream s;
	struct xc_verdict *v = crash->verdict;
	if (!v->kind || strcmp(v->kind, "double free") != 0 || !find(crash, &s) || !s.freed)
		return;
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s() was given a stream that had been closed before",
				   v->cause ? v->cause : "", v->cause ? "; " : "", s.function);
	report(crash, &s);
}
