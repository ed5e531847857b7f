//! Preserved thinking: a thinking block is bound to the system prompt, the tools and the messages
//! before it. Cache marks don't matter, and a request may leave out the oldest thinking.

use serde_json::Value;

/// What preceded a thinking block when the server made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix {
    system: Value,
    tools: Value,
    /// Without thinking.
    messages: Vec<Value>,
    /// The signatures of the thinking before it.
    thinking: Vec<String>,
}

impl Prefix {
    /// The prefix of an answer to a request with `body`, after this `thinking` of the same answer.
    pub fn of_answer(body: &Value, thinking: &[String]) -> Self {
        let messages = body["messages"].as_array().map_or(0, Vec::len);
        let mut prefix = Self::of(body, messages);
        prefix.thinking.extend_from_slice(thinking);
        prefix
    }

    fn of(body: &Value, messages: usize) -> Self {
        let unmarked = |value: &Value| {
            let mut value = value.clone();
            unmark(&mut value);
            value
        };
        let mut prefix = Self {
            system: unmarked(&body["system"]),
            tools: unmarked(&body["tools"]),
            messages: Vec::new(),
            thinking: Vec::new(),
        };
        let all = body["messages"].as_array().into_iter().flatten();
        for message in all.take(messages) {
            let mut message = unmarked(message);
            if let Some(blocks) = message["content"].as_array_mut() {
                blocks.retain(|block| match signature(block) {
                    Some(signature) => {
                        prefix.thinking.push(signature.to_owned());
                        false
                    }
                    None => true,
                });
            }
            prefix.messages.push(message);
        }
        prefix
    }

    /// What differs from `now`, if anything.
    fn differs(&self, now: &Self) -> Option<&'static str> {
        if self.system != now.system {
            Some("The `system` prompt differs from the one this block was created with.")
        } else if self.tools != now.tools {
            Some("The `tools` differ from those this block was created with.")
        } else if self.messages != now.messages {
            Some("An earlier message differs from the one this block was created behind.")
        } else if !self.thinking.ends_with(&now.thinking) {
            Some("The `thinking` block that preceded this one is missing from this request.")
        } else {
            None
        }
    }
}

/// Checks each thinking block of a request against the prefixes that `made` returns for it.
pub fn check(body: &Value, made: &dyn Fn(&str) -> Vec<Prefix>) -> Result<(), String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    for (at, message) in messages.enumerate() {
        let mut now = None;
        let blocks = message["content"].as_array().into_iter().flatten();
        for (index, block) in blocks.enumerate() {
            let Some(signature) = signature(block) else {
                continue;
            };
            let now = now.get_or_insert_with(|| Prefix::of(body, at));
            let made = made(signature);
            let differs = made.iter().map(|prefix| prefix.differs(now));
            if let Some(Some(why)) = differs.min_by_key(Option::is_some) {
                let kind = block["type"].as_str().unwrap_or_default();
                return Err(format!(
                    "messages.{at}.content.{index}: Invalid `signature` in `{kind}` block. The block \
                     is bound to a different conversation. Remove the block, or set \
                     `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". {why}"
                ));
            }
            now.thinking.push(signature.to_owned());
        }
    }
    Ok(())
}

fn signature(block: &Value) -> Option<&str> {
    match block["type"].as_str()? {
        "thinking" => block["signature"].as_str(),
        "redacted_thinking" => block["data"].as_str(),
        _ => None,
    }
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("cache_control");
            map.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        _ => {}
    }
}
