// Fixed limits for the allocator of glibc, which no safe Rust reaches. Else they rise to the largest
// block that was ever freed, up to 32 MB: after one long answer the heap never shrinks again, and
// the process stays at twice what it uses.
#include <malloc.h>

__attribute__((constructor)) static void set_limits(void) {
    // Bytes from which a block is mapped, and unmapped when it is freed.
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    // Free bytes at the end of the heap that are given back.
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
}
