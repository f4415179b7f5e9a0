// libdispatch reads the state of its threads from /proc/<thread>/stat, and ends the process if it can't. A
// sandboxed process has access only to its own folder in /proc, where /proc/self/task/<thread>/stat has the
// same contents.
#ifndef TANDEM_CTHREADSTATUS_H
#define TANDEM_CTHREADSTATUS_H

// Redirects these reads to the process's own folder from now on. The libraries then call this program's
// `open` instead of the C library's; it must be linked into the program itself.
void tandem_look_at_own_threads(void);

#endif
