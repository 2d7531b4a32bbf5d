//! Rows of large files. The coordinator has the file, and agents ask for blocks of rows as they use them, so that nothing is copied
//! before the start.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_engine::{LeaseError, RowBlocks, RowReading};

use crate::files::PlanFile;
use crate::leases::PATIENCE;
use crate::link::Link;
use crate::wire::{self, RowsAnswer, RowsQuestion};

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(100);
/// The size of an agent's first block in bytes. The next ones are twice as large as long as each is used up within this time, so
/// that slow readers hold few rows and fast ones ask seldom.
const FIRST: u64 = 1 << 10;
const FAST: Duration = Duration::from_secs(1);
/// The largest size.
const LARGEST: u64 = 128 << 10;

/// Asks the coordinator for rows. A question whose answer is lost is repeated, and has the same answer.
///
/// # Errors
/// If the coordinator did not answer within [`PATIENCE`], or has no rows.
pub async fn ask(
    link: &Link,
    subject: String,
    question: &RowsQuestion,
) -> Result<String, LeaseError> {
    let since = Instant::now();
    let text = Bytes::from(wire::pack(question));
    let mut why = "the coordinator, which has the file, does not answer".to_owned();
    while since.elapsed() < PATIENCE {
        let asking = link.client.request(subject.clone(), text.clone());
        if let Ok(Ok(answer)) = tokio::time::timeout(PATIENCE / 4, asking).await {
            match wire::unpack::<RowsAnswer>(&answer.payload) {
                Ok(RowsAnswer::Rows(rows)) => return Ok(rows),
                Ok(RowsAnswer::Refused(fault)) => {
                    why = fault;
                    break;
                }
                Err(error) => why = error.to_string(),
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(LeaseError {
        element: question.element.clone(),
        tried: Some((since.elapsed(), why)),
    })
}

/// Answers the agents of a run.
pub async fn serve(link: Link, run: String, files: Vec<PlanFile>, agents: u64) {
    let files = files.into_iter().filter(PlanFile::is_streamed);
    let mut source = RowSource {
        files: files.map(|file| (file.path, file.here)).collect(),
        agents,
        blocks: HashMap::new(),
        answers: HashMap::new(),
    };
    if source.files.is_empty() {
        return;
    }
    let subject = wire::rows_subjects(&run);
    link.answer_all(subject, |question| {
        match wire::unpack::<RowsQuestion>(question) {
            Ok(question) => tokio::task::block_in_place(|| source.answer(&question)),
            Err(error) => Bytes::from(wire::pack(&RowsAnswer::Refused(error.to_string()))),
        }
    })
    .await;
}

/// The files whose rows agents ask for.
struct RowSource {
    /// By the path in the manifest.
    files: HashMap<String, PathBuf>,
    agents: u64,
    /// By element.
    blocks: HashMap<String, RowBlocks>,
    /// The last answer to each agent's life, by element.
    answers: HashMap<(u64, String), LastAnswer>,
}

struct LastAnswer {
    sequence: u64,
    answer: Bytes,
    /// The size that was wanted, in bytes.
    size: u64,
    at: Instant,
}

impl RowSource {
    /// The answer to a question: the next rows, or those that the question has got before.
    fn answer(&mut self, question: &RowsQuestion) -> Bytes {
        let key = (question.token, question.element.clone());
        let size = match self.answers.get(&key) {
            Some(last) if last.sequence == question.sequence => return last.answer.clone(),
            Some(last) if last.at.elapsed() < FAST => (last.size * 2).min(LARGEST),
            Some(last) => (last.size / 2).max(FIRST),
            None => FIRST,
        };
        let taken = match self.files.get(&question.file) {
            Some(file) => {
                let blocks = self
                    .blocks
                    .entry(question.element.clone())
                    .or_insert_with(|| {
                        let reading = RowReading {
                            encoding: question.encoding.clone(),
                            is_quoted: question.is_quoted,
                            skips_first_line: question.skips_first_line,
                            is_recycled: question.is_recycled,
                        };
                        RowBlocks::of(file, reading)
                    });
                blocks.take(self.agents, size)
            }
            None => Err(format!("the run has no file `{}`", question.file)),
        };
        let answer = match taken {
            Ok(rows) => RowsAnswer::Rows(rows),
            Err(fault) => RowsAnswer::Refused(fault),
        };
        let answer = Bytes::from(wire::pack(&answer));
        let last = LastAnswer {
            sequence: question.sequence,
            answer: answer.clone(),
            size,
            at: Instant::now(),
        };
        self.answers.insert(key, last);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_repeated_has_the_same_answer_and_other_rows_go_to_others() {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let rows: String = (0..20_000).map(|row| format!("row {row}\n")).collect();
        std::fs::write(file.path(), &rows).expect("there is room");
        let mut source = RowSource {
            files: [("rows.csv".to_owned(), file.path().to_owned())].into(),
            agents: 2,
            blocks: HashMap::new(),
            answers: HashMap::new(),
        };
        let question = |token, sequence| RowsQuestion {
            token,
            sequence,
            element: "CSV rows.csv".to_owned(),
            file: "rows.csv".to_owned(),
            ..RowsQuestion::default()
        };
        let mut all = String::new();
        for sequence in 1.. {
            let (token, sequence) = (sequence % 2, sequence);
            let first = source.answer(&question(token, sequence));
            assert_eq!(source.answer(&question(token, sequence)), first);
            match wire::unpack(&first).expect("it is whole") {
                RowsAnswer::Rows(block) if block.is_empty() => break,
                RowsAnswer::Rows(block) => all += &block,
                RowsAnswer::Refused(why) => panic!("{why}"),
            }
        }
        assert!(all == rows);
        let other = RowsQuestion {
            file: "/etc/passwd".to_owned(),
            ..question(1, 99)
        };
        let other = RowsQuestion {
            element: "other".to_owned(),
            ..other
        };
        let refused = wire::unpack(&source.answer(&other)).expect("it is whole");
        assert!(matches!(refused, RowsAnswer::Refused(_)));
    }
}
