/* checkpoint: the finished records of a run, appended one line at a time, so that an interruption loses nothing.
 *
 *	{"schema":"xcore.ledger/4","config":"…"}
 *	{"sum":"…","path":"…","size":"7","mtime":"…","ctime":"…","ino":"…","record":{…},
 *	 "sought":[[0,"","/bin/foo","71 …"],[1,"","/lib/libfoo.so.1"],…]}      (one line)
 *	{"sum":"…","path":"…",…,"sought":[0,…]}
 *
 * A line is written by one call and counts only if it is intact, which its sum shows (checksummed_line.h): a damaged
 * line affects no other. A record is reused if path, size, times and inode number of the file are unchanged, and so are
 * the settings; a new version, other options or a new file of the same name are examined again. If several lines
 * concern one file, the last one counts. Names are encoded by rawtext.h. The files on which records depend
 * (file_dependency.h) are numbered from 0 in order of appearance; later lines have only their numbers. A line with an
 * unknown number does not count either. */
#ifndef XC_CHECKPOINT_H
#define XC_CHECKPOINT_H

#include "batch/input/input.h"
#include "batch/record/record.h"

struct xc_checkpoint;

/* Opens the checkpoint at path (checkpoint_dir.h), or creates one (mode 0600, with parent directories), and sets its
 * modification time to now. config: xc_settings_here. resume: keep the content if it has this config; otherwise the
 * file is emptied. Invalid lines are cut off or, if others follow, blanked out. Records that are read go into the
 * arena. Errors: XC_ERR_IO and others of opening and reading, which leave the content unchanged; XC_ERR_LIMIT if
 * another run has it open. */
XC_MUST_CHECK struct xc_error *xc_checkpoint_open(const char *path, const char *config, bool resume,
						  struct xc_arena *arena, struct xc_checkpoint **checkpoint_out);

/* The record of this input in its present state. If the file is gone (its times are zero): of the last file with its
 * path and size, because finished work is not lost with its core. NULL if there is none. Records that depend on one
 * file share its dependency. */
struct xc_record *xc_checkpoint_find(const struct xc_checkpoint *checkpoint, const struct xc_input *input);

/* Adds a record completely or, on an error, not at all; others can be added afterwards. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_checkpoint_add(struct xc_checkpoint *checkpoint, const struct xc_input *input,
						 const struct xc_record *record);

/* The number of invalid lines when it was opened, except for an incomplete last one, which was being written. */
size_t xc_checkpoint_lost(const struct xc_checkpoint *checkpoint);

void xc_checkpoint_close(struct xc_checkpoint *checkpoint); /* NULL is fine */

#endif
