/* scrub_learn: the environment lies at the end of the stack (Linux fs/exec.c, fs/binfmt_elf.c, 6.1):
 *
 *  argc | argv … NULL | envp … NULL | auxv … | platform, random bytes | argv's strings | envp's strings | file name
 *                                                                                                         ^ AT_EXECFN
 * The strings are contiguous, so they are read backwards from the file name up to one that is not NAME=VALUE. A name
 * may contain any characters: shells export "BASH_FUNC_module%%". */
#include "core/facts/scrub_learn.h"

#include <elf.h>
#include <string.h>

#include "core/text/shellword.h"

enum {
	ENVIRONMENT_MOST = 256 << 10, /* bytes */
	ENVIRONMENT_LEAST = 512,
	PERSON = 1000,    /* the first uid of regular users: login.defs */
	SECRET_LEAST = 6, /* letters; redacting shorter secrets would damage other text */
	NAME_LEAST = 3,
};

static size_t name_length(const char *string)
{
	const char *sign = strchr(string, '=');
	return sign ? (size_t)(sign - string) : 0;
}

static bool is(const char *string, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(string, name, len) == 0;
}

/* Is `name` a word of the program's name? Then it is that of a service (USER=redis of redis-server), and redacting it
 * would damage the verdict. */
static bool names_program(const struct xc_process *process, const char *name, size_t len)
{
	const char *slash = process->exe_path ? strrchr(process->exe_path, '/') : NULL;
	const char *const programs[] = {process->comm, slash ? slash + 1 : process->exe_path};
	struct xc_scrub scrub = {0};
	struct xc_text without = {0};
	bool names = false;
	xc_scrub_name(&scrub, name, len, "");
	for (size_t i = 0; i < XC_COUNT(programs); i++)
		names |= programs[i] && xc_scrub_text(&scrub, programs[i], true, &without);
	xc_text_fini(&without);
	xc_scrub_fini(&scrub);
	return names;
}

/* A value as it is, and as a suggested command has it (shellword.h), if that differs within the word. `shown`: NULL for
 * a secret. */
static void learn(struct xc_scrub *scrub, const char *value, const char *shown)
{
	struct xc_text quoted = {0};
	const char *forms[] = {value, NULL};
	if (strchr(value, '\'')) {
		xc_shellword_add_inner(&quoted, value);
		forms[1] = xc_text_string(&quoted);
	}
	for (size_t i = 0; i < XC_COUNT(forms) && forms[i]; i++)
		if (shown)
			xc_scrub_name(scrub, forms[i], strlen(forms[i]), shown);
		else
			xc_scrub_secret(scrub, forms[i], strlen(forms[i]));
	xc_text_fini(&quoted);
}

static void know(struct xc_scrub *scrub, const struct xc_process *process, const char *string, size_t name)
{
	const char *value = string + name + 1;
	size_t len = strlen(value);
	bool person = process->uid >= PERSON && (is(string, name, "USER") || is(string, name, "LOGNAME"));
	if (is(string, name, "HOME") && *value == '/' && len >= NAME_LEAST)
		learn(scrub, value, "~");
	else if (person && len >= NAME_LEAST && !names_program(process, value, len))
		learn(scrub, value, "(user)");
	else if (is(string, name, "HOSTNAME") && len >= NAME_LEAST && strcmp(value, "localhost") != 0)
		learn(scrub, value, "(host)");
	else if (len >= SECRET_LEAST && xc_scrub_names_secret(string, name))
		learn(scrub, value, NULL);
}

/* The available bytes before `end`, *len_out of them. */
static char *bytes_before(const struct xc_process *process, xc_addr end, size_t *len_out)
{
	for (size_t len = ENVIRONMENT_MOST; len >= ENVIRONMENT_LEAST; len /= 2) {
		char *bytes = end > len ? xc_alloc(len) : NULL;
		*len_out = len;
		if (bytes && xc_space_peek(process->space, end - len, bytes, len) == len)
			return bytes;
		xc_freep(&bytes);
	}
	return NULL;
}

void xc_scrub_learn(struct xc_scrub *scrub, const struct xc_process *process)
{
	uint64_t end;
	size_t len;
	if (!xc_process_auxv(process, AT_EXECFN, &end))
		return;
	xc_auto(xc_freep) char *bytes = bytes_before(process, end, &len);
	while (bytes && len > 0 && !bytes[len - 1]) {
		size_t from = len - 1;
		while (from > 0 && bytes[from - 1])
			from--;
		size_t name = name_length(bytes + from);
		if (!from || !name)
			return;
		know(scrub, process, bytes + from, name);
		len = from;
	}
}
