//! JDBC Request (`JDBCSampler`): runs a statement in a database.
//!
//! Properties: `dataSource` (the name of a JDBC Connection Configuration), `query`, `queryType` (select, update, both prepared or
//! not, callable, commit, rollback, autocommit on or off), `queryArguments` and `queryArgumentsTypes` (comma-separated; `]NULL[`,
//! or the value of `jdbcsampler.nullmarker`, is NULL), `variableNames` (comma-separated, for the columns: `name_1`, `name_2` …,
//! `name_#`), `resultVariable`, `queryTimeout` in seconds, `resultSetMaxRows`, `resultSetHandler` (for callable statements only).
//! The response is a line of labels and a line for each row, or the number of changed rows. The connect time is the time to
//! borrow a connection from the pool, and the response headers name the pool.
//!
//! PostgreSQL, MySQL and MariaDB are native; Java runs everything else (see JDBC Connection Configuration).

use drumfire_expr::Template;
use drumfire_results::{DataType, Sample, SharedText};

use super::debug_sampler::set_response;
use crate::decode::Decoder;
use crate::elements::jdbc::{JdbcFailure, JdbcStatement};
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};
use crate::run::view::PreProcessorView;

pub struct JdbcSampler {
    statement: JdbcStatement,
    keeps: Needs,
}

pub fn decode(d: &mut Decoder, needs: Needs) -> JdbcSampler {
    JdbcSampler {
        statement: JdbcStatement::decode(d),
        keeps: needs,
    }
}

impl JdbcSampler {
    /// `JDBCSampler#sample`.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let mut sample = Sample::new(name.eval(cx).into_value(), cx.thread_name.clone());
        let settings = self.statement.settings(cx);
        if self.keeps.request {
            sample.sampler_data = Some(settings.describe().into());
        }
        sample.set_ok();
        let start_ns = cx.clock().now_ns();
        sample.start_ms = (start_ns / 1_000_000) as i64;
        let lease = self
            .statement
            .connect(PreProcessorView::of(cx), &settings)
            .await;
        sample.mark_connect(cx.clock().now_ms());
        let mut answered = None;
        let outcome = match lease {
            Ok(mut lease) => {
                if self.keeps.headers {
                    sample.response_headers = Some(lease.pool().info().into());
                }
                let outcome = self
                    .statement
                    .execute(
                        PreProcessorView::of(cx),
                        &settings,
                        &mut lease.connection,
                        &mut answered,
                    )
                    .await;
                self.statement.give_back(PreProcessorView::of(cx), lease);
                outcome
            }
            Err(fault) => Err(fault),
        };
        if let Some(answered_ms) = answered {
            sample.mark_latency(answered_ms);
        }
        let text = match outcome {
            Ok(text) => text,
            Err(fault) => fail(&mut sample, &fault),
        };
        set_response(&mut sample, &text, self.keeps.body);
        sample.data_type = DataType::Text;
        sample.content_type = Some("text/plain".into());
        let end_ns = cx.clock().now_ns();
        sample.service_us = (end_ns - start_ns) / 1000;
        sample.set_end((end_ns / 1_000_000) as i64);
        sample
    }
}

/// Sets code and message of an exception; returns the response's text.
fn fail(sample: &mut Sample, fault: &JdbcFailure) -> String {
    sample.success = false;
    sample.message = fault.to_string().into();
    match fault {
        JdbcFailure::Sql(failure) => {
            let state = failure.state.as_deref().unwrap_or("null");
            sample.code = format!("{state} {}", failure.code).into();
            failure.message.clone()
        }
        JdbcFailure::Exception { message, .. } => {
            sample.code = SharedText::Static("000");
            message.clone().unwrap_or_else(|| "NO MESSAGE".to_owned())
        }
    }
}

impl Sampler for JdbcSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}
