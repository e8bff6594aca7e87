/* common: one table that every command shares, so that an option means the same everywhere. */
#include "cli/common.h"

#include <limits.h>

#include "core/base/shared_status.h"
#include "lua/vm/host.h"

#define AT(member) offsetof(struct xc_common, member)

static const char *const formats[] = {"text", "json", "html", "jsonl", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const policies[] = {"crash",      "low", "medium",     "high", "critical", "missing",
				       "unverified", "new", "unreadable", NULL}; /* the last two: of triage */

const struct xc_option xc_common_options[] = {
	{.name = "exe",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(exe),
	 .value = "FILE",
	 .about = "the program that the target ran; its build-id must be the target's",
	 .complete = XC_COMPLETE_FILE},
	{.name = "sysroot",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(sysroot),
	 .value = "DIR",
	 .about = "look up the target's files below DIR instead of /",
	 .complete = XC_COMPLETE_DIR},
	{.name = "debug-dir",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(debug_dirs),
	 .value = "DIR",
	 .about = "look for modules and debug files in DIR too, by build-id or by name; may be repeated",
	 .complete = XC_COMPLETE_DIR},
	{.name = "store",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(store),
	 .value = "DIR",
	 .about = "the symbol store to look into (see symbols); XCORE_SYMBOLS, or ~/.local/share/xcore/symbols by "
		  "default",
	 .complete = XC_COMPLETE_DIR},
	{.name = "debuginfod",
	 .kind = XC_OPTION_ON,
	 .offset = AT(debuginfod),
	 .about = "ask the servers in DEBUGINFOD_URLS for what is not here; without this option nothing uses the "
		  "network"},
	{.name = "format",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(format),
	 .value = "FORMAT",
	 .about = "text, json or html (one self-contained page); text by default; jsonl (a line each) for heap objects",
	 .words = formats},
	{.name = "output",
	 .letter = 'o',
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(output),
	 .value = "FILE",
	 .about = "write the answer to FILE, readable by you alone unless it is redacted; it replaces an existing "
		  "FILE only when all went well, and has its owner and rights when it is redacted",
	 .complete = XC_COMPLETE_FILE},
	{.name = "color",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(color),
	 .value = "WHEN",
	 .about = "auto, always or never; auto colours a terminal unless NO_COLOR is set",
	 .words = colors},
	{.name = "jobs",
	 .letter = 'j',
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(jobs),
	 .value = "N",
	 .about = "use at most N threads where work is done in parallel; as many as processors by default",
	 .min = 1,
	 .max = 1024},
	{.name = "no-cache",
	 .kind = XC_OPTION_OFF,
	 .offset = AT(cache),
	 .about = "neither read nor write the caches of name indexes and inflated debug sections"},
	{.name = "plugin-path",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(plugin_paths),
	 .value = "DIR",
	 .about = "look for plugins in DIR too, before the usual places; may be repeated",
	 .complete = XC_COMPLETE_DIR},
	{.name = "no-plugins", .kind = XC_OPTION_OFF, .offset = AT(plugins), .about = "load no plugins"},
	{.name = "max-instructions",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_instructions),
	 .value = "MILLIONS",
	 .about = "stop a plugin or script after so many million instructions of Lua; 20000 by default, 0 for no limit",
	 .max = UINT_MAX},
	{.name = "max-memory",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_memory),
	 .value = "MB",
	 .about = "stop a plugin or script that uses more megabytes for its own data; 512 by default, 0 for no limit",
	 .max = UINT_MAX},
	{.name = "max-time",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_time),
	 .value = "SECONDS",
	 .about = "stop a plugin or script after so many seconds; 60 by default, 0 for no limit",
	 .max = 1000000},
	{.name = "swap",
	 .kind = XC_OPTION_ON,
	 .offset = AT(swap),
	 .about = "live: read pages that are swapped out, which brings them back into memory"},
	{.name = "max-read-rate",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_read_rate),
	 .value = "MB",
	 .about = "live: take at most so many megabytes a second out of the process; 100 by default, 0 for no limit. "
		  "The first 64 MB are free, unless a script refreshes what it read",
	 .max = 1000000},
	{.name = "max-read-time",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_read_time),
	 .value = "MS",
	 .about = "live: while reading goes on, use at most so many milliseconds of processor time a second, for all "
		  "that xcore does; 40 by default, 0 for no limit. It begins to count where the free megabytes end; "
		  "at idle priority (chrt -i 0), as who asks every second should run, no megabyte is free",
	 .max = 1000000},
	{.name = "io-timeout",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(io_timeout),
	 .value = "SECONDS",
	 .about = "give up, with status 4, when a file, a directory or a file system does not answer for so many "
		  "seconds; 30 by default, 0 to wait for ever. It is named after 10",
	 .max = 1000000},
	{.name = "redact",
	 .kind = XC_OPTION_ON,
	 .offset = AT(redact),
	 .about = "leave out values of variables, program arguments and abort texts, elsewhere what looks like a "
		  "secret, home directories and addresses that are letters; the default where CI=true"},
	{.name = "no-redact", .kind = XC_OPTION_OFF, .offset = AT(redact), .about = "show them, also where CI=true"},
	{.name = "strict",
	 .kind = XC_OPTION_ON,
	 .offset = AT(strict),
	 .about = "refuse files that cannot be verified, and exit with 3 when something is missing"},
	{.name = "fail-on",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(fail_on),
	 .value = "WHAT",
	 .about = "exit with 1 when the target shows WHAT: crash, a severity (low, medium, high, critical: that or "
		  "worse), missing or unverified; several with commas",
	 .words = policies},
	{.name = "stats",
	 .kind = XC_OPTION_ON,
	 .offset = AT(stats),
	 .about = "add what this run cost: time, memory, bytes"},
	{.name = "quiet",
	 .letter = 'q',
	 .kind = XC_OPTION_ON,
	 .offset = AT(quiet),
	 .about = "no progress and no hints on standard error"},
	{.name = "help",
	 .letter = 'h',
	 .kind = XC_OPTION_ON,
	 .offset = AT(help),
	 .about = "show help, for the command when one is given"},
	{.name = "version", .letter = 'V', .kind = XC_OPTION_ON, .offset = AT(version), .about = "show the version"},
	{.name = NULL},
};

struct xc_common xc_common_defaults(void)
{
	const struct xc_limits limits = xc_limits_defaults();
	return (struct xc_common){.max_read_rate = XC_READ_RATE,
				  .max_read_time = XC_READ_TIME,
				  .max_instructions = (unsigned)(limits.instructions / 1000000),
				  .max_memory = (unsigned)(limits.memory >> 20),
				  .max_time = (unsigned)limits.seconds,
				  .io_timeout = XC_SHARED_TIMEOUT_S};
}

void xc_common_fini(struct xc_common *common)
{
	xc_words_fini(&common->debug_dirs);
	xc_words_fini(&common->plugin_paths);
	xc_words_fini(&common->fail_on);
}
