#pragma once
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's loop, for programs with a main of their own. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*entry)(const uint8_t *data, size_t size));
