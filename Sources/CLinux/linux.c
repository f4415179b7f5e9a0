#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace) {
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, no_replace ? 1u : 0u);
}

int tandem_exchange(int folder, const char *first, const char *second) {
    return (int)syscall(SYS_renameat2, folder, first, folder, second, 2u);
}

int tandem_sync_file_system(int descriptor) {
    return syncfs(descriptor);
}

int64_t tandem_copy_range(int from, int64_t *from_offset, int to, int64_t *to_offset, uint64_t length) {
    return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, (size_t)length, 0u);
}

int tandem_begin_writeback(int descriptor, int64_t offset, int64_t length) {
    return sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

int tandem_open_beneath(int folder, const char *path, int flags) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = (uint64_t)(unsigned)flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int tandem_fsetxattr(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

long tandem_getxattr(const char *path, const char *name, void *value, size_t size) {
    return (long)getxattr(path, name, value, size);
}

int tandem_is_open_for_writing(int descriptor) {
    // A process that opens the file for writing while the lease exists waits, and this process receives SIGIO, which would end it.
    struct sigaction action;
    if (sigaction(SIGIO, NULL, &action) == 0 && action.sa_handler == SIG_DFL) signal(SIGIO, SIG_IGN);
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int tandem_is_remote_file_system(const char *folder) {
    struct statfs status;
    if (statfs(folder, &status) != 0) return 1;
    switch ((uint32_t)status.f_type) {
    case 0x6969:      // NFS
    case 0xfe534d42:  // SMB 2 and 3
    case 0xff534d42:  // CIFS
    case 0x517b:      // SMB
    case 0x65735546:  // FUSE
    case 0x01021997:  // 9P
    case 0x6a656a63:  // virtual shared folders of VirtualBox and others
    case 0x786f4256:
    case 0x00c36400:  // Ceph
    case 0x0bd00bd0:  // Lustre
    case 0x47504653:  // GPFS
    case 0x19830326:  // BeeGFS
    case 0x5346414f:  // AFS
    case 0x73757245:  // Coda
    case 0x01161970:  // GFS2
    case 0x7461636f:  // OCFS2
        return 1;
    default:
        return 0;
    }
}

void tandem_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

enum { kept = 32 << 20, calls_between_trims = 32 };

void tandem_tune_allocator(int keeps) {
    static atomic_uint calls;
    mallopt(M_MMAP_THRESHOLD, keeps ? 2 << 20 : 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, keeps ? kept : 128 * 1024);
    if (!keeps)
        malloc_trim(0);
    else if (atomic_fetch_add(&calls, 1) % calls_between_trims == calls_between_trims - 1)
        malloc_trim(kept);
}

void tandem_clear_allocations(int clears) { mallopt(M_PERTURB, clears ? 0xff : 0); }

void tandem_widen_heaps(void) {
    // Slightly less than the maximum size of a thread's heap. Without it, each page requires a system call.
    mallopt(M_TOP_PAD, 60 << 20);
}

// MARK: Resources

static void *wait_for_post(void *may_end) {
    while (sem_wait(may_end) != 0) continue;
    return NULL;
}

int tandem_try_threads(int most) {
    enum { MOST = 64 };
    pthread_t threads[MOST];
    pthread_attr_t small;
    sem_t may_end;
    if (sem_init(&may_end, 0, 0) != 0 || pthread_attr_init(&small) != 0) return 0;
    pthread_attr_setstacksize(&small, 256 * 1024);
    int count = 0;
    while (count < most && count < MOST && pthread_create(&threads[count], &small, wait_for_post, &may_end) == 0) count++;
    for (int i = 0; i < count; i++) sem_post(&may_end);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&small);
    sem_destroy(&may_end);
    return count;
}

// MARK: Signals

static int signal_pipe[2] = {-1, -1};

// Writes the signal's number to the pipe. A handler may only call async-signal-safe functions.
static void note_signal(int number) {
    int before = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t done = write(signal_pipe[1], &byte, 1);
    (void)done;
    errno = before;
}

int tandem_watch_signals(void) {
    if (signal_pipe[0] < 0 && pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGINT, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0) return -1;
    // An ignored SIGHUP remains ignored, as nohup requires.
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
    return signal_pipe[0];
}

// MARK: Messages

// Creates a pair of connected stream sockets, which preserve the order of bytes and can transfer descriptors.
static int open_sockets(int pair[2]) { return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair); }

static int open_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

enum { MOST_DESCRIPTORS = 64 };

long tandem_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count) {
    if (count > MOST_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = size};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * MOST_DESCRIPTORS)];
    } control;
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    }
    return (long)sendmsg(socket, &message, MSG_NOSIGNAL);
}

long tandem_receive(int socket, void *bytes, size_t size, int *descriptors, size_t *count, int waits) {
    struct iovec vector = {.iov_base = bytes, .iov_len = size};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * MOST_DESCRIPTORS)];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    size_t room = *count, found = 0;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (waits ? 0 : MSG_DONTWAIT));
    if (got >= 0) {
        for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
            if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
            size_t here = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < here; i++) {
                int descriptor;
                memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
                if (found < room)
                    descriptors[found++] = descriptor;
                else
                    close(descriptor);
            }
        }
    }
    *count = found;
    return (long)got;
}

// MARK: Libraries

static int note_library(struct dl_phdr_info *info, size_t size, void *stream) {
    (void)size;
    char *path = info->dlpi_name && *info->dlpi_name ? realpath(info->dlpi_name, NULL) : NULL;
    if (path) fprintf(stream, "%s\n", path);
    free(path);
    return 0;
}

char *tandem_loaded_libraries(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return NULL;
    dl_iterate_phdr(note_library, stream);
    return fclose(stream) == 0 ? text : NULL;
}

char *tandem_library_of(const void *symbol) {
    Dl_info info;
    return dladdr(symbol, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
}

// MARK: Workers

int tandem_spawn_without(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

static char *worker_environment[] = {"SWIFT_BACKTRACE=enable=no", "SVT_LOG=1", "LC_ALL=C", NULL};

char **tandem_worker_environment(void) { return worker_environment; }

void tandem_fill_standard_files(void) {
    for (int file = 0; file <= 2; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == 0 ? O_RDONLY : O_WRONLY) < 0) return;
}

int tandem_open_worker_line(int socket[2], int errors[2]) {
    if (open_sockets(socket) != 0) return -1;
    if (open_pipe(errors) == 0) return 0;
    int problem = errno;
    close(socket[0]);
    close(socket[1]);
    errno = problem;
    return -1;
}

static int set_thread_right(int number, int is_held) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, rights) != 0) return 0;
    unsigned *held = &rights[CAP_TO_INDEX(number)].effective, bit = CAP_TO_MASK(number);
    if (!(*held & bit) == !is_held) return 0;
    *held ^= bit;
    return syscall(SYS_capset, &header, rights) == 0;
}

int tandem_drop_priority(void) { return set_thread_right(CAP_SYS_NICE, 0); }

void tandem_restore_priority(void) { set_thread_right(CAP_SYS_NICE, 1); }

void tandem_await_exit(pid_t process, int milliseconds) {
    struct pollfd exit = {syscall(SYS_pidfd_open, process, 0), POLLIN, 0};
    poll(&exit, 1, milliseconds);
    if (exit.fd >= 0) close(exit.fd);
}

int tandem_processor_count(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
