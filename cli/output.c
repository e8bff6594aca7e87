/* output: a FILE with its own write function, because stdio loses the errno of the failed write.
 *
 * The temporary file has no name where the file system supports that (O_TMPFILE), so not even SIGKILL leaves one
 * behind. Such a file cannot replace an existing file in one step: it is first linked under a temporary name. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/planted.h"
#include "core/io/tempfile.h"
#include "core/base/shared_status.h"

enum { DEFAULT_WIDTH = 100, LEAST_WIDTH = 40, MOST_WIDTH = 400, BUFFER = 1 << 16 };

/* The length of a colour code at `at`, which may continue past the last byte; 0: there is none. */
static size_t color_code(const char *at, size_t left)
{
	size_t len = 1;
	if (*at != '\033' || (left > 1 && at[1] != '['))
		return 0;
	for (len += left > 1; len < left && (at[len] == ';' || (at[len] >= '0' && at[len] <= '9'));)
		len++;
	return len == left ? len : at[len] == 'm' ? len + 1 : 0;
}

/* The bytes at the front that may be written as they are. C1 controls are two bytes of UTF-8: 0xc2, 0x80 to 0x9f. */
static size_t harmless(bool colored, unsigned char last, const char *bytes, size_t len)
{
	size_t at = 0;
	while (at < len) {
		const unsigned char c = (unsigned char)bytes[at], before = at ? (unsigned char)bytes[at - 1] : last;
		size_t one = xc_text_ascii_run(bytes + at, len - at);
		if (!one && (c == '\n' || c == '\t' || c > 0x7f))
			one = before != 0xc2 || c >= 0xa0;
		if (!one && colored)
			one = color_code(bytes + at, len - at);
		if (!one)
			break;
		at += one;
	}
	return at;
}

static ssize_t write_all(void *cookie, const char *bytes, size_t len)
{
	struct xc_output *output = cookie;
	size_t done = 0;
	atomic_store(&xc_shared_status()->restartable, false);
	while (done < len) {
		ssize_t count = write(output->fd, bytes + done, len - done);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			if (!output->failed)
				output->failed = errno;
			return done ? (ssize_t)done : -1;
		}
		done += (size_t)count;
	}
	return (ssize_t)done;
}

static ssize_t hold(void *cookie, const char *bytes, size_t len)
{
	struct xc_output *output = cookie;
	xc_text_addn(&output->held, bytes, len);
	return (ssize_t)len;
}

/* The last fence: writers escape what they quote, in the way of their format; what they forget is escaped here. */
static ssize_t write_text(void *cookie, const char *bytes, size_t len)
{
	struct xc_output *output = cookie;
	cookie_write_function_t *const out = output->appends ? hold : write_all;
	size_t good = output->binary ? len : harmless(output->colored, output->last, bytes, len);
	xc_auto(xc_text_fini) struct xc_text text = {0};
	const unsigned char last = output->last;
	output->last = len ? (unsigned char)bytes[len - 1] : last;
	if (good == len)
		return out(cookie, bytes, len);
	for (size_t at = 0; at < len;) {
		xc_text_addn(&text, bytes + at, good);
		at += good;
		if (at < len)
			xc_text_printf(&text, "\\x%02x", (unsigned char)bytes[at++]);
		good = harmless(output->colored, 0, bytes + at, len - at);
	}
	return out(cookie, text.bytes, text.len) == (ssize_t)text.len ? (ssize_t)len : -1;
}

static void attach(struct xc_output *output)
{
	output->file = fopencookie(output, "w", (cookie_io_functions_t){.write = write_text});
	if (!output->file)
		abort(); /* only for lack of memory */
	setvbuf(output->file, NULL, _IOFBF, BUFFER);
}

/* `mode` is for a file without a name: nobody else can open it before it is complete. */
static struct xc_error *open_temporary(struct xc_output *output, mode_t mode)
{
	const char *slash = strrchr(output->path, '/');
	output->directory = xc_asprintf("%.*s", slash == output->path ? 1 : (int)(slash - output->path), output->path);
	output->fd = open(output->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	/* File systems without O_TMPFILE return EOPNOTSUPP, kernels and overlays without it EISDIR or EINVAL. */
	if (output->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		const mode_t mask = umask(S_IRWXG | S_IRWXO);
		umask(mask);
		output->fd = xc_tempfile_open(output->path, 0600, &output->temporary);
		if (!output->replaces)
			output->access.st_mode = mode & ~mask;
	}
	if (output->fd < 0)
		return xc_error_errno(errno, "%s", output->path);
	return NULL;
}

static struct xc_error *open_directly(struct xc_output *output, int flags)
{
	output->fd = open(output->path, O_CLOEXEC | O_NOCTTY | flags);
	return output->fd < 0 ? xc_error_errno(errno, "%s", output->path) : NULL;
}

/* The step may write to it before and after; a rename would lose that. */
static bool is_step_summary(const struct stat *st)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	struct stat summary;
	return path && !stat(path, &summary) && summary.st_dev == st->st_dev && summary.st_ino == st->st_ino;
}

/* Standard output or standard error, if it is open on the same file; else -1. */
static int standard_descriptor(const struct stat *st)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat own;
		if (!fstat(fd, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino)
			return fd;
	}
	return -1;
}

/* "/dev/stdout", or the log file that it is redirected to: other output there, before and after, is kept. */
static struct xc_error *open_again(struct xc_output *output, int fd)
{
	output->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return output->fd < 0 ? xc_error_errno(errno, "%s", output->path) : NULL;
}

