/* kept: build/programs/DIGEST, created by rename. Tests get a copy that they may change. */
#include "tests/support/kept.h"

#include <fcntl.h>
#include <sha256.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#define DIRECTORY "build/programs"
#define PACKAGES  "/var/lib/dpkg/status"

static void run(const char *path, const char *compiler, const char *source)
{
	xc_auto(xc_freep) char *command = xc_asprintf("%s -o %s -", compiler, scratch_word(path));
	FILE *pipe = popen(command, "w");
	assert_non_null(pipe);
	fputs(source, pipe);
	if (pclose(pipe) != 0)
		fail_msg("failed: %s", command);
}

/* Only the command determines the inputs, and it creates one file. */
static bool may_be_kept(const char *compiler)
{
	return !strchr(compiler, '/') && !strstr(compiler, "split-dwarf") && !strstr(compiler, "save-temps");
}

/* The path of the cached program; NULL if there is no cache. Malloc'ed. */
static char *place_of(const char *compiler, const char *source)
{
	char directory[4096], digest[SHA256_DIGEST_STRING_LENGTH];
	struct stat build, packages;
	if (!may_be_kept(compiler) || stat("build", &build) != 0 || stat(PACKAGES, &packages) != 0 ||
	    !getcwd(directory, sizeof directory))
		return NULL;
	int64_t state[] = {packages.st_mtim.tv_sec, packages.st_mtim.tv_nsec, packages.st_size};
	SHA256_CTX context;
	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)state, sizeof state);
	SHA256Update(&context, (const uint8_t *)directory, strlen(directory) + 1);
	SHA256Update(&context, (const uint8_t *)compiler, strlen(compiler) + 1);
	SHA256Update(&context, (const uint8_t *)source, strlen(source));
	SHA256End(&context, digest);
	return xc_asprintf(DIRECTORY "/%s", digest);
}

/* Creates a new file, as a linker does: the old one may still be mapped. */
static bool copy(const char *from, const char *to)
{
	struct stat st;
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	if (in >= 0)
		unlink(to);
	bool good = in >= 0 && fstat(in, &st) == 0 &&
		    (out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700)) >= 0 && fchmod(out, 0700) == 0;
	for (off_t left = good ? st.st_size : 0; good && left > 0;) {
		ssize_t sent = sendfile(out, in, NULL, (size_t)left);
		good = sent > 0;
		left -= sent;
	}
	if (in >= 0)
		close(in);
	return (out < 0 || close(out) == 0) && good;
}

static void keep(const char *program, const char *place)
{
	xc_auto(xc_freep) char *temporary = xc_asprintf("%s.%d", place, (int)getpid());
	mkdir(DIRECTORY, 0700);
	if (!copy(program, temporary) || rename(temporary, place) != 0)
		unlink(temporary);
}

void kept_program(const char *path, const char *compiler, const char *source)
{
	xc_auto(xc_freep) char *place = place_of(compiler, source);
	if (place && copy(place, path))
		return;
	run(path, compiler, source);
	if (place)
		keep(path, place);
}
