//! Plays one reply on one connection: headers, steps at their pace, and faults.

use std::time::Duration;

use tokio::time::Instant;

use super::http::{Broken, Outgoing};
use super::record::Recorded;
use super::script::{Pace, Reply, Script, Step, Usage};
use super::server::Shared;
use super::wire::{Render, Wire};

/// Everything needed to play a reply.
pub(super) struct Stage<'a> {
    pub shared: &'a Shared,
    pub request: &'a Recorded,
    /// Number of the request, from 0.
    pub number: usize,
    pub wire: Wire,
    pub script: &'a Script,
    pub reply: &'a Reply,
}

impl Stage<'_> {
    pub async fn play(&self, out: &mut Outgoing<'_>) -> Result<(), Broken> {
        let reply = self.reply;
        sleep(reply.wait_ms).await;
        if let Some(gate) = &reply.gate {
            self.shared.pass(gate).await;
        }
        if let Some(failure) = reply.error {
            let (status, body) = self.wire.error_body(failure, reply.message.as_deref());
            let headers = self.headers("application/json");
            return self
                .body(out, reply.status.unwrap_or(status), &headers, &body)
                .await;
        }
        if let Some(body) = &reply.body {
            let headers = self.headers("application/json");
            return self
                .body(out, reply.status.unwrap_or(200), &headers, body)
                .await;
        }
        let headers = self.headers("text/event-stream; charset=utf-8");
        out.start(reply.status.unwrap_or(200), &headers).await?;
        if !reply.steps.is_empty() {
            self.stream(out).await?;
        }
        out.end().await
    }

    /// Sends a body that isn't a stream. It's chunked if it will be cut.
    async fn body(
        &self,
        out: &mut Outgoing<'_>,
        status: u16,
        headers: &[(String, String)],
        body: &str,
    ) -> Result<(), Broken> {
        if self.reply.cut_at.is_none() {
            return out.whole(status, headers, body.as_bytes()).await;
        }
        out.start(status, headers).await?;
        out.send(body.as_bytes()).await?;
        out.end().await
    }

    async fn stream(&self, out: &mut Outgoing<'_>) -> Result<(), Broken> {
        let mut render = self.wire.render(self.request);
        let mut usage = self.usage();
        out.send(render.begin(usage).as_bytes()).await?;
        let mut calls = 0;
        let mut said = 0;
        // The text of the open thinking block, and the signature it will get.
        let mut thought: Option<(String, Option<String>)> = None;
        // The signatures given so far.
        let mut signed = Vec::new();
        let silent = self.request.body["thinking"]["type"] == "disabled";
        for step in &self.reply.steps {
            let goes_on = matches!(
                step,
                Step::Thinking { .. } | Step::Pause(_) | Step::Gate(_) | Step::Stall
            );
            if !goes_on {
                self.end_thought(out, render.as_mut(), &mut thought, &mut signed)
                    .await?;
            }
            match step {
                Step::Thinking { .. } | Step::Redacted(_) if silent => {}
                Step::Thinking {
                    text,
                    signature,
                    pace,
                } => {
                    let open = thought.get_or_insert_default();
                    open.0.push_str(text);
                    if signature.is_some() {
                        open.1.clone_from(signature);
                    }
                    said += text.len();
                    let began = Instant::now();
                    for (count, piece) in (1..).zip(self.pieces(text, *pace)) {
                        self.wait(began, count, *pace).await;
                        out.send(render.thinking(piece).as_bytes()).await?;
                    }
                }
                Step::Redacted(data) => {
                    self.shared.issue(data, "", self.request, &signed);
                    signed.push(data.clone());
                    out.send(render.redacted(data).as_bytes()).await?;
                }
                Step::Text { text, pace } => {
                    said += text.len();
                    let began = Instant::now();
                    for (count, piece) in (1..).zip(self.pieces(text, *pace)) {
                        self.wait(began, count, *pace).await;
                        out.send(render.text(piece).as_bytes()).await?;
                    }
                }
                Step::Call {
                    name,
                    id,
                    arguments,
                    pace,
                } => {
                    calls += 1;
                    said += arguments.len();
                    let made = || self.wire.call_id(self.number, calls);
                    let id = id.clone().unwrap_or_else(made);
                    out.send(render.call(&id, name).as_bytes()).await?;
                    let arguments = render.argument_text(name, arguments);
                    let began = Instant::now();
                    for (count, piece) in (1..).zip(self.pieces(&arguments, *pace)) {
                        self.wait(began, count, *pace).await;
                        out.send(render.arguments(piece).as_bytes()).await?;
                    }
                    out.send(render.close(None).as_bytes()).await?;
                }
                Step::Pause(ms) => sleep(*ms).await,
                Step::Gate(name) => self.shared.pass(name).await,
                Step::Stall => std::future::pending().await,
                Step::Raw(bytes) => out.send(bytes).await?,
                Step::Error { failure, message } => {
                    let event = render.error(*failure, message.as_deref());
                    out.send(event.as_bytes()).await?;
                    return Ok(());
                }
                Step::Cut(how) => return Err(Broken::Cut(*how)),
            }
        }
        self.end_thought(out, render.as_mut(), &mut thought, &mut signed)
            .await?;
        if self.reply.usage.is_none() {
            usage.output = said as u64 / 4 + 1;
        }
        let stop = match &self.reply.stop {
            Some(stop) => stop,
            None if calls > 0 => "tool_use",
            None => "stop",
        };
        out.send(render.close(None).as_bytes()).await?;
        out.send(render.end(stop, usage).as_bytes()).await
    }

    async fn end_thought(
        &self,
        out: &mut Outgoing<'_>,
        render: &mut dyn Render,
        thought: &mut Option<(String, Option<String>)>,
        signed: &mut Vec<String>,
    ) -> Result<(), Broken> {
        let Some((text, signature)) = thought.take() else {
            return Ok(());
        };
        let made = || format!("sig/{:02}+{:016x}==", self.number, sum(&text));
        let signature = signature.unwrap_or_else(made);
        self.shared.issue(&signature, &text, self.request, signed);
        out.send(render.close(Some(&signature)).as_bytes()).await?;
        signed.push(signature);
        Ok(())
    }

    fn headers(&self, content_type: &str) -> Vec<(String, String)> {
        let mut headers = self.reply.headers.clone();
        headers
            .entry("content-type".to_owned())
            .or_insert_with(|| content_type.to_owned());
        headers.into_iter().collect()
    }

    fn pace(&self, step: Pace) -> Pace {
        step.or(Pace {
            split: self.reply.split,
            delay_ms: self.reply.delay_ms,
        })
        .or(Pace {
            split: self.script.split,
            delay_ms: self.script.delay_ms,
        })
    }

    /// Waits until delta `count` of a step is due. Counts from the start of the step, so that slow
    /// deltas don't make the stream slower than the script says.
    async fn wait(&self, began: Instant, count: u32, step: Pace) {
        let delay = Duration::from_millis(self.pace(step).delay_ms.unwrap_or(0));
        if !delay.is_zero() {
            tokio::time::sleep_until(began + delay * count).await; // poll-free: the script's pace
        }
    }

    fn pieces<'t>(&self, text: &'t str, step: Pace) -> Vec<&'t str> {
        let split = self.pace(step).split.unwrap_or(0);
        if split == 0 || text.is_empty() {
            return vec![text];
        }
        let starts: Vec<usize> = text
            .char_indices()
            .step_by(split)
            .map(|(at, _)| at)
            .collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        starts
            .iter()
            .zip(ends)
            .map(|(start, end)| &text[*start..end])
            .collect()
    }

    fn usage(&self) -> Usage {
        self.reply.usage.unwrap_or(Usage {
            input: self.request.raw_body.len() as u64 / 4,
            output: 1,
            ..Usage::default()
        })
    }
}

async fn sleep(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await; // poll-free: the script's pace
    }
}

/// FNV-1a: the same text always gets the same signature.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
