//! Explains each figure that misses its bound: where the rest of its time or memory goes. Each entry comes from a profile taken
//! once; the git history of this file has the date.

/// Scenario, the figure as the report prints it before its bound, and the profile.
const PROFILES: &[(&str, &str, &str)] = &[
    (
        "shop",
        "shop: CPU to k6's",
        "63 % of the CPU is the kernel's, which sends, receives and waits. k6 asks it for the same.",
    ),
    (
        "extract",
        "CPU to wrk's",
        "63 % of the samples of `perf` are in the kernel, which wrk asks for the same: send, receive, wait. 30 % are \
         ours, spread thin: no function of ours has more than 2 %, and the largest are the sampler, the user and the walk \
         to the next element.",
    ),
    (
        "http2",
        "CPU to h2load's",
        "Callgrind counts 31,400 instructions a sample and 20,800 of h2load: 6,200 read the header fields, half of them \
         Huffman codes, 11,000 are the sampler and its row. h2load builds its request once and looks at no header field.",
    ),
    (
        "workers",
        "all cores: CPU to that of 'one core'",
        "The server runs on the same cores, so each process wakes the other on another core.",
    ),
    (
        "download",
        "plain: time to curl's",
        "82 % of the samples of `perf` are in the kernel, which drops the body without copying it; the rest of the time \
         passes in the server.",
    ),
    (
        "download",
        "busy machine: time to curl's",
        "95 % of the samples of `perf` are in the kernel, most of them where it hands the server's data over. Both \
         programs wait for the server's turn on a core.",
    ),
    (
        "download",
        "TLS: time to curl's",
        "AES-GCM has 28 % of the samples of `perf`, the copy out of the kernel 17 %, and copies within the process 9 %. \
         All three process each byte once.",
    ),
    (
        "download",
        "MD5: CPU to md5sum's",
        "The body comes through a socket, where md5sum reads a file from the page cache.",
    ),
    (
        "scripts",
        "prev: CPU us beyond 'empty script'",
        "By `perf`, with the virtual machine's map of compiled code: 47 % of the samples are in the program, 25 % in \
         compiled Java, 17 % in libjvm. The result goes to Java whole: Java's reading of it has 6 %, making the array it \
         comes in 3 %.",
    ),
    (
        "scripts",
        "get and put: CPU us beyond 'empty script'",
        "By `perf`: 54 % of the samples are in the program, 17 % in compiled Java, 17 % in libjvm. Of the two calls back \
         from Java, copying the texts has 8 %, and lending the user to Java's thread 5 %.",
    ),
    (
        "first-script",
        "first script: ms to the first sample",
        "Java takes 90 ms until it runs anything, half of them for its modules. 2,971 of its 3,113 classes come from the \
         archive. The rest is the start of Groovy and of its compiler, in Java code that no profile cuts finer.",
    ),
    (
        "upload",
        "CPU to curl-upload's",
        "By `perf`, nearly all is sendfile(2), which hands the pages of the file to the server's socket. The loopback \
         interface runs the server's side of TCP in the same call, so its cost falls on whoever sends.",
    ),
    (
        "neighbours",
        "md5: us late by itself, p99",
        "The digest is taken in turns of about 0.5 ms, between which timers are looked at. It keeps the worker busy all \
         the time, so the kernel gives the core to the server now and then, for up to 8 ms by `perf sched`.",
    ),
    (
        "neighbours",
        "json: us late by itself, p99",
        "By `perf`, the body moved as it grew (8 to 12 ms), and was checked to be UTF-8 for its length (3 ms). It moves \
         once now, and nothing is decoded for its length. The rest is for the core: in one of a thousand turns the worker \
         waits 5 ms for it.",
    ),
    (
        "neighbours",
        "tls: us late by itself, p99",
        "A hundred users shake hands all the time, so the worker wants all of a core that it shares with the server: in \
         one of a hundred turns it waits 3.5 ms for it, by `perf sched`.",
    ),
    (
        "open",
        "20,000 a second: us late by itself, p99",
        "The workers' turns are short: 999 of 1,000 end within 0.35 ms, by `perf sched`. In one of 1,000 the worker waits \
         4 ms for a core that the server has.",
    ),
    (
        "growth-compare",
        "10000000: time to wc's",
        "Two files are read, at the same time, where wc reads one. By `perf`, the `csv` crate has 37 % of the samples, \
         our reading of its fields 22 %, adding up 20 %, and the kernel 7 %.",
    ),
    (
        "growth-merge",
        "10000000: time to wc's",
        "As for the comparison; the `csv` crate has 36 % of the instructions, our reading of its fields 22 %.",
    ),
    (
        "long",
        "30 minutes: peak memory to that of '1 minute'",
        "By `/proc`, memory grows by 2.2 KiB a second in the first five minutes and by 1.3 in the next. The verdict keeps \
         4,096 seconds of the machine's counters and the report 600 steps; where there are more, neighbours are added up.",
    ),
    (
        "growth-minutes",
        "60: peak memory to that of '1'",
        "The same seconds and steps, near their bounds after an hour.",
    ),
    (
        "users",
        "100000 without: KiB a user beyond '100 without'",
        "A task of 1,024 bytes, aligned to 128, and seven small allocations that together take 0.4 KiB.",
    ),
    (
        "users",
        "many with connections: KiB a user beyond '100 with connections'",
        "1.4 KiB are the user without a connection: a task of 1,024 bytes and small allocations. The rest is the \
         connection with its place in the event loop; its buffers are given back while the user thinks.",
    ),
    (
        "scripts",
        "empty script: CPU us beyond 'no script'",
        "By `perf`: 60 % of the samples are in the program, 13 % in compiled Java, 12 % in libjvm, which passes each call \
         on, and 8 % are the reading of the clock.",
    ),
    (
        "sleepers",
        "100 sleep: late by itself, p99, to that of 'nobody sleeps'",
        "By `perf`, Java's compilers have 61 % of the samples of the first seconds, its other threads 8 %, and the \
         workers 21 %: the hundred threads whose scripts sleep bring more to compile.",
    ),
    (
        "shop",
        "shop: CPU to wrk's of 'one static page'",
        "49 % of the samples of `perf` are in the kernel, which wrk asks for the same. 39 % are in the program and 11 % \
         in the C library, spread thin: no function of ours has more than 1.5 %.",
    ),
    (
        "websocket",
        "CPU to k6's",
        "61 % of the samples of `perf` are in the kernel. A message costs 5.8 µs there, and k6's 5.5. The program has 3.5 \
         µs beside it, k6 7.9.",
    ),
    (
        "websocket",
        "CPU to jmeter's",
        "As above: 61 % of the samples of `perf` are in the kernel.",
    ),
    (
        "http2-api",
        "API: CPU to h2load's of 'one answer of the API'",
        "The JSONPath, the assertion and the body of the POST are ours alone: h2load looks at no answer. Of a plain request, \
         callgrind counts 31,400 instructions and 20,800 of h2load.",
    ),
    (
        "http2-api",
        "API: CPU to k6's",
        "Not profiled since HTTP/2 has frames of its own.",
    ),
    (
        "work",
        "pages: CPU to jmeter's",
        "82 % of the samples of `perf` are in the kernel, which JMeter asks for the same, 11 % in the program and 6 % in the C \
         library.",
    ),
    (
        "neighbours",
        "xpath: us late by itself, p99",
        "For the first half second Java starts for the Groovy of the plan, with threads of its own, on the one core that the worker has.",
    ),
    (
        "neighbours",
        "groovy: us late by itself, p99",
        "As for XPath: Java starts, loads classes and compiles on the core of the worker.",
    ),
    (
        "shop",
        "shop: peak memory to loadr's",
        "By smaps, 13 of 23 MiB are pages of the program itself, 5 are its constants, of which 1.4 are relocated at the start, and \
         1.3 those of the C library. The heap has 0.5.",
    ),
    (
        "growth-idle",
        "1000000: KiB a user beyond '1000'",
        "As for `users`: the task and seven small allocations.",
    ),
];

/// The profile of a figure.
pub fn of(scenario: &str, aim: &str) -> Option<&'static str> {
    PROFILES
        .iter()
        .find(|(of, figure, _)| *of == scenario && *figure == aim)
        .map(|(_, _, profile)| *profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::scenario;

    #[test]
    fn profiles_are_of_figures_that_there_are() {
        for (of, figure, _) in PROFILES {
            let known = scenario::all()
                .iter()
                .filter(|scenario| scenario.name == *of)
                .flat_map(|scenario| &scenario.aims)
                .any(|aim| aim.text() == *figure);
            assert!(known, "{of}: {figure}");
        }
    }
}
