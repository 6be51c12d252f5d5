//! The same exchanges over each of the things compared.

pub(crate) mod crossbeam;
pub(crate) mod raw;
pub(crate) mod typed;

use std::time::Instant;

/// Nanoseconds for each trip.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) wall: f64,
    /// Of all threads together.
    pub(crate) cpu: f64,
}

/// Elements of a megabyte of `f32`.
pub(crate) const MEGABYTE: usize = (1 << 20) / 4;

/// Wall and processor time from a moment on.
pub(crate) struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { wall: Instant::now(), cpu: processor_time() }
    }

    pub(crate) fn stop(self, trips: u32) -> Sample {
        let (wall, cpu) = (self.wall.elapsed(), processor_time() - self.cpu);
        let per_trip = |nanoseconds: f64| nanoseconds / f64::from(trips);
        Sample { wall: per_trip(wall.as_nanos() as f64), cpu: per_trip(cpu) }
    }
}

/// Makes a trip some times to warm up, then `trips` times against the clocks.
pub(crate) fn time(trips: u32, mut trip: impl FnMut()) -> Sample {
    for _ in 0..warm_up(trips) {
        trip();
    }
    let clock = Clock::start();
    for _ in 0..trips {
        trip();
    }
    clock.stop(trips)
}

/// How often a trip is made before the clocks run.
pub(crate) fn warm_up(trips: u32) -> u32 {
    trips / 10 + 1
}

/// Nanoseconds of processor time that this process has used.
#[allow(unsafe_code)]
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the place that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Keeps the calling thread on one core, counted over those there are.
#[allow(unsafe_code)]
pub(crate) fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: a set of cores is plain bits, which the calls fill and read.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core % cores, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}
