// The interface between a kernel and the SIMT executor. Pasted before every kernel's text and
// included by src/simt. The kernel calls the executor through a function table, because a kernel's
// library links nothing.

namespace sn::simt {

struct Thread;

// Why an access is refused.
enum class Fault : int {
  outside,     // out of bounds
  misaligned,  // a vector whose address is not a multiple of its size
  not_waited,  // before wait_for_previous_kernel()
};

struct Access {
  const char* buffer;  // its name in the kernel
  long long index;     // of the first element
  int count;           // neighbours in one access
  int bytes;           // in total
  long long elements;  // in the buffer
  bool write;
};

// `line` is the call's line in the kernel's text. Calls that refuse do not return.
struct Calls {
  void (*block_barrier)(Thread* thread, int line);
  // A cluster barrier has two halves; `orders` if it makes earlier writes visible.
  void (*arrive_at_cluster)(Thread* thread, bool orders, int line);
  void (*wait_for_cluster)(Thread* thread, bool orders, int line);
  // Replaces the value with that of lane (own ^ mask).
  void (*exchange)(Thread* thread, void* value, int bytes, int mask, int line);
  // The array of the thread's block declared at `site`.
  void* (*shared_array)(Thread* thread, const void* site, const char* name, long long count,
                        int bytes, int line);
  // The same in dynamic shared memory.
  void* (*fetched_array)(Thread* thread, const void* site, const char* name, long long count,
                         int bytes, int line);
  // Copies 16 bytes to an element of such an array asynchronously: complete when the thread waits
  // for it.
  void (*fetch)(Thread* thread, void* array, long long index, const void* from, int line);
  void (*end_of_fetch)(Thread* thread);
  void (*wait_for_fetched)(Thread* thread, int left, int line);
  // An exchange barrier (mbarrier) in every block counts the bytes stored into it.
  void (*expect_at_exchange)(Thread* thread, int exchange, int bytes, int line);
  void (*put_at_exchange)(Thread* thread, int exchange, int rank, int bytes, int line);
  void (*wait_for_exchange)(Thread* thread, int exchange, int parity, int line);
  // Address of an element in the array of the cluster's block `rank`; checked and recorded.
  void* (*shared_element)(Thread* thread, void* array, long long index, int rank, bool write,
                          int line);
  void (*refuse)(Thread* thread, const Access* access, Fault fault, int line);
};

// A GPU thread. In gdb: `print *sn_simt_thread`.
struct Thread {
  int thread;        // in its block
  int rank;          // of its block in the cluster
  long long block;   // in the grid
  long long blocks;  // grid size
  bool may_touch_memory;
  const long long* elements;  // per buffer
  const Calls* calls;
};

}  // namespace sn::simt
