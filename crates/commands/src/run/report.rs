//! The report at the end of a run.

use drumfire_report::RunFile;

use crate::console::Console;
use crate::engine::RunOrder;
use crate::exit_codes::Exit;
use crate::jmeter::meaning::failed;
use crate::refusal::Refusal;
use crate::report::arguments::ReportFiles;
use crate::report::files;
use crate::report::read_run;
use crate::run::arguments::{Progress, RunArguments};
use crate::settings::properties::RunProperties;

/// The report at the end of a run.
pub struct Report {
    pub files: ReportFiles,
    /// Whether `statistics.json` describes the result file (`-e`).
    pub at_end: bool,
    /// Whether to say nothing of the files that were written.
    is_quiet: bool,
}

impl Report {
    /// Checks and clears the report's places before anything is sent, with JMeter's messages.
    pub fn claim(
        options: &RunArguments,
        order: &RunOrder,
        settings: &RunProperties,
    ) -> Result<Report, Refusal> {
        let mut files = options.report.clone();
        let at_end = options.report_at_end;
        let is_quiet = options.progress == Progress::Quiet;
        if let Some(folder) = &files.folder {
            files::claim_folder(folder, options.delete_results)
                .map_err(|failure| failed(failure.as_ref(), Exit::RunFailed))?;
        }
        if !at_end {
            // JMeter claims the folder of -o, but writes to it only with -e.
            files.folder = None;
            return Ok(Report {
                files,
                at_end,
                is_quiet,
            });
        }
        files
            .folder
            .get_or_insert_with(|| files::default_folder(settings));
        let results = order.results.as_deref().filter(|_| !order.delete_results);
        if let Some(results) = results
            && results.metadata().is_ok_and(|file| file.len() > 0)
        {
            // The wording is ReportGenerator's.
            let message = format!("Results file:{} is not empty", results.display());
            return Err(failed(&message, Exit::RunFailed));
        }
        Ok(Report {
            files,
            at_end,
            is_quiet,
        })
    }

    pub fn is_wished(&self) -> bool {
        !self.files.is_empty()
    }

    /// Writes the files. Returns what could not be written.
    ///
    /// JMeter's dashboard counts the rows of the result file, in which sub-results have rows of their own. `statistics.json`
    /// of `-e` therefore counts them as well, with the times that the run itself has measured.
    pub fn write(
        &self,
        run: &RunFile,
        order: &RunOrder,
        settings: &RunProperties,
        console: &mut Console<'_>,
    ) -> Vec<String> {
        let mut lost = Vec::new();
        let from_results = match (&order.results, self.at_end) {
            (Some(results), true) => match read_run(results, settings, console) {
                Ok(mut rows) => {
                    rows.take_times_of(run);
                    Some(rows)
                }
                Err(error) => {
                    lost.push(error.into());
                    None
                }
            },
            _ => None,
        };
        let statistics = from_results.as_ref().unwrap_or(run);
        lost.extend(files::write(run, statistics, &self.files, settings));
        if self.files.ci.annotations {
            console.print_as_it_is(&files::annotations(&run.name, &files::cases(run, settings)));
        }
        let pages = self.files.folder.iter().chain(&self.files.page);
        for page in pages.filter(|page| !self.is_quiet && page.exists()) {
            console.line(&format!("report   {}", page.display()));
        }
        lost.into_iter().map(report_error).collect()
    }
}

fn report_error(message: String) -> String {
    format!("Error generating the report: {message}")
}
