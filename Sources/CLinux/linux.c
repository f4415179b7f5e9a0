#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace) {
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, no_replace ? 1u : 0u);
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

void tandem_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

void tandem_tune_allocator(int keeps) {
    mallopt(M_MMAP_THRESHOLD, keeps ? 4 << 20 : 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, keeps ? 32 << 20 : 128 * 1024);
    if (!keeps) malloc_trim(0);
}

void tandem_widen_heaps(void) {
    // Just under the most that a thread's heap has; otherwise it grows by a page and a system call at a time.
    mallopt(M_TOP_PAD, 60 << 20);
}

// MARK: What there is room for

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

// All that a handler may do.
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
    // Who began with nohup wants to go on.
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, NULL);
    return signal_pipe[0];
}

// MARK: Messages

// Connected sockets that keep the order of bytes and carry descriptors.
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

long tandem_receive(int socket, void *bytes, size_t size, int *descriptors, size_t *count) {
    struct iovec vector = {.iov_base = bytes, .iov_len = size};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * MOST_DESCRIPTORS)];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    size_t room = *count, found = 0;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
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

// MARK: The first worker

static int argument_count;
static char **arguments;

// glibc calls constructors as main is called; Swift keeps copies alone.
__attribute__((constructor)) static void note_arguments(int count, char **values) {
    argument_count = count;
    arguments = values;
}

static char *worker_environment[] = {"SWIFT_BACKTRACE=enable=no", "SVT_LOG=1", "LC_ALL=C", NULL};

char **tandem_worker_environment(void) { return worker_environment; }

// Arguments and environment lie one after the other where the kernel put them, before the program's own path, whatever
// became of `environ` since. What this process was told may be secret, and a worker reads what strangers made.
static void forget_what_was_told(void) {
    char *start = arguments[0], *middle = start, *end = (char *)getauxval(AT_EXECFN);
    for (char **word = arguments; *word && *word == middle; word++) middle += strlen(*word) + 1;
    if (end < middle) end = middle;
    memset(start, 0, (size_t)(end - start));
    static const char name[] = "tandem\0worker";
    if ((size_t)(middle - start) >= sizeof name) memcpy(start, name, sizeof name);
    for (char **word = worker_environment; *word; word++) {
        size_t size = strlen(*word) + 1;
        if ((size_t)(end - middle) < size) break;
        memcpy(middle, *word, size);
        middle += size;
    }
    environ = worker_environment;
}

// A twin that can't become what it is to be ends: another worker is started then.
static void become_twin(int socket, int errors) {
    setpgid(0, 0);
    prctl(PR_SET_NAME, "tandem-worker", 0, 0, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    // First out of the way of what they are to be.
    int to = fcntl(socket, F_DUPFD, 10), words = fcntl(errors, F_DUPFD, 10), nothing = open("/dev/null", O_RDWR);
    if (to < 0 || words < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(words, 2) < 0 ||
        dup2(to, 3) < 0)
        _exit(1);
    if (syscall(SYS_close_range, 4u, ~0u, 0u) != 0)
        for (int other = 4; other < 1024; other++) close(other);
    forget_what_was_told();
}

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

int tandem_fork_twin(const char *const *commands, int *channel, int *errors) {
    if (argument_count < 2) return -1;
    while (*commands && strcmp(*commands, arguments[1]) != 0) commands++;
    // A folder's links: itself, its parent's name for it, and each folder in it.
    struct stat tasks;
    if (!*commands || stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3) return -1;
    int pair[2], words[2];
    if (tandem_open_worker_line(pair, words) != 0) return -1;
    pid_t twin = fork();
    if (twin == 0) {
        become_twin(pair[1], words[1]);
        return 0;
    }
    close(pair[1]);
    close(words[1]);
    if (twin < 0) {
        close(pair[0]);
        close(words[0]);
        return -1;
    }
    *channel = pair[0];
    *errors = words[0];
    return twin;
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

int tandem_give_up_priority(void) { return set_thread_right(CAP_SYS_NICE, 0); }

void tandem_take_back_priority(void) { set_thread_right(CAP_SYS_NICE, 1); }
