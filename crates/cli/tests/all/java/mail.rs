//! The Mailer Visualizer, whose own class sends mail to a server of the test.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use super::{group, jsr223, plan, run, workshop};

/// Takes one mail by SMTP; gives its envelope and its lines.
fn take(stream: TcpStream) -> std::io::Result<Vec<String>> {
    let mut answers = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    let mut mail = Vec::new();
    write!(answers, "220 test ESMTP\r\n")?;
    while let Some(line) = lines.next().transpose()? {
        let word = line.split(' ').next().unwrap_or_default().to_uppercase();
        match word.as_str() {
            "DATA" => {
                write!(answers, "354 go on\r\n")?;
                for line in lines.by_ref() {
                    match line? {
                        line if line == "." => break,
                        line => mail.push(line),
                    }
                }
            }
            "QUIT" => {
                write!(answers, "221 bye\r\n")?;
                break;
            }
            _ => mail.push(line),
        }
        write!(answers, "250 ok\r\n")?;
    }
    Ok(mail)
}

fn serve(listener: &TcpListener, mails: &Sender<Vec<String>>) {
    for stream in listener.incoming().flatten() {
        if let Ok(mail) = take(stream)
            && mails.send(mail).is_err()
        {
            return;
        }
    }
}

#[test]
fn mail_is_sent_when_samples_fail_and_when_they_succeed_again() {
    let Some(workshop) = workshop() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    let (mails, taken) = channel();
    std::thread::spawn(move || serve(&listener, &mails));
    let mailer = format!(
        r#"<MailerResultCollector guiclass="MailerVisualizer" testclass="MailerResultCollector" testname="mail"><boolProp name="ResultCollector.error_logging">false</boolProp><stringProp name="filename"></stringProp><elementProp name="MailerResultCollector.mailer_model" elementType="MailerModel"><stringProp name="MailerModel.successLimit">2</stringProp><stringProp name="MailerModel.failureLimit">2</stringProp><stringProp name="MailerModel.failureSubject">it is down</stringProp><stringProp name="MailerModel.successSubject">it is up</stringProp><stringProp name="MailerModel.fromAddress">load@example.com</stringProp><stringProp name="MailerModel.smtpHost">127.0.0.1</stringProp><stringProp name="MailerModel.smtpPort">{port}</stringProp><stringProp name="MailerModel.addressie">a@example.com, b@example.com</stringProp><stringProp name="MailerModel.authType">NONE</stringProp></elementProp></MailerResultCollector><hashTree/>"#
    );
    let script = "SampleResult.successful = vars.iteration < 2 || vars.iteration > 5";
    let sampler = jsr223("JSR223Sampler", "fails at times", script);
    let plan = plan(&[group("g", 1, 10, &[sampler, mailer])]);
    let finished = run(&workshop, &plan, &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let mails: Vec<String> = taken.try_iter().map(|mail| mail.join("\n")).collect();
    assert_eq!(mails.len(), 2, "{mails:?} {}", workshop.read("run.log"));
    let has = |mail: &str, part: &str| assert!(mail.contains(part), "{part} is not in {mail}");
    has(&mails[0], "Subject: it is down");
    has(&mails[0], "RCPT TO:<b@example.com>");
    has(&mails[0], "URL Failed: fails at times");
    has(&mails[1], "Subject: it is up");
    has(&mails[1], "URL Restarted: fails at times");
}
