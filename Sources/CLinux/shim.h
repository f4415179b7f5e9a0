// Linux calls that Swift's Glibc module doesn't have.
#ifndef TANDEM_LINUX_SHIM_H
#define TANDEM_LINUX_SHIM_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

// renameat2(2) with RENAME_NOREPLACE (1) or no flags; glibc declares it for _GNU_SOURCE only.
static inline int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace) {
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, no_replace ? 1u : 0u);
}

#endif
