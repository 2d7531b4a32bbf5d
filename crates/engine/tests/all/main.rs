//! The integration tests of this crate, in one program: they are linked once, and run side by side.

mod connecting;
mod control;
mod facts;
mod fifo;
mod ftp;
mod grpc;
mod http;
mod http2;
mod jdbc;
mod jmeter6;
mod layers;
mod mail;
mod mqtt;
mod parallel_controller;
mod pre_processors;
mod redis_data_set;
mod running;
mod shares;
mod streams;
mod support;
mod tcp_sampler;
mod thread_groups;
mod waiting;
mod websocket;
mod websocket_sampler;
mod weighted_switch;
