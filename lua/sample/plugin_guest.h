/* plugin_guest: plugins as readers of the stacks of interpreted languages in samples (dwarf/sample/sample_guest.h).
 *
 *	begin: the chunk of a plugin runs; its samples(t, samples) declares code and returns a function
 *	for each frame of a sample in that code, or in code of no module: that function is called with the frame, and
 *	before it, until it tells a value, the one that tells that of the dimension which is asked for
 *
 * The states of plugins live as long as the profile, in this process: what does not change between samples is kept in
 * them, and a child would cost two switches of tasks for a sample. A call has limits of its own, far below those of a
 * run; a plugin that reaches one, or fails again and again, is not asked any more, and told once. Not thread-safe. */
#ifndef XC_PLUGIN_GUEST_H
#define XC_PLUGIN_GUEST_H

#include "dwarf/sample/sample_guest.h"
#include "core/base/text.h"
#include "lua/runner/runner.h"

struct xc_plugin_guest;

/* by: the dimension that samples are told apart by, "nginx.location"; borrowed; NULL: none. */
struct xc_plugin_guest *xc_plugin_guest_new(struct xc_process *process, const char *by);
void xc_plugin_guest_free(struct xc_plugin_guest *guest); /* NULL is fine */

/* Begin a plugin that has `samples`, with the limits of the run; texts and names of the run are borrowed. That it fails
 * is told by xc_plugin_guest_note. */
void xc_plugin_guest_add(struct xc_plugin_guest *guest, const struct xc_run *run);

/* Does a plugin tell the dimension that is asked for? The names of all that they tell are appended, each with ", ". */
bool xc_plugin_guest_provides(const struct xc_plugin_guest *guest, struct xc_text *names);

/* For xc_sample_unwinder_guest; NULL: no plugin is there to be asked. */
struct xc_sample_guest *xc_plugin_guest_reader(struct xc_plugin_guest *guest);

/* The next failure of a plugin that was not told yet; owned by the caller. NULL: there is none. */
struct xc_error *xc_plugin_guest_failure(struct xc_plugin_guest *guest);

#endif
