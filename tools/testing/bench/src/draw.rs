// SPDX-License-Identifier: GPL-2.0

//! Draws the charts, as SVG and as PNG.

use crate::chart::{Chart, Series};
use crate::plan::KERNELS;
use crate::stats::Spread;
use anyhow::{anyhow, Context, Result};
use plotters::coord::types::RangedCoordf64;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{register_font, FontStyle};
use std::fmt::Display;
use std::fs;
use std::path::Path;

const SIZE: (u32, u32) = (1100, 520);
const FAMILY: &str = "sans-serif";

/// Colours that differ in brightness, too.
const COLOURS: [RGBColor; 4] =
    [RGBColor(90, 90, 90), RGBColor(230, 159, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];

/// Share of a category's width that its bars take.
const FILLED: f64 = 0.84;

type Plane<'a, 'b, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Loads the font of all text; call it once, before anything is drawn.
pub fn use_font(path: &Path) -> Result<()> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    // The font is used until the program ends.
    let bytes: &'static [u8] = Box::leak(bytes.into_boxed_slice());
    let registered = register_font(FAMILY, FontStyle::Normal, bytes);
    registered.map_err(|_| anyhow!("{} is no font that can be used", path.display()))
}

/// Writes `folder/stem.svg` and `folder/stem.png`.
pub fn draw(chart: &Chart, folder: &Path) -> Result<()> {
    let file = |extension: &str| folder.join(format!("{}.{extension}", chart.stem));
    let (svg, png) = (file("svg"), file("png"));
    paint(chart, SVGBackend::new(&svg, SIZE).into_drawing_area())
        .with_context(|| format!("cannot draw {}", svg.display()))?;
    paint(chart, BitMapBackend::new(&png, SIZE).into_drawing_area())
        .with_context(|| format!("cannot draw {}", png.display()))
}

fn paint<B: DrawingBackend>(chart: &Chart, area: DrawingArea<B, Shift>) -> Result<()> {
    area.fill(&WHITE).map_err(told)?;
    let (width, top) = (chart.categories.len() as f64, chart.top().max(1e-9) * 1.2);
    let mut plane = ChartBuilder::on(&area)
        .caption(&chart.title, (FAMILY, 20))
        .margin(14)
        .x_label_area_size(52)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..width, 0.0..top)
        .map_err(told)?;
    let mut mesh = plane.configure_mesh();
    mesh.disable_x_mesh().x_labels(0).y_labels(8).label_style((FAMILY, 14));
    mesh.y_label_formatter(&|value| short(*value, 2)).light_line_style(WHITE);
    mesh.draw().map_err(told)?;
    for (at, series) in chart.series.iter().enumerate() {
        bars(&mut plane, chart, at, series)?;
    }
    categories(&area, &plane, chart)?;
    let mut legend = plane.configure_series_labels();
    legend.position(SeriesLabelPosition::UpperRight).label_font((FAMILY, 15));
    legend.background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.4));
    legend.draw().map_err(told)?;
    area.present().map_err(told)
}

fn bars<'a, B: DrawingBackend + 'a>(
    plane: &mut Plane<'a, '_, B>,
    chart: &Chart,
    at: usize,
    series: &Series,
) -> Result<()> {
    let colour = colour(&series.name);
    let width = FILLED / chart.series.len() as f64;
    let left = |category: usize| category as f64 + (1.0 - FILLED) / 2.0 + at as f64 * width;
    let values = series.values.iter().enumerate();
    let values: Vec<(f64, Spread)> =
        values.filter_map(|(category, spread)| Some((left(category), (*spread)?))).collect();
    let bar = |(x, spread): &(f64, Spread)| {
        Rectangle::new([(*x, 0.0), (x + width * 0.94, spread.median)], colour.filled())
    };
    let drawn = plane.draw_series(values.iter().map(bar)).map_err(told)?;
    drawn
        .label(&series.name)
        .legend(move |(x, y)| Rectangle::new([(x, y - 6), (x + 14, y + 6)], colour.filled()));
    let middle = |x: f64| x + width * 0.47;
    let whisker = |(x, spread): &(f64, Spread)| {
        PathElement::new(vec![(middle(*x), spread.least), (middle(*x), spread.most)], BLACK)
    };
    plane.draw_series(values.iter().map(whisker)).map_err(told)?;
    let style = TextStyle::from((FAMILY, 13)).pos(Pos::new(HPos::Center, VPos::Bottom));
    let number = |(x, spread): &(f64, Spread)| {
        let text = short(spread.median, chart.digits);
        Text::new(text, (middle(*x), spread.most), style.clone())
    };
    plane.draw_series(values.iter().map(number)).map_err(told)?;
    Ok(())
}

/// The same for a kernel in every chart.
fn colour(kernel: &str) -> RGBColor {
    let place = KERNELS.iter().position(|known| *known == kernel).unwrap_or(KERNELS.len());
    COLOURS.get(place).copied().unwrap_or(BLACK)
}

fn categories<'a, B: DrawingBackend + 'a>(
    area: &DrawingArea<B, Shift>,
    plane: &Plane<'a, '_, B>,
    chart: &Chart,
) -> Result<()> {
    let style = TextStyle::from((FAMILY, 15)).pos(Pos::new(HPos::Center, VPos::Top));
    for (at, lines) in chart.categories.iter().enumerate() {
        let (x, y) = plane.backend_coord(&(at as f64 + 0.5, 0.0));
        for (line, text) in (0..).zip(lines) {
            let text = Text::new(text.as_str(), (x, y + 8 + 18 * line), style.clone());
            area.draw(&text).map_err(told)?;
        }
    }
    Ok(())
}

/// At most four characters for the large numbers.
fn short(value: f64, digits: usize) -> String {
    match value {
        _ if value >= 9_999_500.0 => format!("{:.0}M", value / 1e6),
        _ if value >= 999_500.0 => format!("{:.1}M", value / 1e6),
        _ if value >= 9_950.0 => format!("{:.0}k", value / 1e3),
        _ if value >= 1_000.0 => format!("{:.1}k", value / 1e3),
        _ if value >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.*}", digits.min(2)),
    }
}

fn told(err: impl Display) -> anyhow::Error {
    anyhow!("{err}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::{canned, chart};

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (8.0, "8"), (7.98, "7.98"), (262_144.0, "262k")];
        for (value, text) in cases {
            assert_eq!(short(value, 2), text);
        }
        assert_eq!(short(1_234_567.0, 0), "1.2M");
        assert_eq!(short(5_450.0, 0), "5.5k");
    }

    #[test]
    fn a_file_that_is_no_font_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("font.ttf");
        fs::write(&path, "no font").unwrap();
        assert!(use_font(&path).is_err());
    }

    #[test]
    fn a_chart_becomes_two_files() {
        let font = Path::new(crate::report::FONT);
        if !font.is_file() {
            return;
        }
        use_font(font).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let records = canned::records();
        let charts = chart::all(&Dataset::new(&records));
        draw(&charts[0], folder.path()).unwrap();
        let png = fs::read(folder.path().join(format!("{}.png", charts[0].stem))).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
        let svg = folder.path().join(format!("{}.svg", charts[0].stem));
        assert!(fs::read_to_string(svg).unwrap().contains("<svg"));
    }
}
