// The sandbox that a worker enters before it reads untrusted data, and forbidden actions by which the sandbox is
// tested. System headers with structures aren't included here, since Swift attributes a structure to the first module
// that includes its header.
#ifndef TANDEM_CSANDBOX_H
#define TANDEM_CSANDBOX_H

// Parts of the sandbox, as bits of a mask.
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

// Restricts this thread, and threads that it creates, to the permissions of `wanted`. Must be called before other
// threads exist. Returns the parts that aren't in force, as a mask. Changes the working folder to `folder`, since its
// path may be inaccessible afterwards.
int tandem_enter_sandbox(const struct tandem_sandbox *wanted);

// Returns the version of Landlock in the kernel; 0 if the kernel doesn't support it.
int tandem_landlock_version(void);

// An action that must fail inside the sandbox. `path` and `process` are the file and the process that it affects;
// actions without such an object ignore them.
struct tandem_attempt {
    const char *name;
    int (*attempt)(const char *path, int process);  // returns 0 if the action succeeded, else an errno
    int part;                                       // part of the sandbox that forbids the action
};

// A flag in `part`: a worker that fetches URLs is permitted the action.
enum { TANDEM_NETWORK = 1 << 16 };

// Returns the attempt at an index from 0; null after the last one.
const struct tandem_attempt *tandem_attempt_at(int number);

#endif
