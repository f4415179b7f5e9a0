// The restriction of a worker before it reads untrusted data, and the attempts by which its effect is tested.
// System headers with structures aren't included here, since a structure would belong to the module that is
// compiled first.
#ifndef TANDEM_CSANDBOX_H
#define TANDEM_CSANDBOX_H

// Parts of the sandbox, as bits of those that are missing.
enum {
    TANDEM_FILES = 1 << 0,         // Landlock: access only to permitted files
    TANDEM_NEW_PRIVILEGES = 1 << 1,  // no_new_privs
    TANDEM_SYSTEM_CALLS = 1 << 2,  // seccomp: only the required system calls, without network, signals and other processes
    TANDEM_CAPABILITIES = 1 << 3,  // no capabilities
    TANDEM_USER = 1 << 4,          // a separate user, if root starts the worker
    TANDEM_OTHER_PROCESSES = 1 << 5,  // no access to other processes in /proc
};

// The configuration of a sandbox.
struct tandem_sandbox {
    const char *const *readable;  // readable paths, with all paths beneath; terminated by a null pointer
    const char *folder;           // writable folder; null for none
    int network;                  // whether outgoing connections are permitted
    int own_processes_only;       // whether only this process's files in /proc are accessible
    unsigned user;                // user id to change to, if this process is root; 0 for no change
};

// Removes all other permissions from this thread and from those that it creates. Must be called before other
// threads exist. Returns the parts that aren't in force, as bits. The working folder is `folder` afterwards,
// since its path may be inaccessible.
int tandem_enter_sandbox(const struct tandem_sandbox *wanted);

// Returns the version of Landlock in the kernel, 0 if it isn't supported.
int tandem_landlock_version(void);

// An action that must fail inside the sandbox. `path` and `process` are its object, if it has one.
struct tandem_attempt {
    const char *name;
    int (*attempt)(const char *path, int process);  // returns 0 if the action succeeded, else an errno
    int part;                                       // part of the sandbox that forbids the action
};

// A flag in `part`: the action is permitted for a worker that fetches URLs.
enum { TANDEM_NETWORK = 1 << 16 };

// Returns the attempt with an index from 0; null after the last one.
const struct tandem_attempt *tandem_attempt_at(int number);

#endif
