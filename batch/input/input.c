/* input: operands and lists are first turned into names, because their common directory determines the paths of the
 * cores. Then each name is searched or taken. Files in directories are filtered by their first bytes, so notes and logs
 * beside the cores are skipped. */
#include "batch/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/jsonvalue.h"
#include "core/base/text.h"
#include "batch/input/corename.h"
#include "batch/util/directory.h"
#include "batch/util/file_magic.h"
#include "batch/util/namelist.h"
#include "batch/record/normalise.h"
#include "batch/record/record.h"
#include "batch/util/wildcard.h"

enum {
	NOTES_MAX = 100,
	PATH_BYTES = XC_RECORD_TEXT -
		     16, /* of a written path; with a suffix that makes it unique, it still fits into a record */
};

struct search {
	struct xc_inputs *found;
	size_t capacity, note_capacity, directory_capacity;
	struct xc_namelist given, listed; /* without "." and repeated slashes */
	const char *shared;               /* the common directory of all names, with its slash */
	size_t shared_len;
	void *searched;           /* identities of directories (tsearch): each is searched once, whatever leads there */
	const char *from, *shown; /* of the current directory: for opening, and as the prefix of paths */
};

/* A name in the form used in JSON and reports. */
static const char *clean(struct search *s, const char *name)
{
	return xc_jsonvalue_clean(name, &s->found->arena);
}

/* The path of a core. Records and parts cannot hold a longer one; two that are cut to the same prefix are told apart
 * later. */
static const char *clean_path(struct search *s, const char *path)
{
	const char *whole = clean(s, path);
	const size_t len = strlen(whole);
	return len <= PATH_BYTES ? whole
				 : xc_arena_strndup(&s->found->arena, whole, xc_normalise_cut(whole, len, PATH_BYTES));
}

static void note(struct search *s, const char *file, const char *why)
{
	struct xc_inputs *found = s->found;
	if (found->note_count == NOTES_MAX) {
		found->unnoted++;
		return;
	}
	found->notes = xc_grow(found->notes, found->note_count, &s->note_capacity, sizeof *found->notes);
	found->notes[found->note_count++] = xc_arena_printf(&found->arena, "%s: %s", *file ? clean(s, file) : ".", why);
}

static const char apport_word[] = "an apport report, not a core: `apport-unpack` extracts its core";

/* ---- collecting ---- */

static int64_t nanoseconds(struct timespec time)
{
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void add(struct search *s, const char *path, const char *file, const struct stat *st)
{
	struct xc_inputs *found = s->found;
	const char *slash = strrchr(file, '/');
	const char *comm = xc_corename_comm(slash ? slash + 1 : file, &found->arena);
	if (strlen(file) >= PATH_MAX) {
		found->unread++;
		note(s, file, strerror(ENAMETOOLONG));
		return;
	}
	found->inputs = xc_grow(found->inputs, found->count, &s->capacity, sizeof *found->inputs);
	found->inputs[found->count++] = (struct xc_input){
		.path = clean_path(s, path),
		.file = xc_arena_strdup(&found->arena, file),
		.size = (uint64_t)st->st_size,
		.mtime_ns = nanoseconds(st->st_mtim),
		.ctime_ns = nanoseconds(st->st_ctim),
		.dev = st->st_dev,
		.ino = st->st_ino,
		.links = st->st_nlink,
		.comm = comm ? clean(s, comm) : NULL,
	};
}

static char *joined(const char *directory, const char *below)
{
	const bool parted = !*directory || !*below || xc_ends_with(directory, "/");
	return xc_asprintf("%s%s%s", directory, parted ? "" : "/", below);
}

/* Reads the first bytes of a file, padded with zeros, and its status. False with errno set if it cannot be read. */
static bool look(int directory, const char *name, unsigned char bytes[XC_FILE_MAGIC], struct stat *st)
{
	memset(bytes, 0, XC_FILE_MAGIC);
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool good = fd >= 0 && !fstat(fd, st) && pread(fd, bytes, XC_FILE_MAGIC, 0) >= 0;
	int number = errno;
	if (fd >= 0)
		close(fd);
	errno = number;
	return good;
}

/* Is this readable file a core, or the remains of one? A full disk leaves an empty file. */
static bool is_core(const char *name, const unsigned char bytes[XC_FILE_MAGIC], const struct stat *st)
{
	if (xc_file_magic_core(bytes))
		return true;
	if (!xc_corename_is(name) || xc_file_magic_apport(bytes))
		return false;
	return !st->st_size || xc_file_magic_compressed(bytes) || xc_file_magic_bzip2(bytes) ||
	       xc_corename_is_plain(name);
}

/* More than the numbers, because some network file systems assign them carelessly. */
struct identity {
	uint64_t dev, ino;
	int64_t mtime_ns, ctime_ns;
};

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct identity));
}

