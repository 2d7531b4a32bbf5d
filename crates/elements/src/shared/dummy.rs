//! The fields of elements that make a sample from their properties.

use crate::form::{Property, choice, flag, same, text, whole};

pub const FIELDS: &[Property] = &[
    SUCCESFULL,
    RESPONSE_CODE,
    RESPONSE_MESSAGE,
    CONNECT,
    LATENCY,
    RESPONSE_TIME,
    WAITING,
    REQUEST_DATA,
    RESPONSE_DATA,
    URL,
    RESULT_CLASS,
];

pub const SUCCESFULL: Property = flag("SUCCESFULL")
    .label("Successful sample")
    .default("true")
    .help("Says whether the sample is a success.");

pub const RESPONSE_CODE: Property = text("RESPONSE_CODE")
    .label("Response Code (eg 200)")
    .default("200")
    .help("Sets the code.");

pub const RESPONSE_MESSAGE: Property = text("RESPONSE_MESSAGE")
    .label("Response Message (eg OK)")
    .default("OK")
    .help("Sets the message.");

pub const CONNECT: Property = whole("CONNECT")
    .label("Connect Time (milliseconds)")
    .default("${__Random(1,5)}")
    .help("Sets the time of connecting.");

pub const LATENCY: Property = whole("LATENCY")
    .label("Latency (milliseconds)")
    .default("${__Random(1,50)}")
    .help("Sets the latency.");

pub const RESPONSE_TIME: Property = whole("RESPONSE_TIME")
    .label("Response Time (milliseconds)")
    .default("${__Random(50,500)}")
    .help("Sets the elapsed time.");

pub const WAITING: Property = flag("WAITING")
    .label("Simulate Response Time (sleep)")
    .default("true")
    .help("Lets the sample take the response time.");

pub const REQUEST_DATA: Property = text("REQUEST_DATA").label("Request Data").default("Dummy Sampler used to simulate requests and responses without actual network activity. This helps debugging tests.").help("Holds the request.");

pub const RESPONSE_DATA: Property = text("RESPONSE_DATA").label("Response Data").default("Dummy Sampler used to simulate requests and responses without actual network activity. This helps debugging tests.").help("Holds the response.");

pub const URL: Property = text("URL").label("URL").help("Holds the address.");

pub const RESULT_CLASS: Property = choice(
    "RESULT_CLASS",
    &[
        same("kg.apc.jmeter.vizualizers.MonitoringSampleResult"),
        same("org.apache.jmeter.protocol.http.sampler.HTTPSampleResult"),
        same("org.apache.jmeter.samplers.SampleResult"),
        same("org.apache.jmeter.samplers.StatisticalSampleResult"),
    ],
)
.label("SampleResult class")
.default("org.apache.jmeter.samplers.SampleResult")
.help("Names the Java class of the result.");
