//! The code blocks of a page, the commands in them, and what the page says about their exit codes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The words before the reason in the comment that precedes a block that is not run.
const NOT_RUN: &str = "<!-- not run: ";
/// The words before the name of a program without which a block is not run.
const NEEDS: &str = "<!-- needs: ";

/// The beginning of each line of a block without a fence.
const INDENT: &str = "    ";

/// Programs whose names begin a line of a command block that has no tag.
const PROGRAMS: [&str; 18] = [
    "apt", "brew", "cargo", "cd", "code", "curl", "docker", "drumfire", "echo", "git", "helm",
    "jq", "kubectl", "mvn", "npm", "pip", "podman", "sudo",
];

/// A page of the documentation.
pub struct Page {
    pub name: String,
    pub text: String,
    pub blocks: Vec<Block>,
    /// The paragraphs and table rows outside of the blocks, each in one line.
    pub prose: Vec<String>,
}

/// A block of code.
pub struct Block {
    /// Its first line in the page, from 1.
    pub line: usize,
    pub kind: BlockKind,
    pub lines: Vec<String>,
    /// Why the block is not run.
    pub not_run: Option<String>,
    /// The program without which the block is not run.
    pub needs: Option<String>,
}

/// The kind of a block's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Commands.
    Commands,
    /// Commands behind `$ `, each with what it prints.
    Session,
    /// Anything else, with its tag.
    Other(String),
}

/// A command of a block.
#[derive(Debug, PartialEq, Eq)]
pub struct ShownCommand {
    /// Its text for the shell.
    pub text: String,
    /// The exit codes that the page allows.
    pub codes: BTreeSet<i32>,
    /// The output that the page shows; only sessions have one.
    pub output: Option<Vec<String>>,
}

/// The folder of the clone.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Page {
    /// Reads a page, by its path in the clone.
    pub fn read(name: &str) -> Page {
        let text = std::fs::read_to_string(root().join(name));
        Page::of(name, text.unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    fn of(name: &str, text: String) -> Page {
        let mut page = Page {
            name: name.to_owned(),
            text: String::new(),
            blocks: Vec::new(),
            prose: Vec::new(),
        };
        let lines: Vec<&str> = text.lines().collect();
        let (mut not_run, mut needs) = (None, None);
        let (mut at, mut is_after_blank) = (0, true);
        while let Some(line) = lines.get(at) {
            let fence = line.trim_start().strip_prefix("```");
            let is_indented = |line: &str| line.starts_with(INDENT);
            if fence.is_some() || is_after_blank && is_indented(line) {
                let first = at + usize::from(fence.is_some());
                let rest = lines[first..].iter();
                let length = match fence {
                    Some(_) => rest.take_while(|line| line.trim() != "```").count(),
                    None => rest.take_while(|line| is_indented(line)).count(),
                };
                let content = &lines[first..first + length];
                let indent = if fence.is_some() { 0 } else { INDENT.len() };
                page.blocks.push(Block {
                    line: first + 1,
                    kind: BlockKind::of(fence.unwrap_or_default(), content),
                    lines: content
                        .iter()
                        .map(|line| line[indent..].to_owned())
                        .collect(),
                    not_run: not_run.take(),
                    needs: needs.take(),
                });
                at = first + length + usize::from(fence.is_some());
                is_after_blank = false;
                continue;
            }
            if let Some(reason) = comment(line, NOT_RUN) {
                not_run = Some(reason);
            } else if let Some(program) = comment(line, NEEDS) {
                needs = Some(program);
            } else {
                page.add_prose(line, is_after_blank);
            }
            is_after_blank = line.trim().is_empty();
            at += 1;
        }
        page.text = text;
        page
    }

    fn add_prose(&mut self, line: &str, is_after_blank: bool) {
        let is_row = line.starts_with('|') || line.starts_with("- ");
        match self.prose.last_mut() {
            Some(paragraph) if !is_after_blank && !is_row => {
                paragraph.push(' ');
                paragraph.push_str(line.trim());
            }
            _ => self.prose.push(line.trim().to_owned()),
        }
    }

    /// Whether the page tells its reader to work in the folder of the clone.
    pub fn is_read_in_the_clone(&self) -> bool {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        words
            .join(" ")
            .to_lowercase()
            .contains("in the folder of the clone")
    }

    /// The code spans of the prose.
    pub fn spans(&self) -> impl Iterator<Item = &str> {
        self.prose
            .iter()
            .flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2))
    }
}

/// Whether a line begins with a program's name, after variables that are set for it.
fn is_command(line: &str) -> bool {
    let mut words = line
        .split_whitespace()
        .skip_while(|word| word.contains('='));
    words.next().is_some_and(|word| PROGRAMS.contains(&word))
}

fn comment(line: &str, beginning: &str) -> Option<String> {
    let reason = line.trim().strip_prefix(beginning)?;
    Some(reason.trim_end_matches("-->").trim().to_owned())
}

