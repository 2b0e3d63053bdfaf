// What a kernel and the SIMT executor know of each other. Pasted before every kernel's text, and
// included by src/simt: the kernel calls the executor through a table, because a kernel's library
// links nothing.

namespace sn::simt {

struct Thread;

// Of an access that is refused.
enum class Fault : int {
  outside,     // of the buffer
  misaligned,  // a pack whose address is not a multiple of its size
  not_waited,  // before wait_for_previous_kernel()
};

struct Access {
  const char* buffer;  // its name in the kernel
  long long index;     // of the first element
  int count;           // neighbours accessed at once
  int bytes;           // of all of them
  long long elements;  // the buffer has
  bool write;
};

// `line` is where in the text the call stands. Those that refuse do not return.
struct Calls {
  void (*block_barrier)(Thread* thread, int line);
  // A cluster's barrier has two halves; `orders` if what was written before is seen after it.
  void (*arrive_at_cluster)(Thread* thread, bool orders, int line);
  void (*wait_for_cluster)(Thread* thread, bool orders, int line);
  // Puts the value of lane (own ^ mask) in the place of the own one.
  void (*exchange)(Thread* thread, void* value, int bytes, int mask, int line);
  // The array of the thread's block that was declared at `site`.
  void* (*shared_array)(Thread* thread, const void* site, const char* name, long long count,
                        int bytes, int line);
  // Likewise, in the shared memory that a launch adds.
  void* (*fetched_array)(Thread* thread, const void* site, const char* name, long long count,
                         int bytes, int line);
  // Copies 16 bytes to an element of such an array: not before the thread waits for them.
  void (*fetch)(Thread* thread, void* array, long long index, const void* from, int line);
  void (*end_of_fetch)(Thread* thread);
  void (*wait_for_fetched)(Thread* thread, int left, int line);
  // A meeting's places in all blocks count the bytes that are brought.
  void (*expect_at_meeting)(Thread* thread, int meeting, int bytes, int line);
  void (*put_at_meeting)(Thread* thread, int meeting, int rank, int bytes, int line);
  void (*wait_for_meeting)(Thread* thread, int meeting, int parity, int line);
  // The address of an element, in the array of the cluster's block `rank`; checked and noted.
  void* (*shared_element)(Thread* thread, void* array, long long index, int rank, bool write,
                          int line);
  void (*refuse)(Thread* thread, const Access* access, Fault fault, int line);
};

// A thread of the GPU. In gdb: `print *sn_simt_thread`.
struct Thread {
  int thread;        // in its block
  int rank;          // of its block in the cluster
  long long block;   // in the grid
  long long blocks;  // that the grid has
  bool may_touch_memory;
  const long long* elements;  // of each buffer
  const Calls* calls;
};

}  // namespace sn::simt
