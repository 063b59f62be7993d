// SPDX-License-Identifier: GPL-2.0

//! Tables in Markdown.

/// A table that grows row by row.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    texts: usize,
}

impl Table {
    /// A table with these columns, of which the first `texts` are flush left
    /// and the others, numbers, flush right.
    pub fn new(header: Vec<String>, texts: usize) -> Self {
        Self { rows: vec![header], texts }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table, aligned so that it can be read as it is.
    pub fn render(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns).map(|at| self.width(at)).collect();
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            text += &self.line(row, &widths);
            if at == 0 {
                text += &self.rule(&widths);
            }
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        let widths = self.rows.iter().filter_map(|row| row.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = widths.iter().enumerate().map(|(at, width)| {
            let cell = row.get(at).map_or("", String::as_str);
            match at < self.texts {
                true => format!(" {cell:<width$} |"),
                false => format!(" {cell:>width$} |"),
            }
        });
        format!("|{}\n", cells.collect::<String>())
    }

    fn rule(&self, widths: &[usize]) -> String {
        let cells = widths.iter().enumerate().map(|(at, width)| {
            let dashes = "-".repeat(*width);
            match at < self.texts {
                true => format!(" {dashes} |"),
                false => format!(" {}: |", &dashes[1..]),
            }
        });
        format!("|{}\n", cells.collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(vec!["what".to_owned(), "n".to_owned()], 1);
        table.row(vec!["a".to_owned(), "1234".to_owned()]);
        table.row(vec!["µ".to_owned()]);
        let text = "| what |    n |\n| ---- | ---: |\n| a    | 1234 |\n| µ    |      |\n";
        assert_eq!(table.render(), text);
    }
}
