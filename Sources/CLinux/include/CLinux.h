// Linux calls that Swift's Glibc module doesn't have. No system header with structures is included here: a structure
// would belong to whichever module happened to be compiled first.
#ifndef TANDEM_CLINUX_H
#define TANDEM_CLINUX_H

#include <stddef.h>
#include <spawn.h>
#include <stdint.h>

// renameat2(2) with RENAME_NOREPLACE, or without flags. 0, or -1 with errno.
int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace);

// copy_file_range(2): bytes copied, or -1 with errno. Both offsets move along.
int64_t tandem_copy_range(int from, int64_t *from_offset, int to, int64_t *to_offset, uint64_t length);

// sync_file_range(2): asks for writeback of a stretch of a file, and waits for none. 0, or -1 with errno.
int tandem_begin_writeback(int descriptor, int64_t offset, int64_t length);

// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS. A descriptor, or -1 with errno.
int tandem_open_beneath(int folder, const char *path, int flags);

// fsetxattr(2) and getxattr(2).
int tandem_fsetxattr(int descriptor, const char *name, const void *value, size_t size);
long tandem_getxattr(const char *path, const char *name, void *value, size_t size);

// So many threads allocate without waiting for each other. One is enough where media are read (8 % less memory on a 720p
// re-encode, no slower); where ten thousand jobs are planned on two threads, the second saves a sixth of the time.
void tandem_limit_arenas(int count);

// Big blocks straight from the system: frames go back to it when they are freed, and what is free now
// goes at once.
//
// Where a worker copies, makes stills or looks into files (`keeps`), it opens decoders again and again and keeps what they
// need: of a thousand short clips 40 times fewer pages had to be mapped again, a sixth of its time. What is remembered of a
// file may come to lie where a frame was, and the next frame no longer fits there: so what is free between is given back now
// and then (measured: a worker that made posters of 720p took 930 MiB in the end, where it needs 95), and larger frames are
// mapped by themselves (of 720p too, posters would take a tenth longer). Never where anything is encoded: x264 with B-frames
// and mbtree reads what it never wrote, and in memory that a job before it used the same job came out otherwise (measured: 5
// different outputs of 6).
void tandem_tune_allocator(int keeps);

// Heaps of threads are laid out as a whole, of which only what is used takes memory. Before threads allocate.
void tandem_widen_heaps(void);

// How many threads this process could have at once beside those it has, up to `most`; none of them is left. libdispatch
// waits for ever where it gets none.
int tandem_try_threads(int most);

// From when this returns on, each SIGINT and SIGTERM is a byte in a pipe, whatever the mask of the thread that takes it.
// Returns the end to read from, which doesn't block, or -1.
int tandem_watch_signals(void);

// sendmsg(2): some bytes, and descriptors with the first of them. Bytes sent, or -1 with errno.
long tandem_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count);

// recvmsg(2): bytes, and descriptors (closed on exec) where some came along. `*count` is room on entry, their number on
// return. Bytes received, 0 at the end, or -1 with errno: EAGAIN where nothing is there and `waits` is 0.
long tandem_receive(int socket, void *bytes, size_t size, int *descriptors, size_t *count, int waits);

// Where the caller closed standard input, output or error, they are /dev/null: nothing else is to take their numbers.
void tandem_fill_standard_files(void);

// What a worker finds in its environment; null at the end.
char **tandem_worker_environment(void);

// posix_spawn_file_actions_addclosefrom_np(3): the new process has no descriptor from `first` on. 0, or an errno.
int tandem_spawn_without(posix_spawn_file_actions_t *actions, int first);

// What leads to a worker: a pair of sockets, and a pipe for its standard error. 0, or -1 with errno and neither.
int tandem_open_worker_line(int socket[2], int errors[2]);

// The real paths of the shared libraries that are loaded, a line each; to be freed. Null without memory.
char *tandem_loaded_libraries(void);

// The real path of the library or program that a symbol is part of; to be freed. Null where none is known.
char *tandem_library_of(const void *symbol);

// Takes from this thread the right to raise its priority, where it has it (`CAP_SYS_NICE`). Whether it had.
int tandem_give_up_priority(void);
// Gives it back.
void tandem_take_back_priority(void);

#endif
