//! A matrix of 1024 x 1024 numbers for four ranks, 256 rows each: rank 0 keeps its own block and
//! sends the others theirs. First each block in one message, then in chunks of 64 rows, of which
//! at most four are under way at a time. Seven chunks are no multiple of four: the last three are
//! the tail, which is waited for after the loop.

#![expect(clippy::print_stdout, reason = "an example shows what it has found")]

use p2p::p2p_protocol;

const RANKS: usize = 4;
const SIDE: usize = 1024;
const BLOCK: usize = SIDE / RANKS * SIDE;
const CHUNK: usize = 64 * SIDE;
const CHUNKS: usize = BLOCK / CHUNK;

#[p2p_protocol(ranks = 4)]
pub mod blocks {
    /// 256 rows: 1 MiB.
    #[message(count = 256 * 1024)]
    pub type Block = [f32];

    #[rank(0)]
    fn root() {
        for dest in 1..size {
            send(dest, Block);
        }
    }

    #[rank(1..)]
    fn worker() {
    }
}

#[p2p_protocol(ranks = 4)]
pub mod pipeline {
    /// 64 rows: 256 KiB.
    #[message(count = 64 * 1024)]
    pub type Chunk = [f32];

    #[rank(0)]
    fn root(chunks: usize) {
        for dest in 1..size {
            let pending = requests();
            for chunk in 0..chunks {
                pending.push(isend(dest, Chunk));
                if chunk % 4 == 3 {
                    wait_all(pending);
                }
            }
            // The tail, where the number of chunks is no multiple of four.
            wait_all(pending);
        }
    }

    #[rank(1..)]
    fn worker(chunks: usize) {
        for _chunk in 0..chunks {
            recv(0, Chunk);
        }
    }
}

fn main() -> p2p::Result<()> {
    p2p::launch(|world| {
        let matrix: Vec<f32> = (0..SIDE * SIDE).map(element).collect();
        in_blocks(&world, &matrix)?;
        in_chunks(&world, &matrix, CHUNKS)?;
        in_chunks(&world, &matrix, CHUNKS + 3)?;
        println!(
            "rank {} has its rows, in a block and in chunks with and without a tail",
            world.rank()
        );
        Ok(())
    })
}

/// One message for each block.
fn in_blocks(world: &p2p::World, matrix: &[f32]) -> p2p::Result<()> {
    match blocks::join(world)? {
        blocks::Role::Root(root) => {
            root.run(|s| s.for_each_dest(|dest, s| s.send_block(block_of(matrix, dest))))
        }
        blocks::Role::Worker(worker) => {
            let mut block = vec![0.0; BLOCK];
            worker.run(|s| s.recv_block(&mut block))?;
            assert!(block == block_of(matrix, world.rank()));
            Ok(())
        }
    }
}

/// Four chunks under way at a time.
fn in_chunks(world: &p2p::World, matrix: &[f32], chunks: usize) -> p2p::Result<()> {
    match pipeline::join(world, pipeline::Parameters { chunks })? {
        pipeline::Role::Root(root) => root.run(|s| {
            s.for_each_dest(|dest, s| {
                let s = s.for_each_chunk(|chunk, s| {
                    s.isend_chunk(chunk_of(matrix, dest, chunk))?.when(|s| {
                        let (_sent, s) = s.wait_all_pending()?;
                        Ok(s)
                    })
                })?;
                let (_sent, s) = s.wait_all_pending()?;
                Ok(s)
            })
        }),
        pipeline::Role::Worker(worker) => {
            let mut received = vec![0.0; CHUNK];
            worker.run(|s| {
                s.for_each_chunk(|chunk, s| {
                    let s = s.recv_chunk(&mut received)?;
                    assert!(received == chunk_of(matrix, world.rank(), chunk));
                    Ok(s)
                })
            })
        }
    }
}

/// A matrix in which no two neighbours are alike.
fn element(index: usize) -> f32 {
    (index % 65_521) as f32
}

/// The rows of one rank.
fn block_of(matrix: &[f32], rank: usize) -> &[f32] {
    &matrix[rank * BLOCK..][..BLOCK]
}

/// 64 rows, counted from the first of a rank's own on; after the last row comes the first.
fn chunk_of(matrix: &[f32], rank: usize, chunk: usize) -> &[f32] {
    let first = (rank * CHUNKS + chunk) % (RANKS * CHUNKS);
    &matrix[first * CHUNK..][..CHUNK]
}

#[test]
fn every_rank_gets_its_rows() -> p2p::Result<()> {
    main()
}
