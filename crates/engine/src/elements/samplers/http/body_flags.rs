//! The flags of a request that decide about its body, and how often JMeter reads the parts of that body (`HTTPHC4Impl`,
//! `PostWriter`, `PutWriter`).

use drumfire_web::property::{Client, Property};
use drumfire_web::url;

use super::reader::BodyReader;
use super::template::RequestTemplate;

/// The flags of one sample.
pub struct BodyFlags {
    pub multipart: bool,
    pub browser_compatible: bool,
    pub raw: bool,
    /// Whether the request has a body, unless it follows a redirect.
    pub has_body: bool,
    /// Whether that body has several parts.
    pub is_multipart: bool,
    pub argument_reads: ArgumentReads,
    pub file_reads: FileReads,
}

/// How often JMeter reads the settings of each argument beside its name and value.
#[derive(Default)]
pub struct ArgumentReads {
    pub encode: usize,
    pub metadata: usize,
    pub content_type: usize,
}

/// How often JMeter reads the settings of each file.
#[derive(Default)]
pub struct FileReads {
    pub path: usize,
    pub name: usize,
    pub media_type: usize,
}

/// The source of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    None,
    Multipart,
    /// The only file, without arguments.
    File,
    /// The values of arguments as they are.
    Raw,
    Form,
}

impl BodyFlags {
    pub fn read(template: &RequestTemplate, read: &mut BodyReader<'_>, method: &str) -> BodyFlags {
        let is_client = template.client == Client::HttpClient;
        let is_java_put = !is_client && method == "PUT";
        let sends_file = template.arguments.is_empty() && template.sends_file();
        // HTTPHC4Impl#createHttpRequest: a GET with a body is another class of requests.
        let is_get = is_client && method == "GET";
        let asks_get = is_get && !sends_file;
        let raw_get = asks_get && read.flag_times(Property::Flag, &template.raw_body, 1);
        let has_body = match method {
            "GET" => is_get && (sends_file || raw_get || template.is_nameless()),
            "HEAD" | "TRACE" | "OPTIONS" => false,
            _ => is_client || matches!(method, "POST" | "PUT"),
        };
        // Java: once for the head and once for the body.
        let looks = match (has_body, is_client || is_java_put) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let multipart = read.flag_times(Property::Flag, &template.multipart, looks);
        let has_parts = multipart || !(template.files.is_empty() || template.sends_file());
        let is_multipart = has_body && has_parts && !is_java_put;
        let asks_raw = has_body && !is_multipart && !sends_file;
        let raw = match (asks_get, asks_raw) {
            (true, false) => raw_get,
            (_, asks_raw) => {
                read.flag_times(Property::Flag, &template.raw_body, usize::from(asks_raw))
            }
        };
        let kind = match has_body {
            false => BodyKind::None,
            true if is_multipart => BodyKind::Multipart,
            true if sends_file => BodyKind::File,
            true if raw || template.is_nameless() => BodyKind::Raw,
            true => BodyKind::Form,
        };
        let asks_browser = match (is_multipart, is_client) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => template.arguments.len(),
        };
        BodyFlags {
            multipart,
            browser_compatible: read.flag_times(
                Property::Flag,
                &template.browser_compatible,
                asks_browser,
            ),
            raw,
            has_body,
            is_multipart,
            argument_reads: ArgumentReads::of(template, method, kind),
            file_reads: FileReads::of(template, method, kind, multipart, looks),
        }
    }
}

impl ArgumentReads {
    fn of(template: &RequestTemplate, method: &str, kind: BodyKind) -> ArgumentReads {
        let is_client = template.client == Client::HttpClient;
        let mut reads = ArgumentReads::default();
        let is_text = match (kind, is_client, method) {
            (BodyKind::Form, false, "POST") => true,
            (BodyKind::Form, false, _) => false,
            (BodyKind::Raw | BodyKind::Form, ..) => {
                reads.encode += 1;
                false
            }
            (BodyKind::Multipart, true, _) => {
                reads.content_type = 2;
                false
            }
            _ => false,
        };
        if is_text || url::method_takes_query(method) {
            // HTTPSamplerBase#getQueryString: an argument without a name is left out.
            let has_name = !template.is_nameless();
            reads.encode += 1 + usize::from(has_name);
            reads.metadata = 2 * usize::from(has_name);
        }
        reads
    }
}

impl FileReads {
    fn of(
        template: &RequestTemplate,
        method: &str,
        kind: BodyKind,
        multipart: bool,
        looks: usize,
    ) -> FileReads {
        let is_client = template.client == Client::HttpClient;
        let is_single = usize::from(template.files.len() == 1);
        // HTTPSamplerBase#getSendFileAsPostBody reads path and name of a single file.
        let mut asks = 0;
        if is_client && method == "GET" && template.arguments.is_empty() {
            asks += is_single;
        }
        let mut reads = FileReads::default();
        if !multipart {
            // HTTPSamplerBase#getUseMultipart
            reads.path += looks;
            asks += looks * is_single;
        }
        match kind {
            BodyKind::None | BodyKind::Raw | BodyKind::Form => {}
            BodyKind::Multipart => {
                reads.path += if is_client { 1 } else { 3 };
                reads.name += 1;
                reads.media_type += 1;
            }
            BodyKind::File => {
                let (opened, kinds) = match (is_client, method) {
                    (true, _) => (1, 3),
                    (false, "PUT") => (2, 2),
                    (false, _) => (2, 3),
                };
                asks += if is_client { 1 } else { 2 };
                reads.path += opened;
                reads.media_type += kinds;
            }
        }
        reads.path += asks;
        reads.name += asks;
        reads
    }
}
