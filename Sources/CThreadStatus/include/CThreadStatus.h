// libdispatch reads the state of its threads from /proc/<thread>/stat, and terminates the process if the file can't
// be read. A sandboxed process has access only to its own folder in /proc, where /proc/self/task/<thread>/stat has
// the same contents.
#ifndef TANDEM_CTHREADSTATUS_H
#define TANDEM_CTHREADSTATUS_H

// Redirects these reads to the process's own folder from this call on. The target defines `open`, which libraries
// call instead of the C library's function, so that it must be linked into the program itself.
void tandem_look_at_own_threads(void);

#endif
