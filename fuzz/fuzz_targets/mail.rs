//! Any bytes as a mail that was read: its parts, texts, addresses and dates; and as replies of SMTP and IMAP servers.
#![no_main]

use drumfire_mail::smtp::Reply;
use drumfire_mail::{Received, ReceivedContent, date_millis, decode_words, imap, parse_list, unfold};
use libfuzzer_sys::fuzz_target;

fn read(mail: &Received<'_>) {
    for (_, value) in mail.headers.iter() {
        let text = unfold(value);
        let _ = (decode_words(&text), date_millis(value));
        if let Ok(addresses) = parse_list(value) {
            // An address that was written can be read again.
            for address in addresses {
                let _ = parse_list(&address.to_string());
            }
        }
    }
    let _ = (mail.boundary(), mail.is_attached(), mail.check_parts());
    if let Ok(ReceivedContent::Parts(parts)) = mail.content() {
        parts.parts.iter().for_each(read);
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(&Received::read(bytes));
    let mut reply = Reply::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let _ = imap::literal_length(line);
        if reply.push(line) {
            let _ = std::mem::take(&mut reply).extensions().mechanism();
        }
    }
    reply.end();
});
