#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

// Each function attempts an action that media processing doesn't require, and reverts it if possible.

// Returns `problem` if it means that the action was denied. Returns 0 for other errors, which occur only if the
// action was permitted.
static int refusal(int problem) {
    return problem == EPERM || problem == EACCES || problem == ENOSYS || problem == EAFNOSUPPORT ? problem : 0;
}

static int done(long result) {
    if (result < 0) return refusal(errno);
    if (result > 2) close((int)result);
    return 0;
}

static int of_process(int process, const char *name) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return refusal(errno);
    ssize_t got = read(file, &byte, 1);
    int problem = errno;
    close(file);
    return got < 0 ? problem : 0;
}

static int read_file(const char *path, int process) { return (void)process, done(open(path, O_RDONLY | O_CLOEXEC)); }
static int write_file(const char *path, int process) { return (void)process, done(open(path, O_WRONLY | O_CLOEXEC)); }
static int list_folder(const char *path, int process) {
    (void)path, (void)process;
    return done(open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
static int make_file(const char *path, int process) {
    (void)process;
    char other[4200];
    snprintf(other, sizeof other, "%s.made", path);
    int file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) unlink(other);
    return done(file);
}
static int link_file(const char *path, int process) {
    (void)process;
    char other[4200];
    snprintf(other, sizeof other, "%s.linked", path);
    int result = symlink(path, other);
    if (result == 0) unlink(other);
    return done(result);
}
static int remove_file(const char *path, int process) { return (void)process, done(unlink(path)); }
static int change_mode(const char *path, int process) { return (void)process, done(chmod(path, 0600)); }
static int set_attribute(const char *path, int process) {
    return (void)process, done(setxattr(path, "user.tandem.try", "", 0, 0));
}
static int make_device(const char *path, int process) {
    (void)process;
    char other[4200];
    snprintf(other, sizeof other, "%s.pipe", path);
    int result = mknod(other, S_IFIFO | 0600, 0);
    if (result == 0) unlink(other);
    return done(result);
}
static int open_device(const char *path, int process) {
    (void)path, (void)process;
    return done(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
}

static int connect_to(int family, int type, const struct sockaddr *address, socklen_t size) {
    int file = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (file < 0) return errno;
    int result = address ? connect(file, address, size) : 0;
    int problem = errno;
    close(file);
    return result == 0 ? 0 : refusal(problem);
}
static int tcp(const char *path, int process) {
    (void)path, (void)process;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to(AF_INET, SOCK_STREAM, (struct sockaddr *)&address, sizeof address);
}
static int udp(const char *path, int process) {
    (void)path, (void)process;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect_to(AF_INET, SOCK_DGRAM, (struct sockaddr *)&address, sizeof address);
}
static int listen_tcp(const char *path, int process) {
    (void)path, (void)process;
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return errno;
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int result = bind(file, (struct sockaddr *)&address, sizeof address), problem = errno;
    close(file);
    return result == 0 ? 0 : refusal(problem);
}
static int unix_path(const char *path, int process) {
    (void)process;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return connect_to(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&address, sizeof address);
}
static int unix_abstract(const char *path, int process) {
    (void)path, (void)process;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0tandem"};
    return connect_to(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&address, sizeof address);
}
static int netlink(const char *path, int process) {
    return (void)path, (void)process, connect_to(AF_NETLINK, SOCK_RAW, NULL, 0);
}
static int packets(const char *path, int process) {
    return (void)path, (void)process, connect_to(AF_PACKET, SOCK_RAW, NULL, 0);
}
static int raw(const char *path, int process) {
    (void)path, (void)process;
    return done(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
}
static int pair(const char *path, int process) {
    (void)path, (void)process;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int send_signal(const char *path, int process) { return (void)path, done(kill(process, 0)); }
static int send_thread_signal(const char *path, int process) {
    return (void)path, done(syscall(SYS_tgkill, process, process, 0));
}
static int queue_signal(const char *path, int process) {
    (void)path;
    union sigval value = {.sival_int = 0};
    return done(sigqueue(process, 0, value));
}
static int own_signal(const char *path, int process) {
    (void)path;
    // The kernel would send SIGIO for arriving data to the other process.
    int ends[2];
    if (pipe(ends) != 0) return errno;
    int result = fcntl(ends[0], F_SETOWN, process), problem = errno;
    close(ends[0]);
    close(ends[1]);
    return result == 0 ? 0 : problem;
}
static int pidfd(const char *path, int process) { return (void)path, done(syscall(434 /* pidfd_open */, process, 0)); }
static int trace(const char *path, int process) {
    (void)path, (void)process;
    // The process id doesn't exist, since tracing a process can't be reverted.
    return done(ptrace(PTRACE_SEIZE, 0x3fffffff, NULL, NULL));
}
static int read_memory(const char *path, int process) {
    (void)path;
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)&tandem_attempt_at, 1};
    return done(process_vm_readv(process, &here, 1, &there, 1, 0));
}
static int limit_other(const char *path, int process) {
    (void)path;
    return done(syscall(SYS_prlimit64, process, RLIMIT_NOFILE, NULL, NULL));
}
static int schedule_other(const char *path, int process) { return (void)path, done(setpriority(PRIO_PROCESS, (id_t)process, 0)); }
static int proc_environment(const char *path, int process) { return (void)path, of_process(process, "environ"); }
static int proc_command(const char *path, int process) { return (void)path, of_process(process, "cmdline"); }
static int proc_memory(const char *path, int process) { return (void)path, of_process(process, "maps"); }
static int proc_status(const char *path, int process) { return (void)path, of_process(process, "status"); }
static int proc_files(const char *path, int process) {
    (void)path;
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/fd", process);
    return done(open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
static int proc_mounts(const char *path, int process) { return (void)path, (void)process, done(open("/proc/version", O_RDONLY | O_CLOEXEC)); }

static int start_process(const char *path, int process) {
    (void)path, (void)process;
    pid_t child = fork();
    if (child < 0) return errno;
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return 0;
}
static int execute(const char *path, int process) {
    (void)path, (void)process;
    // The file doesn't exist, since a successful call would replace this process.
    char *const words[] = {"x", NULL};
    return done(execve("/nonexistent", words, NULL));
}
static int new_namespace(const char *path, int process) { return (void)path, (void)process, done(unshare(CLONE_NEWUSER)); }
static int mount_something(const char *path, int process) {
    return (void)path, (void)process, done(mount("none", "/nonexistent", "tmpfs", 0, NULL));
}
static int change_root(const char *path, int process) { return (void)path, (void)process, done(chroot("/")); }
static int host_name(const char *path, int process) {
    (void)path, (void)process;
    char name[128] = "";
    return gethostname(name, sizeof name) == 0 ? done(sethostname(name, strlen(name))) : errno;
}
static int become_root(const char *path, int process) {
    (void)path, (void)process;
    return getuid() == 0 || setuid(0) == 0 || setresuid(0, 0, 0) == 0 ? 0 : EPERM;
}
static int have_rights(const char *path, int process) {
    (void)path, (void)process;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    if (syscall(SYS_capget, &header, data) != 0) return errno;
    return (data[0].permitted | data[0].effective | data[1].permitted | data[1].effective) != 0 ? 0 : EPERM;
}
static int new_privileges(const char *path, int process) {
    return (void)path, (void)process, prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}
static int bpf(const char *path, int process) {
    (void)path, (void)process;
    uint64_t nothing[16] = {0};
    return done(syscall(SYS_bpf, 0, nothing, sizeof nothing));
}
static int perf(const char *path, int process) {
    (void)path, (void)process;
    uint64_t nothing[16] = {0};
    return done(syscall(SYS_perf_event_open, nothing, 0, -1, -1, 0));
}
static int faults(const char *path, int process) { return (void)path, (void)process, done(syscall(SYS_userfaultfd, 1)); }
static int keys(const char *path, int process) { return (void)path, (void)process, done(syscall(SYS_keyctl, 0, -3, 0, 0, 0) < 0 ? -1 : 0); }
static int add_key_to(const char *path, int process) {
    (void)path, (void)process;
    return done(syscall(SYS_add_key, "user", "tandem", "x", 1, -2) < 0 ? -1 : 0);
}
static int uring(const char *path, int process) {
    (void)path, (void)process;
    uint64_t nothing[32] = {0};
    return done(syscall(425 /* io_uring_setup */, 1, nothing));
}
static int kexec(const char *path, int process) {
    (void)path, (void)process;
    return done(syscall(SYS_kexec_load, 0, 0, NULL, 0));
}
static int module(const char *path, int process) {
    (void)path, (void)process;
    return done(syscall(SYS_init_module, NULL, 0, ""));
}
static int by_handle(const char *path, int process) {
    (void)path, (void)process;
    uint64_t handle[4] = {8, 0, 0, 0};
    return done(syscall(SYS_open_by_handle_at, AT_FDCWD, handle, O_RDONLY));
}
static int memory_file(const char *path, int process) { return (void)path, (void)process, done(syscall(SYS_memfd_create, "x", 1u)); }
static int type_ahead(const char *path, int process) {
    (void)path, (void)process;
    return done(ioctl(0, TIOCSTI, ""));
}
static int clock_setting(const char *path, int process) {
    (void)path, (void)process;
    return done(syscall(SYS_clock_settime, 9999, NULL));
}
static int kernel_log(const char *path, int process) { return (void)path, (void)process, done(syscall(SYS_syslog, 10, NULL, 0) < 0 ? -1 : 0); }
static int core_dump(const char *path, int process) {
    (void)path, (void)process;
    struct rlimit bounds;
    return getrlimit(RLIMIT_CORE, &bounds) == 0 && bounds.rlim_max == 0 ? EPERM : 0;
}

#define CALLS TANDEM_SYSTEM_CALLS
static const struct tandem_attempt attempts[] = {
    {"read a file without a passed descriptor", read_file, TANDEM_FILES},
    {"write to a file without a passed descriptor", write_file, TANDEM_FILES},
    {"list a folder", list_folder, TANDEM_FILES},
    {"create a file", make_file, TANDEM_FILES},
    {"create a link", link_file, TANDEM_FILES},
    {"change a file's mode", change_mode, CALLS},
    {"set a file's attributes", set_attribute, CALLS},
    {"create a named pipe", make_device, TANDEM_FILES},
    {"open the terminal", open_device, TANDEM_FILES},
    {"connect by TCP", tcp, CALLS | TANDEM_NETWORK},
    {"send by UDP", udp, CALLS | TANDEM_NETWORK},
    {"listen by TCP", listen_tcp, CALLS},
    {"connect to a Unix socket by its path", unix_path, CALLS},
    {"connect to an abstract Unix socket", unix_abstract, CALLS},
    {"remove a file", remove_file, TANDEM_FILES},
    {"open a netlink socket", netlink, CALLS},
    {"open a packet socket", packets, CALLS},
    {"open a raw socket", raw, CALLS},
    {"create a socket pair", pair, CALLS},
    {"send a signal to the supervisor", send_signal, CALLS},
    {"send the supervisor's thread a signal", send_thread_signal, CALLS},
    {"queue a signal for the supervisor", queue_signal, CALLS},
    {"have the kernel send the supervisor a signal", own_signal, CALLS},
    {"open the supervisor's process", pidfd, CALLS},
    {"trace a process", trace, CALLS},
    {"read the supervisor's memory", read_memory, CALLS},
    {"read the supervisor's limits", limit_other, CALLS},
    {"change the supervisor's priority", schedule_other, CALLS},
    {"read the supervisor's environment", proc_environment, TANDEM_OTHER_PROCESSES},
    {"read the supervisor's command line", proc_command, TANDEM_OTHER_PROCESSES},
    {"read the supervisor's memory map", proc_memory, TANDEM_OTHER_PROCESSES},
    {"read the supervisor's status", proc_status, TANDEM_OTHER_PROCESSES},
    {"list the supervisor's files", proc_files, TANDEM_OTHER_PROCESSES},
    {"read system information in /proc", proc_mounts, TANDEM_OTHER_PROCESSES},
    {"start a process", start_process, CALLS},
    {"execute a program", execute, CALLS},
    {"create a namespace", new_namespace, CALLS},
    {"mount a file system", mount_something, CALLS},
    {"change the root directory", change_root, CALLS},
    {"set the host name", host_name, CALLS},
    {"become root", become_root, TANDEM_USER},
    {"hold a capability", have_rights, TANDEM_CAPABILITIES},
    {"gain privileges by a program", new_privileges, TANDEM_NEW_PRIVILEGES},
    {"load a BPF program", bpf, CALLS},
    {"count the processor's events", perf, CALLS},
    {"handle page faults", faults, CALLS},
    {"read keys", keys, CALLS},
    {"add a key", add_key_to, CALLS},
    {"set up io_uring", uring, CALLS},
    {"load a kernel", kexec, CALLS},
    {"load a kernel module", module, CALLS},
    {"open a file by its handle", by_handle, CALLS},
    {"create an anonymous file (memfd)", memory_file, CALLS},
    {"type into a terminal", type_ahead, CALLS},
    {"set the clock", clock_setting, CALLS},
    {"read the kernel's log", kernel_log, CALLS},
    {"write a core dump", core_dump, 0},
};

const struct tandem_attempt *tandem_attempt_at(int number) {
    return number >= 0 && (size_t)number < sizeof attempts / sizeof *attempts ? &attempts[number] : NULL;
}
