//! What a model's id tells about its make, whoever serves it.

use crate::llm::model::EditFormat;

/// The shape in which the model `id` edits files best: patches for OpenAI's own reasoning models,
/// Gemini's own shape for Gemini, old and new text for all others.
pub fn edit_format(id: &str) -> EditFormat {
    let id = id.to_lowercase();
    // Resellers put the maker in front: `openai/gpt-6`, `google/gemini-3`, `openai.gpt-6`.
    let name = id.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("openai.").unwrap_or(name);
    if openai_reasons(name) {
        EditFormat::ApplyPatch
    } else if name.starts_with("gemini") {
        EditFormat::Replace
    } else {
        EditFormat::Edit
    }
}

/// gpt-5 and later, the o-series and Codex; not the chat models among them, which do not reason,
/// and not the open ones.
fn openai_reasons(name: &str) -> bool {
    if name.split('-').any(|word| word == "chat") {
        return false;
    }
    if name.starts_with("codex") || name.starts_with("gpt-daybreak") {
        return true;
    }
    if let Some(rest) = name.strip_prefix('o') {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        return digits == 1 && matches!(rest.as_bytes().get(1), None | Some(b'-' | b':'));
    }
    let Some(version) = name.strip_prefix("gpt-") else {
        return false;
    };
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    // Azure's `gpt-35-turbo` is 3.5, and nothing else has two digits yet.
    digits.parse::<u32>().is_ok_and(|major| major >= 5) && digits != "35"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_tells_the_edit_format() {
        use EditFormat::{ApplyPatch, Edit, Replace};
        let cases = [
            ("gpt-5", ApplyPatch),
            ("gpt-5-2025-08-07", ApplyPatch),
            ("GPT-5.1-Codex-Mini", ApplyPatch),
            ("gpt-6.1-sol", ApplyPatch),
            ("gpt-10", ApplyPatch),
            ("gpt-daybreak-red-latest", ApplyPatch),
            ("codex-mini-latest", ApplyPatch),
            ("o1", ApplyPatch),
            ("o3-mini", ApplyPatch),
            ("o4-mini-deep-research", ApplyPatch),
            ("openai/gpt-5.6-luna:batch", ApplyPatch),
            ("openai/o3:free", ApplyPatch),
            ("openai.gpt-6-sol", ApplyPatch),
            ("gpt-4.1", Edit),
            ("gpt-4o", Edit),
            ("gpt-35-turbo", Edit),
            ("gpt-5-chat-latest", Edit),
            ("openai/gpt-5.2-chat", Edit),
            ("chat-latest", Edit),
            ("gpt-oss-120b", Edit),
            ("openai/gpt-oss-20b:free", Edit),
            ("olmo-3", Edit),
            ("o", Edit),
            ("o1x", Edit),
            ("gemini-3.8-flash", Replace),
            ("google/gemini-2.5-pro", Replace),
            ("models/gemini-flash-latest", Replace),
            ("gemma-4-31b-it", Edit),
            ("claude-sonnet-5-5", Edit),
            ("deepseek-ai/DeepSeek-V4-Pro", Edit),
            ("", Edit),
        ];
        for (id, expected) in cases {
            assert_eq!(edit_format(id), expected, "{id}");
        }
    }
}
