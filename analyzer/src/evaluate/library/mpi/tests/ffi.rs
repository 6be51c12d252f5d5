//! MPI's own functions.

use super::{all_do, evaluated, gaps, program, ranks};

#[test]
fn messages_by_their_c_names() {
    let body = "let mut x = [0i32; 4];
        unsafe {
            let mut status = std::mem::zeroed();
            if rank == 0 {
                ffi::MPI_Send(x.as_ptr() as *const _, 4, i32::equivalent_datatype().as_raw(), 1, 7,
                    world.as_raw());
            } else {
                ffi::MPI_Recv(x.as_mut_ptr() as *mut _, 4, ffi::RSMPI_INT32_T, ffi::RSMPI_ANY_SOURCE,
                    ffi::RSMPI_ANY_TAG, ffi::RSMPI_COMM_WORLD, &mut status);
            }
            ffi::MPI_Ssend(x.as_ptr() as *const _, 1, ffi::RSMPI_DOUBLE, ffi::RSMPI_PROC_NULL, 0,
                world.as_raw());
            ffi::MPI_Barrier(world.as_raw());
        }";
    all_do(
        body,
        &[
            &["send 1 #7 4 i32", "ssend nobody #0 1 f64", "barrier"],
            &["receive any 4 i32", "ssend nobody #0 1 f64", "barrier"],
        ],
    );
}

#[test]
fn requests_by_their_c_names() {
    let body = "let mut x = [0u8; 2]; let mut r = ffi::RSMPI_REQUEST_NULL; let mut n = 0;
        unsafe {
            ffi::MPI_Comm_size(world.as_raw(), &mut n);
            ffi::MPI_Isend(x.as_ptr() as *const _, n, ffi::RSMPI_UINT8_T, 0, 1, world.as_raw(), &mut r);
            ffi::MPI_Wait(&mut r, ffi::RSMPI_STATUS_IGNORE);
            ffi::MPI_Wait(&mut r, ffi::RSMPI_STATUS_IGNORE);
            let mut both = [ffi::RSMPI_REQUEST_NULL; 2];
            ffi::MPI_Irecv(x.as_mut_ptr() as *mut _, 2, ffi::RSMPI_UINT8_T, 0, 1, world.as_raw(), &mut both[0]);
            ffi::MPI_Isend(x.as_ptr() as *const _, 2, ffi::RSMPI_UINT8_T, 0, 1, world.as_raw(), &mut both[1]);
            ffi::MPI_Waitall(2, both.as_mut_ptr(), ffi::RSMPI_STATUSES_IGNORE);
        }";
    all_do(
        body,
        &[&[
            "isend 0 #1 1 u8 -> 0",
            "wait all [0]",
            "ireceive 0 #1 2 u8 -> 0",
            "isend 0 #1 2 u8 -> 1",
            "wait all [0, 1]",
        ]],
    );
}

/// A persistent request stays one when it is complete, and what it receives is another value each
/// time.
#[test]
fn persistent_requests_are_waited_for_again_and_again() {
    let body = "let mut x = [0i32; 2]; let mut r = ffi::RSMPI_REQUEST_NULL; let mut other = r;
        unsafe {
            ffi::MPI_Recv_init(x.as_mut_ptr() as *mut _, 2, ffi::RSMPI_INT32_T, 0, 1, world.as_raw(), &mut r);
            ffi::MPI_Start(&mut r);
            ffi::MPI_Wait(&mut r, ffi::RSMPI_STATUS_IGNORE);
            let first = x[0];
            ffi::MPI_Irecv(x.as_mut_ptr() as *mut _, 1, ffi::RSMPI_INT32_T, 0, 1, world.as_raw(), &mut other);
            ffi::MPI_Wait(&mut other, ffi::RSMPI_STATUS_IGNORE);
            ffi::MPI_Start(&mut r);
            if x[0] == 5 { println!(); }
            ffi::MPI_Waitall(1, &mut r, ffi::RSMPI_STATUSES_IGNORE);
            assert_eq!(x[0], 17);
            assert_ne!(x[0], first);
            ffi::MPI_Request_free(&mut r);
            ffi::MPI_Wait(&mut r, ffi::RSMPI_STATUS_IGNORE);
        }";
    all_do(
        body,
        &[&[
            "plan receive 0 #1 2 i32 -> 0",
            "start [0]",
            "wait all [0]",
            "ireceive 0 #1 1 i32 -> 1",
            "wait all [1]",
            "start [0]",
            "read [0]",
            "wait all [0]",
            "free 0",
        ]],
    );
}

/// What owns the buffer may be moved before its message arrives.
#[test]
fn a_buffer_behind_a_pointer_is_not_known_from_the_start() {
    let body = "let moved = {
            let mut x = vec![0i32; 2]; let mut r = ffi::RSMPI_REQUEST_NULL;
            unsafe { ffi::MPI_Irecv(x.as_mut_ptr().cast(), 2, ffi::RSMPI_INT32_T, 0, 1, world.as_raw(), &mut r); }
            (x, r)
        };
        let (x, mut r) = moved;
        unsafe { ffi::MPI_Wait(&mut r, ffi::RSMPI_STATUS_IGNORE); }
        assert_eq!(x[1], 17);";
    all_do(body, &[&["ireceive 0 #1 2 i32 -> 0", "wait all [0]"]]);
}

#[test]
fn collectives_by_their_c_names() {
    let body = "let mut x = 1i32; let mut y = 0i32; let mut part = ffi::RSMPI_COMM_NULL;
        unsafe {
            ffi::MPI_Bcast(&mut x as *mut _ as *mut _, 1, ffi::RSMPI_INT32_T, 1, world.as_raw());
            ffi::MPI_Allreduce(&x as *const _ as *const _, &mut y as *mut _ as *mut _, 1,
                ffi::RSMPI_INT32_T, ffi::RSMPI_SUM, world.as_raw());
            ffi::MPI_Comm_split(world.as_raw(), rank % 2, 0, &mut part);
            ffi::MPI_Barrier(part);
        }";
    let each = |color: u32| {
        vec![
            "bcast at 1 1 i32".to_owned(),
            "all_reduce 1 i32 by sum".to_owned(),
            "make_communicator".to_owned(),
            format!("barrier on world, color {color}"),
        ]
    };
    assert_eq!(ranks(&evaluated(&program(body), 2)), [each(0), each(1)]);
}

#[test]
fn what_has_no_counterpart_leaves_nothing_known() {
    let body = "unsafe { ffi::MPI_Grequest_meet(0, todo()); } world.barrier();";
    let evaluated = evaluated(&program(body), 1);
    assert_eq!(ranks(&evaluated)[0], ["opaque"]);
    assert_eq!(
        gaps(&evaluated),
        ["`MPI_Grequest_meet` is not a function of MPI that is known here"]
    );
}
