//! Where memory comes from: mimalloc, which takes half the time of the system's own with many small allocations on
//! several threads. SQLite keeps the system's: with mimalloc for it too, 21 hurting destinations at once took 42 MiB
//! above rest instead of 27. Built with `count-allocations`, every allocation is counted by where it is made.

#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "count-allocations")]
#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// What counts until it is dropped, and then writes `dhat-heap.json` where the process runs; usually nothing.
pub(crate) struct Count {
    #[cfg(feature = "count-allocations")]
    _profiler: dhat::Profiler,
}

impl Count {
    pub(crate) fn start() -> Self {
        Self {
            #[cfg(feature = "count-allocations")]
            _profiler: dhat::Profiler::builder().trim_backtraces(Some(48)).build(),
        }
    }
}