static struct xc_error *open_existing(struct xc_output *output, const char *path, const struct stat *st)
{
	const int standard = standard_descriptor(st);
	if (standard >= 0)
		return open_again(output, standard);
	struct xc_error *err = xc_planted_check(path);
	if (err)
		return err;
	if (S_ISDIR(st->st_mode))
		return xc_error_errno(EISDIR, "%s", output->path);
	if (!S_ISREG(st->st_mode))
		return open_directly(output, O_WRONLY);
	if (is_step_summary(st)) {
		output->before = (size_t)st->st_size;
		output->appends = true;
		return open_directly(output, O_RDWR | O_APPEND);
	}
	output->replaces = true;
	output->access = *st;
	return open_temporary(output, 0600);
}

static struct xc_error *open_new(struct xc_output *output, const char *path)
{
	struct xc_error *err = xc_planted_check(path);
	if (err && err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	return open_temporary(output, output->shared ? 0666 : 0600);
}

/* For a symbolic link the file that it points to is replaced, not the link. */
static void name_output(struct xc_output *output, const char *path, bool exists)
{
	char *real = exists ? realpath(path, NULL) : NULL;
	output->path = real ? real : strchr(path, '/') ? xc_strdup(path) : xc_asprintf("./%s", path);
}

struct xc_error *xc_output_open(struct xc_output *output, const char *path, bool shared)
{
	struct stat st;
	*output = (struct xc_output){.fd = STDOUT_FILENO, .shared = shared};
	if (path && strcmp(path, "-") != 0) {
		const bool exists = stat(path, &st) == 0;
		name_output(output, path, exists);
		struct xc_error *err = exists ? open_existing(output, path, &st) : open_new(output, path);
		if (err) {
			xc_output_abandon(output);
			return err;
		}
	}
	attach(output);
	return NULL;
}

void xc_output_unshare(struct xc_output *output)
{
	output->shared = false;
}

static bool set_access(const struct xc_output *output)
{
	if (!output->shared)
		return fchmod(output->fd, 0600) == 0;
	if (output->replaces)
		xc_tempfile_copy_owner(output->fd, &output->access);
	else if (output->access.st_mode)
		return fchmod(output->fd, output->access.st_mode) == 0;
	return true;
}

static struct xc_error *put_in_place(struct xc_output *output)
{
	if (!set_access(output))
		return xc_error_errno(errno, "%s", output->path);
	if (!output->temporary && xc_tempfile_link(output->fd, output->path, &output->temporary) < 0)
		return xc_error_errno(errno, "%s", output->path);
	if (xc_tempfile_rename(&output->temporary, output->path) < 0)
		return xc_error_errno(errno, "%s", output->path);
	return NULL;
}

static off_t size_of(int fd)
{
	struct stat st;
	return fstat(fd, &st) < 0 ? -1 : st.st_size;
}

/* Start on a new line. A partial write is removed, unless another process has appended since. */
static void append_held(struct xc_output *output)
{
	const off_t before = size_of(output->fd);
	struct xc_text text = {0};
	char last = '\n';
	if (before > 0 && pread(output->fd, &last, 1, before - 1) == 1 && last != '\n')
		xc_text_char(&text, '\n');
	xc_text_addn(&text, output->held.bytes, output->held.len);
	const ssize_t done = write_all(output, text.bytes, text.len);
	if (output->failed && done > 0 && size_of(output->fd) == before + done && ftruncate(output->fd, before))
		output->failed = errno;
	xc_text_fini(&text);
}

struct xc_error *xc_output_error(const struct xc_output *output)
{
	if (!output->failed)
		return NULL;
	return xc_error_errno(output->failed, "%s", output->path ? output->path : "standard output");
}

bool xc_output_unread(const struct xc_output *output)
{
	return output->failed == EPIPE;
}

struct xc_error *xc_output_commit(struct xc_output *output)
{
	struct xc_error *err = NULL;
	fflush(output->file);
	if (output->held.len)
		append_held(output);
	if ((err = xc_output_error(output)) || (output->directory && (err = put_in_place(output)))) {
		xc_output_abandon(output);
		return err;
	}
	fclose(output->file);
	output->file = NULL;
	/* Network file systems report a full disk only on close. Standard output itself stays open: an export may go
	 * there too. */
	int fd = output->path ? output->fd : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	output->fd = -1;
	if (fd < 0 || close(fd) < 0)
		err = xc_error_errno(errno, "%s", output->path ? output->path : "standard output");
	xc_output_abandon(output);
	return err;
}

void xc_output_abandon(struct xc_output *output)
{
	if (output->file)
		fclose(output->file);
	if (output->path && output->fd >= 0)
		close(output->fd);
	xc_tempfile_remove(&output->temporary);
	free(output->path);
	free(output->directory);
	xc_text_fini(&output->held);
	*output = (struct xc_output){.fd = -1, .failed = output->failed};
}

bool xc_output_color(const struct xc_output *output, const char *when)
{
	if (when && strcmp(when, "auto") != 0)
		return strcmp(when, "always") == 0;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (no_color && *no_color)
		return false;
	return isatty(output->fd) && term && strcmp(term, "dumb") != 0;
}

unsigned xc_output_width(const struct xc_output *output)
{
	struct winsize size;
	if (!isatty(output->fd) || ioctl(output->fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return DEFAULT_WIDTH;
	return size.ws_col < LEAST_WIDTH ? LEAST_WIDTH : size.ws_col > MOST_WIDTH ? MOST_WIDTH : size.ws_col;
}

bool xc_output_is_terminal(const struct xc_output *output)
{
	return !output->path && isatty(output->fd);
}

/* Control characters do not pass the file (xc_output). */
void xc_output_clear(const struct xc_output *output)
{
	static const char home_and_clear[] = "\033[H\033[2J";
	(void)!write(output->fd, home_and_clear, sizeof home_and_clear - 1);
}
