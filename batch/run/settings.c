/* settings: texts are hashed with their NUL, lists with their lengths. */
#include "batch/run/settings.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/store/store.h"
#include "core/base/text.h"
#include "batch/util/digest.h"

static void add_number(SHA2_CTX *hash, uint64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, number);
	xc_digest_text(hash, text);
}

static const char *finish(SHA2_CTX *hash, struct xc_arena *arena)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	SHA256End(hash, hex);
	return xc_arena_strdup(arena, hex);
}

/* ---- shared by all machines ---- */

struct kind_of_file {
	char id[2 * XC_BUILD_ID_MAX + 1];
	uint64_t size;
	uint32_t has;
};

static int by_all(const void *a, const void *b)
{
	const struct kind_of_file *left = a, *right = b;
	int order = strcmp(left->id, right->id);
	if (!order)
		order = (left->size > right->size) - (left->size < right->size);
	return order ? order : (left->has > right->has) - (left->has < right->has);
}

/* Neither paths count, nor whether a file was copied into the store. */
static void add_store(SHA2_CTX *hash, struct xc_store *store)
{
	const size_t count = store ? xc_store_file_count(store) : 0;
	struct kind_of_file *files = xc_alloc((count + 1) * sizeof *files);
	size_t good = 0;
	for (size_t i = 0; i < count; i++) {
		struct xc_store_file file;
		if (!xc_store_file(store, i, &file))
			continue;
		xc_build_id_hex(&file.id, files[good].id);
		files[good].size = file.size;
		files[good++].has = file.has & ~(uint32_t)XC_STORE_KEPT;
	}
	qsort(files, good, sizeof *files, by_all);
	add_number(hash, good);
	for (size_t i = 0; i < good; i++) {
		xc_digest_text(hash, files[i].id);
		add_number(hash, files[i].size);
		add_number(hash, files[i].has);
	}
	free(files);
}

const char *xc_settings_shared(const struct xc_worker_options *options, const char *version, const char *hints,
			       struct xc_arena *arena)
{
	const struct xc_finder *finder = options->finder;
	SHA2_CTX hash;
	SHA256Init(&hash);
	xc_digest_text(&hash, version);
	xc_digest_text(&hash, XC_RECORD_SCHEMA);
	xc_digest_text(&hash, finder->exe);
	xc_digest_text(&hash, finder->sysroot);
	add_number(&hash, finder->debug_dir_count);
	for (size_t i = 0; i < finder->debug_dir_count; i++)
		xc_digest_text(&hash, finder->debug_dirs[i]);
	add_store(&hash, finder->store);
	add_number(&hash, finder->strict);
	add_number(&hash, options->host_files && !finder->sysroot); /* broker.h */
	add_number(&hash, options->redact);
	add_number(&hash, xc_worker_options_seconds(options));
	add_number(&hash, xc_worker_options_memory(options));
	add_number(&hash, xc_worker_options_core_size(options));
	xc_digest_text(&hash, hints);
	return finish(&hash, arena);
}

/* ---- this machine ---- */

/* What a name refers to and when that changed; nothing if it does not exist. The device number is ignored: it changes
 * whenever a container starts or a network file system is mounted. */
static void add_place(SHA2_CTX *hash, const char *path)
{
	struct stat st = {0};
	char real[PATH_MAX] = "";
	if (!stat(path, &st) && !realpath(path, real))
		real[0] = '\0';
	xc_digest_text(hash, real);
	add_number(hash, st.st_ino);
	add_number(hash, S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size);
	add_number(hash, (uint64_t)st.st_mtim.tv_sec);
	add_number(hash, (uint64_t)st.st_mtim.tv_nsec);
}

/* DIR, and the directories of DIR/.build-id, where debug packages install their files. */
static void add_debug_dir(SHA2_CTX *hash, const char *directory)
{
	xc_auto(xc_freep) char *ids = xc_asprintf("%s/.build-id", directory);
	struct stat st;
	add_place(hash, directory);
	add_place(hash, ids);
	for (unsigned first = 0; first < 256 && !stat(ids, &st); first++) {
		xc_auto(xc_freep) char *below = xc_asprintf("%s/%02x", ids, first);
		add_place(hash, below);
	}
}

const char *xc_settings_here(const struct xc_worker_options *options, const char *shared, struct xc_arena *arena)
{
	const struct xc_finder *finder = options->finder;
	SHA2_CTX hash;
	SHA256Init(&hash);
	xc_digest_text(&hash, shared);
	add_place(&hash, "/proc/self/exe"); /* another build of the same version may give other results */
	if (finder->exe)
		add_place(&hash, finder->exe);
	if (finder->sysroot)
		add_place(&hash, finder->sysroot);
	if (finder->sysroot || options->host_files) {
		xc_auto(xc_freep) char *usual = xc_asprintf("%s/usr/lib/debug", finder->sysroot ? finder->sysroot : "");
		add_debug_dir(&hash, usual);
	}
	for (size_t i = 0; i < finder->debug_dir_count; i++)
		add_debug_dir(&hash, finder->debug_dirs[i]);
	return finish(&hash, arena);
}