static bool visit_directory(void *user, const struct stat *st)
{
	struct search *s = user;
	struct identity *key = xc_arena_alloc(&s->found->arena, sizeof *key);
	*key = (struct identity){st->st_dev, st->st_ino, nanoseconds(st->st_mtim), nanoseconds(st->st_ctim)};
	struct identity *const *first = tsearch(key, &s->searched, by_bytes);
	return !first || *first == key;
}

static void visit_file(void *user, int directory, const char *name, const char *below)
{
	struct search *s = user;
	struct stat st = {0};
	unsigned char bytes[XC_FILE_MAGIC];
	xc_auto(xc_freep) char *file = joined(s->from, below), *path = joined(s->shown, below);
	const bool read = look(directory, name, bytes, &st);
	const int number = errno;
	/* the numbers show whether it is found twice */
	if (!read && fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		memset(&st, 0, sizeof st);
	if (read ? is_core(name, bytes, &st) : xc_corename_is(name)) {
		add(s, path, file, &st);
		return;
	}
	s->found->skipped++;
	s->found->unread += !read && number != ENOENT;
	if (!read)
		note(s, file, strerror(number));
	else if (xc_file_magic_apport(bytes))
		note(s, file, apport_word);
}

static void visit_other(void *user, const char *below)
{
	struct search *s = user;
	const char *slash = strrchr(below, '/');
	xc_auto(xc_freep) char *file = joined(s->from, below);
	s->found->skipped++;
	if (xc_corename_is(slash ? slash + 1 : below))
		note(s, file, "a link, or not a regular file: left out");
}

static void visit_left_out(void *user, const char *below, const char *why, bool may_have_files)
{
	struct search *s = user;
	s->found->unread += may_have_files;
	xc_auto(xc_freep) char *file = joined(s->from, below);
	note(s, file, why);
}

/* ---- names ---- */

/* Removes empty components and "."; ".." stays, because it may lead through a link. */
static char *plain_name(const char *name)
{
	char *plain = xc_alloc(strlen(name) + 1), *to = plain;
	if (*name == '/')
		*to++ = '/';
	while (*name) {
		const size_t len = strcspn(name, "/");
		const char *component = name;
		name += len + (name[len] == '/');
		if (!len || (len == 1 && *component == '.'))
			continue;
		if (to > plain && to[-1] != '/')
			*to++ = '/';
		memcpy(to, component, len);
		to += len;
	}
	*to = '\0';
	return plain;
}

static void unsearched(void *user, const char *directory, const char *why)
{
	struct search *s = user;
	s->found->unread++;
	note(s, directory, why);
}

/* Adds the name, or its matches, which count as listed: the user has not named any of them. */
static struct xc_error *add_name(struct search *s, struct xc_namelist *list, const char *name, bool exact)
{
	const struct xc_wildcard_visitor visitor = {s, unsearched};
	xc_auto(xc_freep) char *plain = plain_name(name);
	const size_t notes = s->found->note_count;
	bool found;
	if (exact || !xc_wildcard_is(plain))
		return xc_namelist_add(list, plain);
	struct xc_error *err = xc_wildcard_expand(plain, &visitor, &s->listed, &found);
	if (err || found)
		return err;
	if (list == &s->given) {
		err = xc_error_new(XC_ERR_NOT_FOUND, "%s: %s", plain, XC_WILDCARD_NOTHING);
		return s->found->note_count > notes ? xc_error_hint(err, "%s", s->found->notes[notes]) : err;
	}
	note(s, plain, XC_WILDCARD_NOTHING);
	return xc_namelist_add(list, plain);
}

static struct xc_error *read_list(struct search *s, const char *path)
{
	struct xc_namelist list = {0};
	struct xc_error *err = xc_namelist_read(&list, path);
	for (size_t i = 0; i < list.count && !err; i++)
		err = add_name(s, &s->listed, list.names[i], list.exact);
	xc_namelist_fini(&list);
	return err;
}

static struct xc_error *read_operand(struct search *s, const char *name)
{
	if (!strcmp(name, "-"))
		return read_list(s, name);
	return *name == '@' ? read_list(s, name + 1) : add_name(s, &s->given, name, false);
}

/* Reduces the common directory to that of the listed names, too. */
static void share(struct search *s, const struct xc_namelist *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->names[i], *slash = strrchr(name, '/');
		size_t len = slash ? (size_t)(slash + 1 - name) : 0, n = 0;
		if (!s->shared) {
			s->shared = name;
			s->shared_len = len;
		}
		for (size_t at = 0; at < len && at < s->shared_len && name[at] == s->shared[at]; at++)
			if (name[at] == '/')
				n = at + 1;
		s->shared_len = n;
	}
}

