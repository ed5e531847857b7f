//! Where users get API keys, and how the keys of each provider begin.

/// Providers with a page for keys: the name, how its keys begin if that tells them apart, and the page.
const PAGES: [(&str, &str, &str); 14] = [
    (
        "anthropic",
        "sk-ant-",
        "console.anthropic.com/settings/keys",
    ),
    ("openai", "sk-proj-", "platform.openai.com/api-keys"),
    ("openrouter", "sk-or-", "openrouter.ai/keys"),
    ("google", "AIza", "aistudio.google.com/apikey"),
    ("xai", "xai-", "console.x.ai"),
    ("deepseek", "", "platform.deepseek.com/api_keys"),
    ("mistral", "", "console.mistral.ai/api-keys"),
    ("groq", "gsk_", "console.groq.com/keys"),
    ("cerebras", "csk-", "cloud.cerebras.ai"),
    ("moonshotai", "", "platform.moonshot.ai/console/api-keys"),
    ("together", "", "api.together.ai/settings/api-keys"),
    ("fireworks", "fw_", "fireworks.ai/account/api-keys"),
    ("nvidia", "nvapi-", "build.nvidia.com"),
    ("zai", "", "z.ai/manage-apikey/apikey-list"),
];

/// Names of products, each with the provider of its models.
const PRODUCTS: [(&str, &str); 9] = [
    ("chatgpt", "openai"),
    ("gpt", "openai"),
    ("codex", "openai"),
    ("claude", "anthropic"),
    ("claude-code", "anthropic"),
    ("gemini", "google"),
    ("grok", "xai"),
    ("kimi", "moonshotai"),
    ("glm", "zai"),
];

/// The provider of a product that users name instead, such as `chatgpt`.
pub(crate) fn provider_of_product(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let found = PRODUCTS.iter().find(|(product, _)| *product == name)?;
    Some(found.1)
}

/// The products of a provider that users name instead.
pub(crate) fn products_of(provider: &str) -> impl Iterator<Item = &'static str> {
    let products = PRODUCTS.iter().filter(move |(_, of)| *of == provider);
    products.map(|(product, _)| *product)
}

/// The server on the user's machine that users mean by this name; it needs no key.
pub(crate) fn server_without_key(name: &str) -> Option<&'static str> {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    match &*letters.collect::<String>().to_lowercase() {
        "ollama" => Some("ollama"),
        "lmstudio" => Some("lmstudio"),
        "llamacpp" | "llama" => Some("llamacpp"),
        _ => None,
    }
}

/// The page where users get a key of this provider.
pub(crate) fn key_page(provider: &str) -> Option<String> {
    let page = PAGES.iter().find(|(name, ..)| *name == provider);
    page.map(|(.., page)| format!("https://{page}"))
}

/// The other provider whose keys begin like this one. Own providers may take any key.
pub(crate) fn key_of_another(provider: &str, key: &str) -> Option<&'static str> {
    PAGES.iter().find(|(name, ..)| *name == provider)?;
    let begins = |prefix: &str| !prefix.is_empty() && key.starts_with(prefix);
    let other = PAGES.iter().find(|(_, prefix, _)| begins(prefix))?.0;
    (other != provider).then_some(other)
}
