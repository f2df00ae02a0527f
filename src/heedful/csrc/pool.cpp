#include "pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#if !defined(_WIN32)
#include <dlfcn.h>
#include <pthread.h>
#endif

namespace heedful {
namespace {

struct Job {
  void (*body)(void*, std::int64_t);
  void* context;
  std::int64_t count;
  int helpers_wanted;
  std::atomic<std::int64_t> next{0};
  int helpers_inside = 0;  // guarded by Pool::mutex

  void work() {
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(context, i);
  }
};

class Pool {
 public:
  // Returns false, having done nothing, while another thread's job is running.
  bool run(Job& job) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (job_) return false;
      job_ = &job;
      ++generation_;
      hire(job.helpers_wanted);
    }
    wake_.notify_all();
    job.work();
    std::unique_lock<std::mutex> lock(mutex_);
    job_ = nullptr;  // a helper that wakes only now finds nothing to do
    done_.wait(lock, [&] { return job.helpers_inside == 0; });
    return true;
  }

 private:
  void hire(int wanted) {
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
      // The system grants no more threads: those at hand do the work.
    }
  }

  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    std::uint64_t last = 0;
    for (;;) {
      wake_.wait(lock, [&] {
        return job_ && generation_ != last && job_->helpers_inside < job_->helpers_wanted;
      });
      Job* job = job_;
      last = generation_;
      ++job->helpers_inside;
      lock.unlock();
      job->work();
      lock.lock();
      if (--job->helpers_inside == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int threads_ = 0;
};

// Never destroyed: its threads may outlive the main one.
Pool* pool = nullptr;
std::mutex pool_mutex;
bool forked = false;

// A forked child has none of its parent's threads, and perhaps locked mutexes: it starts anew.
void watch_forks() {
#if !defined(_WIN32)
  static const int registered = pthread_atfork(
      [] { pool_mutex.lock(); }, [] { pool_mutex.unlock(); },
      [] {
        pool = nullptr;
        forked = true;
        pool_mutex.unlock();
      });
  (void)registered;
#endif
}

Pool& the_pool() {
  std::lock_guard<std::mutex> lock(pool_mutex);
  if (!pool) pool = new Pool;
  return *pool;
}

using OpenMp = void (*)(void (*)(void*), void*, unsigned, unsigned);

// The way into the OpenMP threads that torch has started, where there is one. They wait for work by spinning: threads of
// our own would take turns with them on the same cores.
OpenMp openmp() {
#if defined(_WIN32)
  return nullptr;
#else
  static const OpenMp found = reinterpret_cast<OpenMp>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  return forked ? nullptr : found;
#endif
}

}  // namespace

void parallel_for(std::int64_t count, int threads, void (*body)(void*, std::int64_t), void* context) {
  Job job{body, context, count, 0};
  const std::int64_t helpers = (threads < count ? threads : count) - 1;
  if (helpers < 1) return job.work();
  watch_forks();
  if (const OpenMp run = openmp()) return run([](void* data) { static_cast<Job*>(data)->work(); }, &job, threads, 0);
  job.helpers_wanted = static_cast<int>(helpers);
  if (!the_pool().run(job)) job.work();
}

}  // namespace heedful