/* A directory named by the user: files in it may be deleted (prune.h). */
static void take_directory(struct search *s, const char *name)
{
	struct xc_inputs *found = s->found;
	found->directories =
		xc_grow(found->directories, found->directory_count, &s->directory_capacity, sizeof *found->directories);
	found->directories[found->directory_count++] = xc_arena_strdup(&found->arena, name);
}

static struct xc_error *take_name(struct search *s, const char *name, bool listed)
{
	struct stat st;
	unsigned char bytes[XC_FILE_MAGIC];
	const char *shown = name + s->shared_len, *file = *name ? name : ".";
	const bool alone = s->given.count + s->listed.count == 1;
	if (stat(file, &st))
		return xc_error_errno(errno, "%s", file);
	if (S_ISDIR(st.st_mode)) {
		const struct xc_directory_visitor visitor = {s, visit_directory, visit_file, visit_other,
							     visit_left_out};
		if (!listed)
			take_directory(s, name);
		s->from = name;
		s->shown = alone ? "" : shown;
		return xc_directory_walk(file, &visitor);
	}
	if (xc_ends_with(name, ".crash") && look(AT_FDCWD, name, bytes, &st) && xc_file_magic_apport(bytes))
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: %s", name, apport_word);
	add(s, shown, name, &st);
	return NULL;
}

/* A list may be outdated, and a pattern may match dangling links: names that lead nowhere get a record that says so. */
static void take_listed(struct search *s, const char *name)
{
	xc_auto(xc_error_freep) struct xc_error *err = take_name(s, name, true);
	if (!err)
		return;
	const struct stat none = {0};
	add(s, name + s->shared_len, name, &none);
}

/* ---- sorting, removing duplicates ---- */

static int by_path(const void *a, const void *b)
{
	const struct xc_input *left = a, *right = b;
	int order = strcmp(left->path, right->path);
	return order ? order : strcmp(left->file, right->file);
}

/* By file; the names of one file by path. */
static int by_identity(const void *a, const void *b)
{
	const struct xc_input *const *left = a, *const *right = b;
	if ((*left)->dev != (*right)->dev)
		return (*left)->dev < (*right)->dev ? -1 : 1;
	if ((*left)->ino != (*right)->ino)
		return (*left)->ino < (*right)->ino ? -1 : 1;
	return *left < *right ? -1 : *left > *right;
}

