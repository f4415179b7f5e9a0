#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: Files

// Landlock rights that may be missing in the kernel headers of the build.
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEVICE (1ull << 15)
#define BIND_TCP 1ull
#define CONNECT_TCP 2ull
#define ABSTRACT_SOCKETS 1ull
#define SIGNALS 2ull

#define OF_FILES (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE)

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

int tandem_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static void allow(int rules, const char *text, uint64_t rights, int stays) {
    int path = open(text, O_PATH | O_CLOEXEC);
    if (path < 0) return;
    struct stat status;
    // A rule for a file is rejected if it contains rights that apply only to folders.
    int is_folder = fstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    struct landlock_path_beneath_attr beneath = {.allowed_access = is_folder ? rights : rights & OF_FILES,
                                                 .parent_fd = path};
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    // A rule applies to an inode. The kernel recreates inodes of /proc unless a descriptor refers to them.
    if (!stays) close(path);
}

static int lock_files(const struct tandem_sandbox *wanted) {
    int version = tandem_landlock_version();
    if (version < 1) return -1;
    struct ruleset handled = {.files = (1ull << 13) - 1};
    if (version >= 2) handled.files |= REFER;
    if (version >= 3) handled.files |= TRUNCATE;
    if (version >= 5) handled.files |= IOCTL_DEVICE;
    if (version >= 4) handled.network = wanted->network ? BIND_TCP : BIND_TCP | CONNECT_TCP;
    if (version >= 6) handled.scopes = ABSTRACT_SOCKETS | SIGNALS;
    size_t size = version >= 6 ? sizeof handled : version >= 4 ? offsetof(struct ruleset, scopes) : sizeof(uint64_t);
    int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, size, 0);
    if (rules < 0) return -1;
    uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    uint64_t writing = reading | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                       LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                       (version >= 3 ? TRUNCATE : 0);
    for (const char *const *path = wanted->readable; *path; path++)
        allow(rules, *path, reading, strncmp(*path, "/proc", 5) == 0);
    if (wanted->folder) allow(rules, wanted->folder, writing, 0);
    long result = syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return result == 0 ? 0 : -1;
}

// MARK: Capabilities

// Drops the bounding set, which requires CAP_SETPCAP, and the ambient set. `drop_rights` drops the other sets later.
static void drop_bounding_set(void) {
    for (int right = 0; right < 64; right++)
        if (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0 && errno == EINVAL) break;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    prctl(PR_SET_SECUREBITS,
          SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
              SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
          0, 0, 0);
}

static int holds_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    if (syscall(SYS_capget, &header, data) != 0) return 1;
    return (data[0].permitted | data[0].effective | data[0].inheritable | data[1].permitted | data[1].effective |
            data[1].inheritable) != 0;
}

static int drop_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    syscall(SYS_capset, &header, data);
    return holds_rights() ? -1 : 0;
}

static int change_user(unsigned user) {
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0) return -1;
    // After a change of user, a process can't read its own files in /proc unless it is dumpable.
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return getuid() == user && geteuid() == user && setuid(0) != 0 ? 0 : -1;
}

// MARK: System calls

// System calls that the loader, Dispatch, the C library, and reading, coding and writing media require. Landlock
// restricts the files that can be opened. None of these calls affects another process or the network.
static const char *const media_calls[] = {
    "access", "arch_prctl", "brk", "capget", "clock_getres", "clock_gettime", "clock_nanosleep", "close", "close_range",
    "dup", "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait",
    "eventfd", "eventfd2", "exit", "exit_group", "faccessat", "faccessat2", "fadvise64", "fallocate", "fdatasync",
    "fgetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futex", "futex_waitv", "getcpu", "getcwd", "getdents",
    "getdents64", "getegid", "geteuid", "getgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
    "getrlimit", "getrusage", "gettid", "gettimeofday", "getuid", "lseek", "lstat", "madvise", "membarrier", "mincore",
    "mkdir", "mkdirat", "mmap", "mprotect", "mremap", "msync", "munmap", "nanosleep", "newfstatat", "open", "openat",
    "openat2", "pause", "pipe", "pipe2", "poll", "ppoll", "pread64", "preadv", "preadv2", "pselect6", "pwrite64",
    "pwritev", "pwritev2", "read", "readlink", "readlinkat", "readv", "recvmsg", "rename", "renameat", "renameat2",
    "restart_syscall", "rmdir", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend",
    "rt_sigtimedwait", "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_getparam",
    "sched_getscheduler", "sched_yield", "select", "sendmsg", "set_robust_list", "set_tid_address", "sigaltstack",
    "stat", "statfs", "statx", "sync_file_range", "sysinfo", "time", "timerfd_create", "timerfd_gettime",
    "timerfd_settime", "times", "ugetrlimit", "uname", "unlink", "unlinkat", "write", "writev",
};

