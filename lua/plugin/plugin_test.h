/* plugin_test: a plugin's own tests: test/NAME.lua files in its directory, each of which returns a list of cases.
 *
 *  return {
 *    { name = "counts nodes of a ring",
 *      fixture = { … },                     synthetic memory (fixture.h), or
 *      core = "cores/small.zst",            a core, by its path relative to the test file; exe = "…" its program
 *      analyze = true,                      what to call: analyze, or
 *      command = "show", args = { "-v" },   a command, or
 *      flame = "memory",                    a flame graph, or
 *      run = function(t, report) … end,     any code
 *      expect = { ring = { nodes = 3 } },   sections by key: fields by key, tables as lists of rows, trees as weights
 *                                           by "a;b", histograms as lists of buckets; `notes`: texts of notes
 *      output = { "3 nodes" },              the lines printed, all of them
 *      error = "is not mapped",             it fails, and its message contains this
 *      check = function(got) … end },       receives everything: got.sections, got.output, got.error, got.flame
 *  }
 *
 * Expected items must be present; other items may be present too. A function in place of a value is called with the
 * actual value and returns whether it is right (and why not). Lists must have the same length. The plugin runs as
 * for a user, in a child process with its limits. */
#ifndef XC_PLUGIN_TEST_H
#define XC_PLUGIN_TEST_H

#include "lua/plugin/plugin.h"

struct xc_plugin_test_options {
	struct xc_plugins *plugins;
	const struct xc_plugin *plugin; /* its manifest was read */
	struct xc_limits limits;
	bool in_process; /* no children: see runner.h */
	/* Open a core for a case, and close it; exe may be NULL. */
	struct xc_error *(*open)(void *user, const char *core, const char *exe, struct xc_process **process_out);
	void (*close)(void *user);
	void *user;
};

struct xc_plugin_result {
	const char *name; /* "FILE: CASE" */
	const char *why;  /* the reason of the failure, in lines; NULL: passed */
};

struct xc_plugin_results {
	struct xc_arena arena;
	struct xc_plugin_result *items;
	size_t count, capacity, failed;
};

/* Run all cases of all files, in the order of files' names. A file that does not load is a failed result.
 * Errors: XC_ERR_NOT_FOUND when there are no tests. */
XC_MUST_CHECK struct xc_error *xc_plugin_test(const struct xc_plugin_test_options *options,
					      struct xc_plugin_results *results);
void xc_plugin_results_fini(struct xc_plugin_results *results);

#endif
