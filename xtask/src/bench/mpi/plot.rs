//! The plot: how bandwidth depends on the length of a message.

use plotters::prelude::*;

use super::plan::{KIB, MIB, SWEEP};
use super::tables::length;
use super::{Measured, Samples};
use crate::Result;

const SIZE: (u32, u32) = (960, 420);

/// Who is drawn, under what name, in which colour.
const CONTENDERS: [(&str, &str, RGBColor); 4] = [
    ("memcpy", "memcpy within a rank", RGBColor(150, 150, 150)),
    ("C", "C", RGBColor(60, 110, 180)),
    ("rsmpi", "rsmpi", RGBColor(220, 130, 40)),
    ("p2p", "p2p", RGBColor(30, 130, 70)),
];

/// The lengths that are drawn.
const SHORTEST: f64 = (4 * KIB) as f64;
const LONGEST: f64 = (256 * MIB) as f64;

/// One picture beside the other, for each MPI.
pub(super) fn draw(all: &[Measured]) -> Result<String> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    for (panel, Measured { mpi, samples }) in area.split_evenly((1, all.len())).iter().zip(all) {
        let two = samples.iter().find(|(ranks, _)| *ranks == 2);
        if let Some((_, samples)) = two {
            draw_one(panel, &format!("{mpi}: one way"), samples)?;
        }
    }
    area.present()?;
    drop(area);
    Ok(text)
}

type Panel<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_one(panel: &Panel<'_>, title: &str, samples: &Samples) -> Result {
    let points = |contender: &str| -> Vec<(f64, f64)> {
        let point = |&bytes: &u64| {
            let time = samples.median("one-way", bytes, contender)?;
            Some((bytes as f64, bytes as f64 / time * 1e9 / 1_073_741_824.0))
        };
        SWEEP.iter().filter_map(point).collect()
    };
    // A copy in a rank's own caches is beyond all that leaves it.
    let others = CONTENDERS.iter().filter(|it| it.0 != "memcpy").flat_map(|it| points(it.0));
    let highest = others.map(|it| it.1).fold(1.0, f64::max) * 1.2;
    let mut chart = ChartBuilder::on(panel)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(32)
        .y_label_area_size(44)
        .build_cartesian_2d((SHORTEST..LONGEST).log_scale().base(2.0), 0.0..highest)?;
    chart
        .configure_mesh()
        .x_desc("length of a message")
        .y_desc("GiB/s")
        .x_labels(9)
        .x_label_formatter(&|bytes| length(*bytes as u64))
        .light_line_style(WHITE)
        .draw()?;
    for (contender, name, colour) in CONTENDERS {
        let points = points(contender).into_iter();
        let points = points.filter(|it| it.0 >= SHORTEST && it.1 <= highest);
        let line = chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        line.label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    let labels = &mut chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw()?;
    Ok(())
}