// System calls that fetching a URL requires, for name resolution and connections.
static const char *const network_calls[] = {
    "connect", "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "sendmmsg", "sendto", "setsockopt",
    "shutdown",
};

static int permit(scmp_filter_ctx filter, const char *name) {
    int number = seccomp_syscall_resolve_name(name);
    // The system call doesn't exist on this architecture.
    if (number < 0) return 0;
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
}

static int permit_where(scmp_filter_ctx filter, const char *name, struct scmp_arg_cmp what) {
    int number = seccomp_syscall_resolve_name(name);
    return number < 0 ? 0 : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &what);
}

static int fill(scmp_filter_ctx filter, int network) {
    int bad = 0;
    for (size_t i = 0; i < sizeof media_calls / sizeof *media_calls; i++) bad |= permit(filter, media_calls[i]);
    // Threads are permitted, processes aren't. seccomp can't inspect the flags of clone3; ENOSYS makes the C library
    // fall back to clone.
    bad |= permit_where(filter, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
    // libnuma treats ENOSYS as missing support for memory policies, and prints nothing.
    const int newer[] = {SCMP_SYS(clone3), SCMP_SYS(io_uring_setup), SCMP_SYS(get_mempolicy), SCMP_SYS(set_mempolicy)};
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (newer[i] >= 0) bad |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), newer[i], 0);
    // Signals to this process are permitted, since abort sends one.
    bad |= permit_where(filter, "tgkill", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
    bad |= permit_where(filter, "prlimit64", SCMP_A0(SCMP_CMP_EQ, 0));
    bad |= permit_where(filter, "sched_setaffinity", SCMP_A0(SCMP_CMP_EQ, 0));
    const int names[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, 0x53564d41};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bad |= permit_where(filter, "prctl", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)names[i]));
    // Permitted requests: terminal attributes (isatty), number of readable bytes, non-blocking mode, close-on-exec.
    const unsigned long requests[] = {TCGETS, FIONREAD, FIONBIO, FIOCLEX};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        bad |= permit_where(filter, "ioctl", SCMP_A1(SCMP_CMP_EQ, requests[i]));
    // F_SETOWN and similar commands, by which the kernel signals other processes, aren't permitted.
    const int commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        bad |= permit_where(filter, "fcntl", SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i]));
    if (!network) return bad;
    for (size_t i = 0; i < sizeof network_calls / sizeof *network_calls; i++) bad |= permit(filter, network_calls[i]);
    bad |= permit_where(filter, "socket", SCMP_A0(SCMP_CMP_EQ, AF_INET));
    bad |= permit_where(filter, "socket", SCMP_A0(SCMP_CMP_EQ, AF_INET6));
    return bad;
}

static int lock_calls(int network) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter) return -1;
    // Unlisted calls are denied. Calls of another architecture terminate the process.
    int bad = fill(filter, network) || seccomp_load(filter) != 0;
    seccomp_release(filter);
    return bad ? -1 : 0;
}

// MARK: Sandbox

static void limit(int resource) {
    struct rlimit none = {0, 0};
    setrlimit(resource, &none);
}

int tandem_enter_sandbox(const struct tandem_sandbox *wanted) {
    int lacking = 0;
    limit(RLIMIT_CORE);
    limit(RLIMIT_MSGQUEUE);
    limit(RLIMIT_MEMLOCK);
    if (wanted->folder && chdir(wanted->folder) != 0) return ~0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) lacking |= TANDEM_NEW_PRIVILEGES;
    // Landlock rules are created before the change of user, after which their paths may be inaccessible.
    struct tandem_sandbox rest = *wanted;
    if (wanted->folder) rest.folder = ".";
    int is_root = geteuid() == 0;
    drop_bounding_set();
    if (lock_files(&rest) != 0) lacking |= TANDEM_FILES | TANDEM_OTHER_PROCESSES;
    if (!wanted->own_processes_only) lacking |= TANDEM_OTHER_PROCESSES;
    if (is_root && (wanted->user == 0 || change_user(wanted->user) != 0)) lacking |= TANDEM_USER;
    if (drop_rights() != 0) lacking |= TANDEM_CAPABILITIES;
    if (lock_calls(wanted->network) != 0) lacking |= TANDEM_SYSTEM_CALLS;
    return lacking;
}
