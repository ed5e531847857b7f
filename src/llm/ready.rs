//! A request written out before it is wanted: while a person types, everything of the next request
//! is known but their words. What is left at Enter is to put them in.
//!
//! Holds one draft at a time, and only bytes a wire has written: it knows the form of none.

use std::sync::{Arc, Mutex, PoisonError};

use super::message::{Content, Message};
use super::provider::Request;

/// What stands in a draft where the person's words will be. Plain letters, so that every wire
/// writes it as it is.
const GAP: &str = "<<< the words of the person go here: 5c1e9b70d2f84a36 >>>";
/// Longest text that is put into a draft, in bytes. The output limit in it was chosen without the
/// text, so it must be short beside what is left free.
const LONGEST: usize = 2_000;

/// The draft of the next request, if there is one.
#[derive(Clone, Default)]
pub(super) struct Ready(Arc<Mutex<Option<Draft>>>);

struct Draft {
    /// Without the person's message.
    request: Request,
    base_url: String,
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl Ready {
    /// Writes out `request` with room for one more message of a person at its end.
    pub fn prepare(&self, request: Request, base_url: &str, write: impl Fn(&Request) -> Vec<u8>) {
        let mut whole = request.clone();
        whole.messages.push(Arc::new(Message::user(GAP, 0)));
        let mut before = write(&whole);
        let mut gaps = memchr::memmem::find_iter(&before, GAP.as_bytes());
        // A conversation about this very file has more than one.
        let (Some(gap), None) = (gaps.next(), gaps.next()) else {
            self.replace(None);
            return;
        };
        let behind = before.split_off(gap + GAP.len());
        before.truncate(gap);
        self.replace(Some(Draft {
            request,
            base_url: base_url.to_owned(),
            before,
            behind,
        }));
    }

    /// The JSON of `request`: out of the draft where it fits, else written now. The draft is used
    /// up either way.
    pub fn body(
        &self,
        request: &Request,
        base_url: &str,
        write: impl Fn(&Request) -> Vec<u8>,
    ) -> Vec<u8> {
        let draft = self.replace(None);
        match draft.and_then(|draft| draft.filled(request, base_url)) {
            Some(body) => body,
            None => write(request),
        }
    }

    fn replace(&self, draft: Option<Draft>) -> Option<Draft> {
        std::mem::replace(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            draft,
        )
    }
}

impl Draft {
    fn filled(self, request: &Request, base_url: &str) -> Option<Vec<u8>> {
        let (last, rest) = request.messages.split_last()?;
        let words = short_words(last)?;
        let own = &self.request;
        let same_talk = rest.len() == own.messages.len()
            && rest
                .iter()
                .zip(&own.messages)
                .all(|(a, b)| Arc::ptr_eq(a, b));
        let same = same_talk
            && base_url == self.base_url
            && request.model == own.model
            && request.system == own.system
            && request.tools == own.tools
            && request.thinking_from == own.thinking_from
            && request.thinking == own.thinking
            && request.max_output == own.max_output
            && request.session_id == own.session_id;
        if !same {
            return None;
        }
        let quoted = serde_json::to_string(words).ok()?;
        let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
        let mut body = self.before;
        body.reserve(inner.len() + self.behind.len());
        body.extend_from_slice(inner.as_bytes());
        body.extend_from_slice(&self.behind);
        Some(body)
    }
}

/// The words of a message that holds nothing but one short text.
fn short_words(message: &Message) -> Option<&str> {
    let Message::User(user) = message else {
        return None;
    };
    match user.content.as_slice() {
        [Content::Text(text)] if text.text.len() <= LONGEST && !text.text.trim().is_empty() => {
            Some(&text.text)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::{Api, Model, ThinkingLevel, anthropic};

    fn request(words: &[&str]) -> Request {
        Request {
            model: Model::new("lab", "m", Api::AnthropicMessages, "http://h"),
            system: "Be brief.".into(),
            messages: words
                .iter()
                .map(|words| Arc::new(Message::user(*words, 1)))
                .collect(),
            thinking_from: 0,
            tools: Vec::new(),
            thinking: ThinkingLevel::Off,
            max_output: None,
            session_id: None,
        }
    }

    fn with(request: &Request, message: Message) -> Request {
        let mut whole = request.clone();
        whole.messages.push(Arc::new(message));
        whole
    }

    /// What goes out, and whether it had to be written for that.
    fn sent(ready: &Ready, request: &Request, base_url: &str) -> (Vec<u8>, bool) {
        let written = std::cell::Cell::new(false);
        let body = ready.body(request, base_url, |request| {
            written.set(true);
            anthropic::request::body(request)
        });
        assert_eq!(body, anthropic::request::body(request));
        (body, written.get())
    }

    #[test]
    fn the_words_are_put_in_as_if_they_had_been_there() {
        let known = request(&["one", "two"]);
        for words in ["go", "say \"hi\"\n\\ é 🦀\u{1}", "  spaced  "] {
            let ready = Ready::default();
            ready.prepare(known.clone(), "http://h", anthropic::request::body);
            let whole = with(&known, Message::user(words, 9));
            assert!(!sent(&ready, &whole, "http://h").1, "{words}");
            assert!(sent(&ready, &whole, "http://h").1, "a draft serves once");
        }
    }

    #[test]
    fn a_draft_of_something_else_is_not_used() {
        let known = request(&["one"]);
        let whole = with(&known, Message::user("go", 9));
        let mut picture = whole.clone();
        picture.messages.pop();
        picture
            .messages
            .push(Arc::new(Message::User(crate::llm::UserMessage {
                content: vec![Content::text("a"), Content::text("b")],
                timestamp: 1,
                origin: None,
            })));
        let mut other_model = whole.clone();
        other_model.model.id = "n".into();
        let mut other_system = whole.clone();
        other_system.system.push('!');
        let mut other_talk = with(&request(&["one"]), Message::user("go", 9));
        other_talk.model = whole.model.clone();
        let long = with(&known, Message::user("x".repeat(LONGEST + 1), 9));
        let blank = with(&known, Message::user(" ", 9));
        let twice = with(&whole, Message::user("more", 9));
        for other in [
            &picture,
            &other_model,
            &other_system,
            &other_talk,
            &long,
            &blank,
            &twice,
            &known,
        ] {
            let ready = Ready::default();
            ready.prepare(known.clone(), "http://h", anthropic::request::body);
            assert!(sent(&ready, other, "http://h").1);
        }
        let ready = Ready::default();
        ready.prepare(known, "http://h", anthropic::request::body);
        assert!(sent(&ready, &whole, "http://other").1);
    }

    #[test]
    fn a_conversation_about_the_gap_has_no_draft() {
        let known = request(&[GAP]);
        let ready = Ready::default();
        ready.prepare(known.clone(), "http://h", anthropic::request::body);
        assert!(sent(&ready, &with(&known, Message::user("go", 9)), "http://h").1);
    }
}
