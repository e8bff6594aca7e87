/* rust_location: core::panic::Location, rustc 1.63 to 1.95 (library/core/src/panic/location.rs):
 *
 *	{text, length} of the file's name, u32 line, u32 column; newer versions count a NUL
 *
 * Every function that may panic for its caller gets it as its last argument. */
#include "triage/rust/rust_location.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "triage/dataflow/argument.h"
#include "triage/rust/rust_expression.h"
#include "triage/util/user_code.h"

enum { FRAMES = 64, PATH_MOST = 1024, ARGUMENTS = 6, CALLERS = 4, LINES = 1 << 20 };

struct location {
	char file[PATH_MOST];
	uint32_t line, column;
};

static bool read_location(const struct xc_process *p, xc_addr addr, struct location *out)
{
	uint64_t word = p->arch->word, file, length, line, column;
	const struct xc_mapping *m = xc_process_mapping(p, addr);
	if (!m || m->writable || addr % word || !xc_space_peek_uint(p->space, addr, (unsigned)word, &file) ||
	    !xc_space_peek_uint(p->space, addr + word, (unsigned)word, &length) ||
	    !xc_space_peek_uint(p->space, addr + 2 * word, 4, &line) ||
	    !xc_space_peek_uint(p->space, addr + 2 * word + 4, 4, &column) || !length || length >= sizeof out->file ||
	    xc_space_peek(p->space, file, out->file, (size_t)length) != length)
		return false;
	out->file[length] = '\0';
	out->line = (uint32_t)line;
	out->column = (uint32_t)column;
	length = strlen(out->file);
	return line && line < LINES && column && column < LINES && length > strlen(".rs") &&
	       strcmp(out->file + length - strlen(".rs"), ".rs") == 0 &&
	       xc_text_readable_length(out->file, (size_t)length) == length;
}

/* The path of this file as debug information has it: rustc's is relative to where it ran. NULL: no frame is of it, or
 * several files have such a name. */
static const char *path_of(const struct xc_crash_context *crash, const char *file)
{
	size_t len = strlen(file);
	const char *found = NULL;
	for (size_t i = crash->blamed; i < crash->frame_count && i - crash->blamed < FRAMES; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		for (size_t l = 0; l < place->level_count; l++) {
			const char *path = place->levels[l].file;
			size_t whole = path ? strlen(path) : 0;
			if (whole >= len && strcmp(path + whole - len, file) == 0 &&
			    (whole == len || path[whole - len - 1] == '/')) {
				if (found && strcmp(found, path) != 0)
					return NULL;
				found = path;
			}
		}
	}
	return found;
}

/* The last Location among the arguments of the call that the frame has not returned from. */
static bool find_location(const struct xc_crash_context *crash, size_t caller, struct location *out)
{
	uint64_t addr;
	for (unsigned i = ARGUMENTS; i-- > 0;)
		if (xc_argument_find(crash, caller, i, &addr) && read_location(crash->process, addr, out))
			return true;
	return false;
}

/* A function with #[track_caller] has its caller blamed: the one at the stated line, where the blamed one is not. */
static void blame_caller(struct xc_crash_context *crash, const struct location *location)
{
	for (size_t i = crash->blamed; i < crash->frame_count && i - crash->blamed < CALLERS; i++) {
		const struct xc_place *place = xc_crash_context_place(crash, i);
		for (size_t l = i == crash->blamed ? crash->blame.level : 0; l < place->level_count; l++) {
			const struct xc_level *at = &place->levels[l];
			if (at->line != location->line || !at->file || strcmp(at->file, crash->stated_file) != 0 ||
			    !xc_user_code_is(place, l))
				continue;
			crash->blame = (struct xc_blame){.place = place, .level = l, .frame = crash->frames[i]};
			crash->blamed = i;
			return;
		}
	}
}

/* The compiler may have forgotten the function that it inlined: the place that is stated lies before the one that is
 * blamed begins. */
static void correct_cause(const struct xc_crash_context *crash, const struct location *location)
{
	struct xc_verdict *v = crash->verdict;
	const struct xc_level *at =
		crash->blame.place->level_count ? &crash->blame.place->levels[crash->blame.level] : NULL;
	const char *function = at ? at->function : NULL;
	const size_t length = function ? strlen(function) : 0;
	const char *slash = strrchr(location->file, '/');
	Dwarf_Die die;
	int line;
	if (!function || !v->cause || strncmp(v->cause, function, length) != 0 || !at->file ||
	    strcmp(at->file, crash->stated_file) != 0)
		return;
	die = at->die;
	if (dwarf_decl_line(&die, &line) || line < 1 || location->line >= (uint32_t)line)
		return;
	v->cause = xc_arena_printf(&crash->report->arena, "code of %s:%" PRIu32 " that runs for %s%s",
				   slash ? slash + 1 : location->file, location->line, function, v->cause + length);
}

void xc_rust_location_report(struct xc_crash_context *crash)
{
	static const char *const taker[] = {"core::panicking::panic_fmt", "std::panicking::begin_panic::<&str>", NULL};
	size_t panic = xc_crash_context_find_frame(crash, taker);
	struct location location;
	if (panic + 1 >= crash->frame_count ||
	    (!find_location(crash, panic + 1, &location) && !find_location(crash, crash->blamed, &location)))
		return;
	crash->stated_file = path_of(crash, location.file);
	crash->stated_line = location.line;
	xc_verdict_evidence(crash->report, "the panic says that it happened at %s:%" PRIu32 ":%" PRIu32, location.file,
			    location.line, location.column);
	if (crash->stated_file && crash->blame.place) {
		blame_caller(crash, &location);
		correct_cause(crash, &location);
	}
	xc_rust_expression_report(crash, crash->stated_file, location.line);
	struct xc_verdict *v = crash->verdict;
	if (v->cause && strstr(v->cause, ".partial_cmp(") && xc_crash_context_is(crash, "panic"))
		v->cause =
			xc_arena_printf(&crash->report->arena, "%s; of floats it gives None when one is NaN", v->cause);
}
