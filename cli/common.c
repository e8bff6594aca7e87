/* common: one table for all commands, so that an option means the same everywhere. */
#include "cli/common.h"

#include <limits.h>

#include "core/base/shared_status.h"
#include "lua/vm/host.h"

#define AT(member) offsetof(struct xc_common, member)

static const char *const formats[] = {"text", "json", "html", "jsonl", NULL};
static const char *const colors[] = {"auto", "always", "never", NULL};
static const char *const policies[] = {"crash",      "low", "medium",     "high", "critical", "missing",
				       "unverified", "new", "unreadable", NULL}; /* the last two: triage only */

const struct xc_option xc_common_options[] = {
	{.name = "exe",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(exe),
	 .value = "FILE",
	 .about = "the program that the target ran; its build-id must match",
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
	 .about = "also look in DIR for modules and debug files, by build-id or by name; may be repeated",
	 .complete = XC_COMPLETE_DIR},
	{.name = "source-root",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(source_roots),
	 .value = "DIR",
	 .about = "also show lines of source files below DIR; may be repeated. Without it they come only from below "
		  "the working directory (without hidden files; as root not for a pack) and --sysroot",
	 .complete = XC_COMPLETE_DIR},
	{.name = "store",
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(store),
	 .value = "DIR",
	 .about = "the symbol store to use (see `xcore help symbols`); default: $XCORE_SYMBOLS, or "
		  "~/.local/share/xcore/symbols",
	 .complete = XC_COMPLETE_DIR},
	{.name = "debuginfod",
	 .kind = XC_OPTION_ON,
	 .offset = AT(debuginfod),
	 .about = "download missing files from the servers in DEBUGINFOD_URLS; without this option xcore never uses "
		  "the network"},
	{.name = "format",
	 .kind = XC_OPTION_CHOICE,
	 .offset = AT(format),
	 .value = "FORMAT",
	 .about = "text, json or html (one self-contained page); default: text; jsonl (one line each) for heap "
		  "objects",
	 .words = formats},
	{.name = "output",
	 .letter = 'o',
	 .kind = XC_OPTION_TEXT,
	 .offset = AT(output),
	 .value = "FILE",
	 .about = "write the report to FILE atomically; mode 0600, but a redacted report keeps the owner and mode "
		  "of an existing FILE",
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
	 .about = "use at most N threads for parallel work; default: the number of processors",
	 .min = 1,
	 .max = 1024},
	{.name = "no-cache",
	 .kind = XC_OPTION_OFF,
	 .offset = AT(cache),
	 .about = "do not read or write the caches of name indexes and decompressed debug sections"},
	{.name = "plugin-path",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(plugin_paths),
	 .value = "DIR",
	 .about = "also look for plugins in DIR, before the standard directories; may be repeated",
	 .complete = XC_COMPLETE_DIR},
	{.name = "no-plugins", .kind = XC_OPTION_OFF, .offset = AT(plugins), .about = "load no plugins"},
	{.name = "max-instructions",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_instructions),
	 .value = "MILLIONS",
	 .about = "stop a plugin or script after N million Lua instructions; default: 20000; 0: no limit",
	 .max = UINT_MAX},
	{.name = "max-memory",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_memory),
	 .value = "MB",
	 .about = "stop a plugin or script that uses more than N megabytes for its own data; default: 512; 0: no "
		  "limit",
	 .max = UINT_MAX},
	{.name = "max-time",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_time),
	 .value = "SECONDS",
	 .about = "stop a plugin or script after N seconds; default: 60; 0: no limit",
	 .max = 1000000},
	{.name = "max-output",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_output),
	 .value = "MB",
	 .about = "stop a plugin or script that prints more than N megabytes; default: 64; 0: no limit",
	 .max = UINT_MAX},
	{.name = "swap",
	 .kind = XC_OPTION_ON,
	 .offset = AT(swap),
	 .about = "live: also read pages that are swapped out, which brings them back into memory"},
	{.name = "max-read-rate",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_read_rate),
	 .value = "MB",
	 .about = "live: read at most N megabytes a second from the process; default: 100; 0: no limit. The first "
		  "64 MB are free, except in scripts that refresh",
	 .max = 1000000},
	{.name = "max-read-time",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(max_read_time),
	 .value = "MS",
	 .about = "live: use at most N milliseconds of CPU time a second while reading, for all of xcore; default: "
		  "40; 0: no limit. The limit starts after the free megabytes; at idle priority (chrt -i 0), which "
		  "suits repeated sampling, there are none",
	 .max = 1000000},
	{.name = "io-timeout",
	 .kind = XC_OPTION_NUMBER,
	 .offset = AT(io_timeout),
	 .value = "SECONDS",
	 .about = "exit with status 4 when a file, directory or file system does not respond for N seconds; "
		  "default: 30; 0: wait for ever. A message names it after 10 seconds",
	 .max = 1000000},
	{.name = "redact",
	 .kind = XC_OPTION_ON,
	 .offset = AT(redact),
	 .about =
		 "hide values of variables, program arguments and abort messages, and elsewhere likely secrets, "
		 "home directories, addresses that spell text, and literals in source lines; the default when CI=true"},
	{.name = "no-redact", .kind = XC_OPTION_OFF, .offset = AT(redact), .about = "hide nothing, even when CI=true"},
	{.name = "strict",
	 .kind = XC_OPTION_ON,
	 .offset = AT(strict),
	 .about = "reject files that cannot be verified, and exit with status 3 when something is missing"},
	{.name = "fail-on",
	 .kind = XC_OPTION_LIST,
	 .offset = AT(fail_on),
	 .value = "WHAT",
	 .about = "exit with status 1 on a condition: crash, a severity or worse (low, medium, high, critical), "
		  "missing, unverified; separate several with commas",
	 .words = policies},
	{.name = "stats",
	 .kind = XC_OPTION_ON,
	 .offset = AT(stats),
	 .about = "add the cost of this run: time, memory, bytes read"},
	{.name = "quiet",
	 .letter = 'q',
	 .kind = XC_OPTION_ON,
	 .offset = AT(quiet),
	 .about = "print no progress and no hints on standard error"},
	{.name = "help",
	 .letter = 'h',
	 .kind = XC_OPTION_ON,
	 .offset = AT(help),
	 .about = "show help; after a command, help for that command"},
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
				  .max_output = (unsigned)(limits.printed >> 20),
				  .io_timeout = XC_SHARED_TIMEOUT_S};
}

void xc_common_fini(struct xc_common *common)
{
	xc_words_fini(&common->debug_dirs);
	xc_words_fini(&common->source_roots);
	xc_words_fini(&common->plugin_paths);
	xc_words_fini(&common->fail_on);
}
