/* input: finds the cores to examine: in directories, as single files, in lists; with hints from their names.
 *
 * Reads only names, sizes and, in directories, the first bytes of files. Whether a file is a core is found out by its
 * worker. */
#ifndef XC_INPUT_H
#define XC_INPUT_H

#include "core/base/arena.h"
#include "core/base/error.h"

struct xc_input {
	/* for a single directory operand: relative to it; else relative to the deepest common directory of all
	 * operands, so that `D/core.1 D/sub/core.2` and `D` give the same paths. Clean text */
	const char *path;
	const char *file;           /* the name to open */
	uint64_t size;              /* stored bytes; 0 if a listed name does not exist, which its record will report */
	int64_t mtime_ns, ctime_ns; /* modification and status change; zero if it does not exist */
	uint64_t dev, ino, links;   /* the file's identity, and its number of links */
	const char *comm;           /* hint from its name (corename.h), or NULL. Clean text */
	const char *unit;           /* hint from the journal (journal.h), or NULL */
};

struct xc_inputs {
	struct xc_arena arena;
	/* Sorted by path. A file with several names appears once, unless these are hard links. */
	struct xc_input *inputs;
	size_t count;
	size_t skipped;     /* files in directories whose name and first bytes are not a core's */
	const char **notes; /* sorted: what could not be searched, "cores/private: Permission denied"; clean text */
	size_t note_count;
	size_t unnoted; /* number of further notes */
	/* files and directories that could not be opened or searched: they may be cores, or hold some */
	size_t unread;
	/* Directories among the operands, without those from lists and patterns, in the form in which the names of
	 * their files begin; "" is the working directory. */
	const char **directories;
	size_t directory_count;
};

/* Finds the cores for the operands:
 *	- a directory is searched recursively, without following symbolic links inside;
 *	- a file is taken as it is;
 *	- "@FILE" and "-" (standard input) are lists of files and directories (namelist.h);
 *	- a name with wildcards that no file has is expanded (wildcard.h), except in NUL-terminated lists.
 * Listed and expanded names that do not exist or dangle get a record that says so. A file in a directory counts if it
 * begins like an ELF core or a pack. If its name is a core's, it also counts if it begins like zstd, lz4, xz, gzip or
 * bzip2, if it is empty, or if its name is "core" or "core.PID"; its record then says whether it can be read. Errors:
 * an operand that does not exist, cannot be read or is an apport report; a pattern without a match; those of reading a
 * list. */
XC_MUST_CHECK struct xc_error *xc_inputs_find(const char *const *operands, size_t count, struct xc_inputs **inputs_out);

/* The deepest directory that contains all files, in the form of their names and without a trailing slash; "" is the
 * working directory. New. */
char *xc_inputs_shared(const struct xc_inputs *inputs);
void xc_inputs_free(struct xc_inputs *inputs);

#endif
