/* corefd: opens the file with O_PATH first, which has no side effects, then reopens the same file for reading. Without
 * /proc it is reopened by name, and compared afterwards. */
#include "batch/input/corefd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/opener.h"

enum {
	LOOK = O_PATH | O_CLOEXEC,
	READ = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
};

/* Errors caused by what is at the name; all others are caused by this process or machine. */
static bool of_the_name(int number)
{
	return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ENAMETOOLONG || number == EXDEV ||
	       number == ENXIO || number == ENODEV || number == EISDIR;
}

static struct xc_corefd refused(int number)
{
	return (struct xc_corefd){.fd = -1, .why = strerror(number), .hindered = !of_the_name(number)};
}

/* It may have been replaced by a link to another file. */
static bool is_same(const struct xc_input *input, const struct stat *st)
{
	return !input->ino || (input->ino == st->st_ino && input->dev == st->st_dev);
}

static int read_seen(int seen, const char *file)
{
	const int fd = xc_opener_reopen(seen);
	return fd < 0 && (errno == ENOENT || errno == ENOTDIR) ? open(file, READ) : fd;
}

struct xc_corefd xc_corefd_open(const struct xc_input *input)
{
	static const struct xc_corefd special = {.fd = -1, .why = "not a regular file"};
	static const struct xc_corefd exchanged = {
		.fd = -1, .why = "the file was replaced after it was listed", .hindered = true};
	struct stat st;
	const int seen = open(input->file, LOOK);
	if (seen < 0)
		return refused(errno);
	const bool regular = !fstat(seen, &st) && S_ISREG(st.st_mode);
	const int fd = regular ? read_seen(seen, input->file) : -1;
	const int number = errno;
	close(seen);
	if (!regular)
		return special;
	if (fd < 0)
		return refused(number);
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_same(input, &st))
		return (struct xc_corefd){.fd = fd};
	close(fd);
	return S_ISREG(st.st_mode) ? exchanged : special;
}
