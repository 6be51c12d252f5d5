//! Requests side by side, so that one call of MPI waits for all of them.

#![allow(unsafe_code)]

use std::ops::Range;

use mpi::ffi;

use super::calls::{self, Arrival, Refused, counted};
use super::code::{Code, check};
use super::quick::{QuickReceive, QuickSend};
use crate::transport::started::{Lone, Pending, Posted, Receipt, Sent};

/// Requests, and room for what MPI says of each.
#[derive(Default)]
pub(crate) struct Several {
    pub(super) requests: Vec<ffi::MPI_Request>,
    statuses: Vec<ffi::MPI_Status>,
    /// Whether the statuses have errors; MPI sets them only then (MPI 3.1, 3.7.5).
    some_failed: bool,
    /// What was refused of requests that stand alone, by place, until they are taken out.
    refused: Vec<(usize, Refused)>,
}

impl Several {
    /// Makes so many places.
    pub(crate) fn grow(&mut self, places: usize) {
        self.requests.resize(places, calls::no_request());
        self.grow_statuses(places);
    }

    fn grow_statuses(&mut self, places: usize) {
        if self.statuses.len() < places {
            // SAFETY: all bytes zero are a status.
            self.statuses.resize_with(places, || unsafe { std::mem::zeroed() });
        }
    }

    /// Waits for the requests at these places; what has come of each is then in
    /// [`Several::outcome`].
    pub(super) fn wait_for(&mut self, places: Range<usize>) -> Result<(), Code> {
        self.grow_statuses(places.end);
        let requests = self.requests[places.clone()].as_mut_ptr();
        let statuses = self.statuses[places.clone()].as_mut_ptr();
        // SAFETY: there are as many statuses as requests, which are not complete yet.
        let returned = unsafe { ffi::MPI_Waitall(counted(places.len()), requests, statuses) };
        self.some_failed = false;
        let Err(code) = check(returned) else { return Ok(()) };
        self.some_failed = code.is_in_status();
        if self.some_failed { Ok(()) } else { Err(code) }
    }

    /// Waits for requests that stand alone; whether all of them are complete and none has failed. If
    /// not, they are to be taken out.
    #[inline]
    pub(super) fn wait_alone(&mut self, places: Range<usize>) -> Result<bool, Code> {
        self.wait_for(places.clone())?;
        let failed = self.some_failed;
        if failed {
            self.write_down(places);
        }
        Ok(!failed)
    }

    #[cold]
    fn write_down(&mut self, places: Range<usize>) {
        for place in places.filter(|&place| !self.is_pending(place)).collect::<Vec<_>>() {
            // Not every MPI makes it none where it has failed.
            self.requests[place] = calls::no_request();
            self.refused.extend(self.outcome(place).err().map(|refused| (place, refused)));
        }
        self.some_failed = false;
    }

    /// Whether a request has failed in the last wait.
    #[inline]
    pub(super) fn some_failed(&self) -> bool {
        self.some_failed
    }

    /// Whether the request at this place is still under way, because another one has failed.
    #[inline]
    pub(super) fn is_pending(&self, place: usize) -> bool {
        self.some_failed
            && check(self.statuses[place].MPI_ERROR).is_err_and(|code| code.is_pending())
    }

    /// What has come of the request at this place.
    #[inline]
    pub(super) fn outcome(&self, place: usize) -> Result<Arrival, Refused> {
        let status = &self.statuses[place];
        let arrival = calls::arrival(status);
        match self.some_failed {
            true => {
                check(status.MPI_ERROR).map(|()| arrival).map_err(|code| Refused { code, arrival })
            }
            false => Ok(arrival),
        }
    }

    /// Whether there is no request at this place, because it is complete.
    #[inline(always)]
    pub(crate) fn is_complete(&self, place: usize) -> bool {
        self.requests[place] == calls::no_request()
    }

    /// Whether there is a request at each of these places, none of which is complete.
    #[inline(always)]
    pub(crate) fn are_waiting(&self, places: Range<usize>) -> bool {
        self.requests[places].iter().all(|&request| request != calls::no_request())
    }

    /// Whence what was received at this place has come, and how many bytes.
    #[inline(always)]
    pub(crate) fn arrival(&self, place: usize) -> (usize, usize) {
        let Arrival { source, bytes } = calls::arrival(&self.statuses[place]);
        (source, bytes)
    }

    /// Takes out what was started at this place, or what has come of it.
    pub(crate) fn take(&mut self, lone: Lone, place: usize) -> Pending {
        let request = std::mem::replace(&mut self.requests[place], calls::no_request());
        let refused = self.refused.iter().position(|(of, _)| *of == place);
        let refused = refused.map(|number| self.refused.swap_remove(number).1);
        if let Lone::Send { peer, standard } = lone {
            // MPI has nothing to refuse once a send was accepted.
            let receipt = Receipt::Quick(QuickSend::new(request));
            return Pending::Send(Sent { peer, standard, receipt });
        }
        let receive = QuickReceive::new(request);
        if let Some(refused) = refused {
            receive.set(Err(refused));
        } else if request == calls::no_request() {
            receive.set(Ok(calls::arrival(&self.statuses[place])));
        }
        Pending::Receive(Posted::Quick(receive))
    }
}
