//! Changes that pre-processors make to an HTTP Request for one sample. In JMeter they set properties of the user's own copy of
//! the sampler, which JMeter restores after the sample (`TestElement#recoverRunningVersion`).

use drumfire_expr::Random;

use crate::run::request::{Request, settle_headers};

/// A change to be made to the next sample.
pub trait Edit {
    /// `random` chooses among several fitting values.
    fn apply(&self, random: &mut Random, request: &mut Request);

    /// Whether it needs the evaluated texts of the request.
    fn reads(&self) -> bool {
        true
    }
}

/// The changes that the pre-processors of the current sampler ask for.
#[derive(Default)]
pub struct Edits {
    /// Whether the current sampler is an HTTP Request; others are not changed.
    applies: bool,
    edits: Vec<Box<dyn Edit>>,
}

impl Edits {
    /// Begins a sampler's turn, and drops changes that were meant for another one.
    pub fn begin(&mut self, is_http: bool) {
        self.applies = is_http;
        self.edits.clear();
    }

    /// Whether the current sampler is an HTTP Request (`sampler instanceof HTTPSamplerBase`).
    pub fn applies(&self) -> bool {
        self.applies
    }

    pub fn add(&mut self, edit: impl Edit + 'static) {
        self.edits.push(Box::new(edit));
    }

    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Whether a change needs the evaluated texts of the request.
    pub fn reads(&self) -> bool {
        self.edits.iter().any(|edit| edit.reads())
    }

    pub fn take(&mut self) -> Vec<Box<dyn Edit>> {
        std::mem::take(&mut self.edits)
    }
}

/// A request before and after a script had access to it. Settings that the script did not change stay as other edits make them.
pub struct Replaced {
    pub before: Request,
    pub after: Request,
}

impl Edit for Replaced {
    fn reads(&self) -> bool {
        false
    }

    fn apply(&self, _: &mut Random, request: &mut Request) {
        let Replaced { before, after } = self;
        let texts = [
            (&before.name, &after.name, &mut request.name),
            (&before.protocol, &after.protocol, &mut request.protocol),
            (&before.domain, &after.domain, &mut request.domain),
            (&before.port, &after.port, &mut request.port),
            (&before.path, &after.path, &mut request.path),
            (&before.method, &after.method, &mut request.method),
            (
                &before.content_encoding,
                &after.content_encoding,
                &mut request.content_encoding,
            ),
        ];
        for (before, after, place) in texts {
            if before != after {
                place.clone_from(after);
            }
        }
        if before.raw_body != after.raw_body {
            request.raw_body = after.raw_body;
        }
        if before.multipart != after.multipart {
            request.multipart = after.multipart;
        }
        if before.browser_compatible != after.browser_compatible {
            request.browser_compatible = after.browser_compatible;
        }
        if before.connect_timeout != after.connect_timeout {
            request.connect_timeout = after.connect_timeout;
        }
        if before.response_timeout != after.response_timeout {
            request.response_timeout = after.response_timeout;
        }
        if before.files != after.files {
            request.files.clone_from(&after.files);
        }
        if before.arguments != after.arguments {
            let evaluated = std::mem::replace(&mut request.arguments, after.arguments.clone());
            for argument in &mut request.arguments {
                argument.settle(&before.arguments, &evaluated);
            }
        }
        if before.headers != after.headers {
            let evaluated = std::mem::replace(&mut request.headers, after.headers.clone());
            settle_headers(&mut request.headers, &before.headers, &evaluated);
        }
    }
}