/* Some network file systems number their files carelessly. */
static bool is_same_file(const struct xc_input *a, const struct xc_input *b)
{
	return a->ino && a->links == 1 && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

/* Of a file with one link that was found under several names (through a link, another mount, or from both / and here),
 * keeps the first path. Inputs are sorted. */
static void drop_aliases(struct xc_inputs *found)
{
	struct xc_input **list = xc_alloc((found->count + 1) * sizeof(struct xc_input *));
	size_t kept = 0;
	for (size_t i = 0; i < found->count; i++)
		list[i] = &found->inputs[i];
	qsort(list, found->count, sizeof *list, by_identity);
	for (size_t i = found->count; i-- > 1;)
		if (is_same_file(list[i - 1], list[i]))
			list[i]->file = NULL;
	for (size_t i = 0; i < found->count; i++)
		if (found->inputs[i].file)
			found->inputs[kept++] = found->inputs[i];
	found->count = kept;
	free(list);
}

/* Removes repeated names. Renames files whose names became equal by cleaning. True if paths have changed. */
static bool single_out(struct xc_inputs *found)
{
	const char *path = ""; /* of the previous one, before it was renamed */
	size_t kept = 0;
	unsigned same = 1;
	bool renamed = false;
	for (size_t i = 0; i < found->count; i++) {
		struct xc_input *to = &found->inputs[kept];
		const struct xc_input input = found->inputs[i], *last = kept ? to - 1 : NULL;
		if (last && !strcmp(last->file, input.file))
			continue;
		*to = input;
		same = !strcmp(path, input.path) ? same + 1 : 1;
		path = input.path;
		if (same > 1)
			to->path = xc_arena_printf(&found->arena, "%s (%u)", input.path, same);
		renamed = renamed || same > 1;
		kept++;
	}
	found->count = kept;
	return renamed;
}

static void put_in_order(struct xc_inputs *found)
{
	if (found->note_count)
		qsort(found->notes, found->note_count, sizeof *found->notes, xc_text_order);
	if (!found->count)
		return;
	qsort(found->inputs, found->count, sizeof *found->inputs, by_path);
	drop_aliases(found);
	while (single_out(found)) /* a new name may collide with another one */
		qsort(found->inputs, found->count, sizeof *found->inputs, by_path);
}

static void leave(void *key)
{
	(void)key; /* the arena owns it */
}

struct xc_error *xc_inputs_find(const char *const *operands, size_t count, struct xc_inputs **inputs_out)
{
	struct search s = {.found = xc_alloc(sizeof *s.found)};
	struct xc_error *err = NULL;
	for (size_t i = 0; i < count && !err; i++)
		err = read_operand(&s, operands[i]);
	/* makes the choice between two names of a directory independent of their order */
	xc_namelist_settle(&s.given);
	xc_namelist_settle(&s.listed);
	share(&s, &s.given);
	share(&s, &s.listed);
	for (size_t i = 0; i < s.given.count && !err; i++)
		err = take_name(&s, s.given.names[i], false);
	for (size_t i = 0; i < s.listed.count && !err; i++)
		take_listed(&s, s.listed.names[i]);
	tdestroy(s.searched, leave);
	xc_namelist_fini(&s.given);
	xc_namelist_fini(&s.listed);
	if (err) {
		xc_inputs_free(s.found);
		return err;
	}
	put_in_order(s.found);
	*inputs_out = s.found;
	return NULL;
}

char *xc_inputs_shared(const struct xc_inputs *inputs)
{
	const char *first = inputs->count ? inputs->inputs[0].file : "";
	size_t len = strlen(first);
	for (size_t i = 0; i < inputs->count; i++) {
		const char *file = inputs->inputs[i].file;
		size_t same = 0, n = 0;
		for (; same < len && file[same] == first[same]; same++)
			if (first[same] == '/')
				n = same + 1;
		len = n;
	}
	return xc_asprintf("%.*s", (int)(len > 1 ? len - 1 : len), first);
}

void xc_inputs_free(struct xc_inputs *inputs)
{
	if (!inputs)
		return;
	free(inputs->inputs);
	free(inputs->notes);
	free(inputs->directories);
	xc_arena_fini(&inputs->arena);
	free(inputs);
}
