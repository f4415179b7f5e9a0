// libdispatch looks at its threads by /proc/<thread>/stat, and ends the process where it may not. Of what a process is to
// see of /proc, its own folder is enough: /proc/self/task/<thread>/stat says the same.
#ifndef TANDEM_CTHREADSTATUS_H
#define TANDEM_CTHREADSTATUS_H

// From now on this process asks for its own folder. This program's `open` is called by its libraries instead of the C
// library's; it must be linked into the program itself.
void tandem_look_at_own_threads(void);

#endif
