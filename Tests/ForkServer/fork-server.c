// A fork server for programs that tests start thousands of times: ffmpeg and ffprobe of Debian load 200 libraries, tandem 150, and
// resolving their symbols takes up to 90 ms of processor time, more than probing a short file. This library is preloaded (LD_PRELOAD) into the
// unchanged program. The libraries are loaded once; each request forks, and the child enters the program's `main` with the
// arguments, environment, folder and output files of the request.
//
// The server listens on the abstract Unix socket FORK_SERVER_SOCKET, writes a byte to standard output when it is ready, and
// exits when standard input is closed. A request is a length (32 bits) and NUL-terminated strings: number of arguments, folder,
// file of standard output, file of standard error, arguments (the program's name first), environment. The reply is the wait
// status (32 bits).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Main(int, char **, char **);
typedef int StartMain(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

enum { MAX_CHILDREN = 64, MAX_REQUEST = 1 << 20 };

struct arguments {
    int count;
    char **values; // Followed by the environment, as `__libc_start_main` expects.
};

static int read_fully(int descriptor, void *buffer, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t n = read(descriptor, (char *)buffer + done, count - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        done += n;
    }
    return 0;
}

/// Reads a request; returns its strings, or NULL. The first string is the start of the allocated memory.
static char **read_request(int connection, int *count) {
    uint32_t length;
    if (read_fully(connection, &length, sizeof length) || length == 0 || length > MAX_REQUEST) return NULL;
    char *text = malloc(length);
    if (!text || read_fully(connection, text, length) || text[length - 1] != 0) return NULL;
    int strings = 0;
    for (uint32_t i = 0; i < length; i++) strings += text[i] == 0;
    char **result = calloc(strings + 3, sizeof *result);
    if (!result) return NULL;
    for (int i = 0; i < strings; i++, text += strlen(text) + 1) result[i] = text;
    *count = strings;
    return result;
}

/// Changes to the request's folder, redirects the standard streams, and returns the arguments.
static struct arguments enter(char **strings, int count) {
    int arguments = atoi(strings[0]);
    int input = open("/dev/null", O_RDONLY), output = open(strings[2], O_WRONLY), errors = open(strings[3], O_WRONLY);
    if (arguments < 1 || arguments > count - 4 || chdir(strings[1]) || dup2(input, 0) || dup2(output, 1) != 1 ||
        dup2(errors, 2) != 2)
        _exit(126);
    closefrom(3);
    // Arguments and environment are each terminated by a NULL pointer.
    char **values = calloc(count, sizeof *values);
    memcpy(values, strings + 4, arguments * sizeof *values);
    memcpy(values + arguments + 1, strings + 4 + arguments, (count - 4 - arguments) * sizeof *values);
    return (struct arguments){arguments, values};
}

/// Serves requests. Returns only in child processes.
static struct arguments serve(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    if (length > sizeof address) _exit(125);
    memcpy(address.sun_path + 1, name, strlen(name));
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (struct sockaddr *)&address, length) || listen(server, 64)) _exit(125);
    if (write(1, "", 1) != 1) _exit(125);
    close(1);
    struct pollfd polled[2 + MAX_CHILDREN] = {{.fd = 0, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    struct { pid_t process; int connection; } children[MAX_CHILDREN];
    int count = 0;
    for (;;) {
        polled[1].events = count < MAX_CHILDREN ? POLLIN : 0;
        if (poll(polled, 2 + count, -1) < 0) continue;
        if (polled[0].revents) _exit(0);
        for (int i = count - 1; i >= 0; i--) {
            int status;
            if (!polled[2 + i].revents || waitpid(children[i].process, &status, WNOHANG) <= 0) continue;
            if (write(children[i].connection, &status, sizeof status) < 0) { /* The client is gone. */ }
            close(children[i].connection);
            close(polled[2 + i].fd);
            count--;
            children[i] = children[count];
            polled[2 + i] = polled[2 + count];
        }
        if (!(polled[1].revents & POLLIN) || count == MAX_CHILDREN) continue;
        int connection = accept4(server, NULL, NULL, SOCK_CLOEXEC), strings;
        if (connection < 0) continue;
        char **request = read_request(connection, &strings);
        pid_t process = request && strings >= 5 ? fork() : -1;
        if (process == 0) return enter(request, strings);
        int descriptor = process > 0 ? syscall(SYS_pidfd_open, process, 0) : -1;
        if (descriptor < 0) {
            if (process > 0) { kill(process, SIGKILL); waitpid(process, NULL, 0); }
            close(connection);
        } else {
            children[count].process = process;
            children[count].connection = connection;
            polled[2 + count] = (struct pollfd){.fd = descriptor, .events = POLLIN};
            count++;
        }
        if (request) { free(request[0]); free(request); }
    }
}

int __libc_start_main(Main *main, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*at_exit)(void), void *stack) {
    StartMain *start = (StartMain *)dlsym(RTLD_NEXT, "__libc_start_main");
    const char *name = getenv("FORK_SERVER_SOCKET");
    struct arguments arguments = {argc, argv};
    if (name) {
        arguments = serve(name);
        // The dynamic linker has set it before.
        environ = arguments.values + arguments.count + 1;
        // A constructor of Swift's runtime has stored the arguments of the server.
        void (*override)(char **, int) = (void (*)(char **, int))dlsym(RTLD_DEFAULT, "_swift_stdlib_overrideUnsafeArgvArgc");
        if (override) override(arguments.values, arguments.count);
    }
    return start(main, arguments.count, arguments.values, init, fini, at_exit, stack);
}
