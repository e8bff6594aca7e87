/* silent: a server and its client, in a mount namespace. */
#include "silent.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"

/* ---- the file system ---- */

static void reply_error(int fuse, const struct fuse_in_header *to, int error)
{
	const struct fuse_out_header head = {.len = sizeof head, .error = error, .unique = to->unique};
	if (write(fuse, &head, sizeof head) < 0)
		_exit(2);
}

static void reply(int fuse, const struct fuse_in_header *to, const void *bytes, size_t size)
{
	char packet[512];
	const struct fuse_out_header head = {.len = (uint32_t)(sizeof head + size), .unique = to->unique};
	memcpy(packet, &head, sizeof head);
	memcpy(packet + sizeof head, bytes, size);
	if (write(fuse, packet, sizeof head + size) < 0)
		_exit(2);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644, .nlink = 1, .size = 1 << 20};
}

static bool is_mute(enum silent how)
{
	return how == SILENT_MUTE || (how == SILENT_EMPTY && !access(scratch_path("hush"), F_OK));
}

static void answer(int fuse, const struct fuse_in_header *to, enum silent how)
{
	const struct fuse_init_out made = {.major = 7, .minor = 31, .max_write = 4096};
	const struct fuse_entry_out entry = {
		.nodeid = 2, .entry_valid = 1000, .attr_valid = 1000, .attr = attributes(2)};
	const struct fuse_attr_out about = {.attr_valid = 1000, .attr = attributes(to->nodeid)};
	const struct fuse_open_out opened = {.fh = 1};
	if (to->opcode == FUSE_INIT)
		reply(fuse, to, &made, sizeof made);
	else if (is_mute(how))
		return;
	else if (how == SILENT_EMPTY && to->opcode == FUSE_LOOKUP)
		reply_error(fuse, to, -ENOENT);
	else if (to->opcode == FUSE_LOOKUP)
		reply(fuse, to, &entry, sizeof entry);
	else if (to->opcode == FUSE_GETATTR)
		reply(fuse, to, &about, sizeof about);
	else if (to->opcode == FUSE_OPEN)
		reply(fuse, to, &opened, sizeof opened);
	else if (to->opcode != FUSE_READ && to->opcode != FUSE_FORGET && to->opcode != FUSE_INTERRUPT)
		reply_error(fuse, to, -ENOSYS);
}

_Noreturn static void serve(const char *at, enum silent how, int ready)
{
	static char packet[1 << 17];
	char options[128];
	const int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(SILENT_PATIENCE); /* then processes that wait for it can end */
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || mount("silence", at, "fuse", MS_NOSUID | MS_NODEV, options) || write(ready, "", 1) != 1)
		_exit(1);
	while (how == SILENT_DEAF)
		pause();
	while (read(fuse, packet, sizeof packet) > 0)
		answer(fuse, (const struct fuse_in_header *)packet, how);
	_exit(0);
}

/* ---- around the file system ---- */

static int with_silence(enum silent how, int (*body)(const char *at))
{
	const char *at = scratch_path("silent");
	int ready[2];
	char byte;
	mkdir(at, 0755);
	if (pipe(ready) || unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return SILENT_CANNOT_MOUNT;
	const pid_t server = fork();
	if (server == 0)
		serve(at, how, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		return SILENT_CANNOT_MOUNT;
	const int result = body(at);
	kill(server, SIGKILL); /* then all waiting processes get an answer */
	waitpid(server, NULL, 0);
	return result;
}

int silent_try(enum silent how, int (*body)(const char *at))
{
	int status;
	const pid_t pid = fork();
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL); /* cmocka's handlers jump into the tests */
		alarm(SILENT_PATIENCE);
		_exit(with_silence(how, body));
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}
