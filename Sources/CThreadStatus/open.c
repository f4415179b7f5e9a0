#define _GNU_SOURCE
#include "CThreadStatus.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_own;

void tandem_look_at_own_threads(void) { is_own = 1; }

__attribute__((visibility("default"))) int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    char own[64];
    if (is_own && strncmp(path, "/proc/", 6) == 0) {
        size_t digits = strspn(path + 6, "0123456789");
        if (digits > 0 && digits < 12 && strcmp(path + 6 + digits, "/stat") == 0) {
            snprintf(own, sizeof own, "/proc/self/task/%.*s/stat", (int)digits, path + 6);
            path = own;
        }
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
