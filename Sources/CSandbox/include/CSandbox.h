// What a worker takes from itself before it reads what strangers made, and what it tries afterwards to see that it is
// gone. No system header with structures is included here: a structure would belong to whichever module happened to be
// compiled first.
#ifndef TANDEM_CSANDBOX_H
#define TANDEM_CSANDBOX_H

// Parts of the sandbox; the bits of what is lacking.
enum {
    TANDEM_FILES = 1 << 0,         // Landlock: files but those that are allowed
    TANDEM_NEW_PRIVILEGES = 1 << 1,  // no_new_privs
    TANDEM_SYSTEM_CALLS = 1 << 2,  // seccomp: all that media need, and no other; with it go network, signals, other processes
    TANDEM_CAPABILITIES = 1 << 3,  // root's rights, one by one
    TANDEM_USER = 1 << 4,          // a separate user, where root started it
    TANDEM_OTHER_PROCESSES = 1 << 5,  // what /proc tells of them
};

// What is asked for.
struct tandem_sandbox {
    const char *const *readable;  // paths that may be read, with all beneath; a null pointer ends them
    const char *folder;           // the folder that may be written; null for none
    int network;                  // outgoing connections stay possible
    int own_processes_only;       // nothing of /proc but what is about this process
    unsigned user;                // the user to be where this is root; 0 for nobody else
};

// Takes everything else from this thread and those it starts; before other threads are made. What could not be had, as
// bits. The working folder is `folder` afterwards, as the way there may be closed.
int tandem_enter_sandbox(const struct tandem_sandbox *wanted);

// The version of Landlock that the kernel has, 0 for none.
int tandem_landlock_version(void);

// Something that must not work inside. `path` and `process` say on what, where it is about one.
struct tandem_attempt {
    const char *name;
    int (*attempt)(const char *path, int process);  // 0 where it worked, an errno where it didn't
    int part;                                       // the part of the sandbox that forbids it
};

// In `part`: a worker that fetches by URL may do it.
enum { TANDEM_NETWORK = 1 << 16 };

// What is tried, by its number from 0; null behind the last.
const struct tandem_attempt *tandem_attempt_at(int number);

#endif
