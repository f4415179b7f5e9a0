// Linux calls that Swift's Glibc module lacks. System headers with structures aren't included here, since Swift
// attributes a structure to the first module that includes its header.
#ifndef TANDEM_CLINUX_H
#define TANDEM_CLINUX_H

#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

// renameat2(2) with RENAME_NOREPLACE, or without flags. Returns 0, or -1 with errno.
int tandem_renameat2(int from_dir, const char *from, int to_dir, const char *to, int no_replace);

// renameat2(2) with RENAME_EXCHANGE: two names of a folder are exchanged in one step. Returns 0, or -1 with errno.
int tandem_exchange(int folder, const char *first, const char *second);

// syncfs(2): writes the data of the descriptor's file system to disk. Returns 0, or -1 with errno.
int tandem_sync_file_system(int descriptor);

// copy_file_range(2). Returns the number of copied bytes, or -1 with errno. Both offsets are advanced.
int64_t tandem_copy_range(int from, int64_t *from_offset, int to, int64_t *to_offset, uint64_t length);

// sync_file_range(2): starts writeback of a range of a file without waiting for it. Returns 0, or -1 with
// errno.
int tandem_begin_writeback(int descriptor, int64_t offset, int64_t length);

// openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS. Returns a descriptor, or -1 with errno.
int tandem_open_beneath(int folder, const char *path, int flags);

// Whether a process of this machine has the file of a descriptor open for writing, or mapped for writing. The descriptor must be open
// for reading only. Returns 1 or 0, or -1 with errno if that can't be determined: the file has another owner, or the file
// system has no leases (fcntl(2), F_SETLEASE).
int tandem_is_open_for_writing(int descriptor);

// Whether a folder is on a file system that other machines may change, which inotify(7) doesn't report. Also true for
// file systems in user space, and if the file system can't be determined.
int tandem_is_remote_file_system(const char *folder);

// The number of processors on which this process may run (sched_getaffinity(2)); 0 if it can't be determined.
int tandem_processor_count(void);

// Waits for the exit of a child process, at most for a time (pidfd_open(2)). The child isn't reaped. Waits for the whole
// time where the system call is missing.
void tandem_await_exit(pid_t process, int milliseconds);

// fsetxattr(2) and getxattr(2).
int tandem_fsetxattr(int descriptor, const char *name, const void *value, size_t size);
long tandem_getxattr(const char *path, const char *name, void *value, size_t size);

// Sets the maximum number of malloc arenas (M_ARENA_MAX); threads with different arenas allocate without waiting for
// each other. One arena suffices for reading media (8 % less memory for a 720p re-encode, equal time); for planning
// ten thousand jobs on two threads, the second arena saves a sixth of the time.
void tandem_limit_arenas(int count);

// Sets whether malloc clears the memory that it allocates (M_PERTURB, which writes the complement of its value). The
// macroblock tree of x264 0.164 reads memory that it doesn't initialize: with memory of varying contents (MALLOC_PERTURB_), the
// output of the same frames varies, also that of ffmpeg.
void tandem_clear_allocations(int clears);

// Sets the thresholds of malloc. Without `keeps`, large blocks are mapped separately, so that frames are
// returned to the system when they are freed, and free memory is returned at once.
//
// With `keeps`, for workers that copy, create images or probe, freed memory is kept, since decoders are opened
// repeatedly: for a thousand short clips, this maps 40 times fewer pages and takes a sixth less time.
// Long-lived blocks may then be allocated between frames, so that later frames no longer fit into the free memory.
// Therefore free memory is trimmed occasionally (measured: a worker that created posters of 720p reached 930 MiB,
// where 95 suffice), and larger frames are mapped separately (for 720p frames too, posters would take a tenth
// longer).
//
// `keeps` must not be used for encoding: x264 with B-frames and mbtree reads uninitialized memory, and in
// memory that an earlier job had used, the output differed (measured: 5 different outputs of 6).
void tandem_tune_allocator(int keeps);

// Sets M_TOP_PAD so that a thread's heap grows to nearly its maximum size in one system call. Only used pages take
// memory. Must be called before threads allocate.
void tandem_widen_heaps(void);

// Returns the number of threads that this process can create in addition to its own, at most `most`. The threads that
// are created for the test are ended. libdispatch waits forever if it can't create threads.
int tandem_try_threads(int most);

// Installs handlers that write a byte to a pipe for each SIGINT, SIGTERM and SIGHUP, regardless of the signal
// masks of threads. The handlers are active when this function returns. Returns the read end, which doesn't
// block, or -1.
int tandem_watch_signals(void);

// sendmsg(2): sends bytes with attached descriptors (SCM_RIGHTS). Returns the number of sent bytes, or -1 with errno.
long tandem_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count);

// recvmsg(2): receives bytes, and attached descriptors (closed on exec). `*count` is the capacity on entry,
// and the number of descriptors on return. Returns the number of bytes, 0 at the end, or -1 with errno:
// EAGAIN if no data is available and `waits` is 0.
long tandem_receive(int socket, void *bytes, size_t size, int *descriptors, size_t *count, int waits);

// Opens /dev/null as standard input, output or error if they are closed, so that files opened later don't get their
// descriptor numbers.
void tandem_fill_standard_files(void);

// Returns the environment for new workers, terminated by a null pointer.
char **tandem_worker_environment(void);

// posix_spawn_file_actions_addclosefrom_np(3): closes all descriptors from `first` on in the new process.
// Returns 0, or an errno.
int tandem_spawn_without(posix_spawn_file_actions_t *actions, int first);

// Creates the connections to a worker: a pair of sockets, and a pipe for its standard error. Returns 0, or -1 with
// errno and without open descriptors.
int tandem_open_worker_line(int socket[2], int errors[2]);

// Returns the resolved paths of the loaded shared libraries, one per line, to be freed by the caller; null if memory
// can't be allocated.
char *tandem_loaded_libraries(void);

// Returns the resolved path of the library or program that contains a symbol, to be freed by the caller; null
// if it is unknown.
char *tandem_library_of(const void *symbol);

// Removes this thread's capability to raise its priority (`CAP_SYS_NICE`). Returns whether the thread had it.
int tandem_drop_priority(void);
// Restores the capability.
void tandem_restore_priority(void);

#endif
