#pragma once
#include <stddef.h>
#include <stdint.h>

/* Entry point of libFuzzer, for programs with their own main(). */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*entry)(const uint8_t *data, size_t size));
