//! Media types of files by the ends of their names (`MimetypesFileTypeMap` of JavaMail's activation library).

/// The type of a file that is not known.
const UNKNOWN: &str = "application/octet-stream";

/// The media type of a file. As in Java, small and capital letters differ.
pub fn of_name(name: &str) -> &'static str {
    let Some((_, end)) = name.rsplit_once('.') else {
        return UNKNOWN;
    };
    match end {
        "html" | "htm" | "HTML" | "HTM" => "text/html",
        "txt" | "text" | "TXT" | "TEXT" => "text/plain",
        "gif" | "GIF" => "image/gif",
        "ief" => "image/ief",
        "jpeg" | "jpg" | "jpe" | "JPG" => "image/jpeg",
        "tiff" | "tif" => "image/tiff",
        "png" | "PNG" => "image/png",
        "xwd" => "image/x-xwindowdump",
        "ai" | "eps" | "ps" => "application/postscript",
        "rtf" => "application/rtf",
        "tex" => "application/x-tex",
        "texinfo" | "texi" => "application/x-texinfo",
        "t" | "tr" | "roff" => "application/x-troff",
        "au" => "audio/basic",
        "midi" | "mid" => "audio/midi",
        "aifc" => "audio/x-aifc",
        "aif" | "aiff" => "audio/x-aiff",
        "wav" => "audio/x-wav",
        // The later of two lines for `mpeg` counts.
        "mpeg" | "mpg" | "mpe" => "video/mpeg",
        "qt" | "mov" => "video/quicktime",
        "avi" => "video/x-msvideo",
        _ => UNKNOWN,
    }
}
