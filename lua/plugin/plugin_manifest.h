/* plugin_manifest: one plugin, and the facts that its file states about it in the table that it returns. */
#ifndef XC_PLUGIN_MANIFEST_H
#define XC_PLUGIN_MANIFEST_H

#include "lua/vm/host.h"
#include "lua/vm/plugindir.h"

/* A command or flame graph of a plugin. */
struct xc_plugin_entry {
	const char *name, *about;
	const char *usage; /* commands: of its arguments; may be NULL */
	const char *unit;  /* flames; NULL */
};

struct xc_plugin_entries {
	struct xc_plugin_entry *items; /* by name */
	size_t count;
};

struct xc_plugin_names {
	const char **items;
	size_t count;
};

/* Each list that is not empty needs a hit, but a hit among symbols or strings serves for both. Without any list the
 * plugin matches no target: its commands work on all. */
struct xc_plugin_match {
	struct xc_plugin_names modules; /* "redis-server", "libluajit*" */
	struct xc_plugin_names symbols, types;
	struct xc_plugin_names strings; /* in the read-only data of a module */
};

struct xc_plugin {
	struct xc_plugin *next; /* among files */
	const char *name;
	const char *path; /* of its file, in its directory: "redis/init.lua" */
	char *file;       /* the whole path */
	const struct xc_plugindir *dir;
	bool loaded; /* the text was read */
	bool read;   /* the manifest was read; what follows is known */
	char *text;  /* the contents of the file, len bytes and a NUL; NULL when it could not be read */
	size_t len;
	struct xc_error *broken; /* why it cannot be used, or NULL */
	const char *about, *doc; /* doc may be NULL */
	bool analyzes;
	bool stacks;  /* adds frames to stacks (dwarf/cfi/foreign_frame.h) */
	bool samples; /* adds frames to the stacks of a profile (lua/sample/plugin_guest.h) */
	bool claims;  /* claims parts of the heap (heap/graph/claim.h) */
	struct xc_plugin_match match;
	struct xc_plugin_entries commands, flames;
};

/* Is this a valid name of a plugin: a small letter, then small letters, digits and _? "lib" is not. */
bool xc_plugin_is_name(const char *name);

/* Does the manifest name any targets? */
bool xc_plugin_asks(const struct xc_plugin_match *match);

/* The entry with this name, or NULL. */
const struct xc_plugin_entry *xc_plugin_entry(const struct xc_plugin_entries *entries, const char *name);

/* Run plugin->text in a state without a target, and fill name, about, doc, match, commands and flames. Strings are
 * copied to the arena. `require` looks for modules in module_dirs. A name that is known before must be the one in
 * the table. Every key is checked: a key that is unknown or of the wrong kind is an error. Errors, each names the
 * file: those of scripts, XC_ERR_LIMIT, XC_ERR_FORMAT for the table. */
XC_MUST_CHECK struct xc_error *xc_plugin_manifest_read(struct xc_plugin *plugin, struct xc_arena *arena,
						       const char *const *module_dirs, size_t module_dir_count);

#endif