impl BlockKind {
    fn of(tag: &str, content: &[&str]) -> BlockKind {
        match tag {
            "sh" => BlockKind::Commands,
            "console" => BlockKind::Session,
            "" if content.iter().any(|line| is_command(line)) => BlockKind::Commands,
            tag => BlockKind::Other(tag.to_owned()),
        }
    }
}

impl Block {
    /// The commands; none in a block that holds something else.
    pub fn commands(&self) -> Vec<ShownCommand> {
        match self.kind {
            BlockKind::Commands => commands(&self.lines),
            BlockKind::Session => session(&self.lines),
            BlockKind::Other(_) => Vec::new(),
        }
    }
}

/// The commands of a block. Lines that end with a backslash and here-documents belong to one command.
fn commands(lines: &[String]) -> Vec<ShownCommand> {
    let mut commands = Vec::new();
    let mut remark = String::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            remark.clear();
            continue;
        }
        if line.trim_start().starts_with('#') {
            remark.push_str(line);
            continue;
        }
        let mut text = line.clone();
        while text.ends_with('\\')
            && let Some(next) = lines.next()
        {
            text.push('\n');
            text.push_str(next);
        }
        if let Some(end) = here_document(line) {
            for next in lines.by_ref() {
                text.push('\n');
                text.push_str(next);
                if *next == end {
                    break;
                }
            }
        }
        remark.push_str(line.split_once(" # ").map_or("", |(_, remark)| remark));
        commands.push(ShownCommand {
            codes: announced(&remark),
            text,
            output: None,
        });
        remark.clear();
    }
    commands
}

/// The word that ends the here-document that a line begins.
fn here_document(line: &str) -> Option<String> {
    let (_, word) = line.split_once("<<")?;
    let word = word.split_whitespace().next()?;
    Some(word.trim_matches(['\'', '"']).to_owned())
}

fn session(lines: &[String]) -> Vec<ShownCommand> {
    let mut commands: Vec<ShownCommand> = Vec::new();
    for line in lines {
        if let Some(text) = line.strip_prefix("$ ") {
            let remark = text.split_once(" # ").map_or("", |(_, remark)| remark);
            commands.push(ShownCommand {
                text: text.to_owned(),
                codes: announced(remark),
                output: Some(Vec::new()),
            });
        } else if let Some(shown) = commands
            .last_mut()
            .and_then(|command| command.output.as_mut())
        {
            shown.push(line.clone());
        }
    }
    commands
}

/// The exit codes that a remark beside a command announces: `exit code 5` is that code alone, and `exit code 5 if …` is that code
/// or 0. Without a remark the command succeeds.
fn announced(remark: &str) -> BTreeSet<i32> {
    let mut codes = BTreeSet::new();
    for after in remark.split("exit code ").skip(1) {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(code) = after[..digits].parse() {
            codes.insert(code);
            if after[digits..].trim_start().starts_with("if ") {
                codes.insert(0);
            }
        }
    }
    if codes.is_empty() {
        codes.insert(0);
    }
    codes
}

#[test]
fn blocks_are_told_apart_and_keep_their_markers() {
    let text = "a `b\nc` d\n\n    drumfire version\n\n    [jvm]\n\n<!-- not run: a foreign server -->\n```sh\ncurl x\n```\n```toml\na = 1\n```\n";
    let page = Page::of("page.md", text.to_owned());
    let kinds: Vec<&BlockKind> = page.blocks.iter().map(|block| &block.kind).collect();
    let other = |tag: &str| BlockKind::Other(tag.to_owned());
    assert_eq!(
        kinds,
        [
            &BlockKind::Commands,
            &other(""),
            &BlockKind::Commands,
            &other("toml")
        ]
    );
    let reasons: Vec<Option<&str>> = page.blocks.iter().map(|b| b.not_run.as_deref()).collect();
    assert_eq!(reasons, [None, None, Some("a foreign server"), None]);
    assert_eq!(page.blocks[0].line, 4);
    assert_eq!(page.blocks[2].lines, ["curl x"]);
    assert_eq!(page.spans().collect::<Vec<_>>(), ["b c"]);
}

#[test]
fn commands_span_continued_lines_and_here_documents() {
    let lines = [
        "a \\",
        "  b   # exit code 5",
        "cat > f <<'END'",
        "x",
        "END",
        "c",
    ];
    let lines: Vec<String> = lines.map(str::to_owned).to_vec();
    let texts: Vec<String> = commands(&lines).into_iter().map(|one| one.text).collect();
    assert_eq!(
        texts,
        ["a \\\n  b   # exit code 5", "cat > f <<'END'\nx\nEND", "c"]
    );
}

#[test]
fn exit_codes_are_announced_in_words() {
    let codes = |text: &str| announced(text).into_iter().collect::<Vec<_>>();
    assert_eq!(codes("nothing of it"), [0]);
    assert_eq!(codes("exit code 5: too slow"), [5]);
    assert_eq!(codes("exit code 6 if the verdict is not VALID"), [0, 6]);
}
