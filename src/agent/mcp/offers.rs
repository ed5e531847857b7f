//! What a server offers: tools, prompts and resources.

use serde_json::{Value, json};

use super::connection::{Connection, Failure};
use super::schema::accepted_schema;

/// Most entries of a list that are read.
const MAX_ENTRIES: usize = 1_000;
/// The largest schema of a tool, in bytes of JSON: the model would have to read it.
pub(super) const MAX_SCHEMA: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Offers {
    pub tools: Vec<RemoteTool>,
    /// The names of tools with too large a schema.
    pub left_out: Vec<String>,
    pub prompts: Vec<RemotePrompt>,
    /// The URIs of resources.
    pub resources: Vec<String>,
}

/// A tool as its server describes it.
#[derive(Debug)]
pub(super) struct RemoteTool {
    pub name: String,
    pub description: String,
    pub parameters: Value,
    /// The server says that it changes nothing.
    pub reads_only: bool,
}

/// A prompt as its server describes it.
#[derive(Debug)]
pub(super) struct RemotePrompt {
    pub name: String,
    pub description: String,
    /// The names of its arguments, and whether it needs them.
    pub arguments: Vec<(String, bool)>,
}

impl Offers {
    /// Asks for all that `capabilities` name. Only the tools must be there.
    ///
    /// # Errors
    /// Returns why it doesn't list its tools.
    pub async fn list(link: &Connection, capabilities: &Value) -> Result<Self, String> {
        let mut offers = Self::default();
        let has = |kind: &str| capabilities.get(kind).is_some();
        if has("tools") {
            let listed = entries(link, "tools").await.map_err(Failure::text)?;
            for tool in listed.iter().filter_map(tool) {
                if tool.parameters.to_string().len() <= MAX_SCHEMA {
                    offers.tools.push(tool);
                } else {
                    offers.left_out.push(tool.name);
                }
            }
        }
        if has("prompts") {
            let listed = entries(link, "prompts").await.unwrap_or_default();
            offers.prompts = listed.iter().filter_map(prompt).collect();
        }
        if has("resources") {
            let listed = entries(link, "resources").await.unwrap_or_default();
            let uris = listed.iter().filter_map(|it| it["uri"].as_str());
            offers.resources = uris.map(str::to_owned).collect();
        }
        Ok(offers)
    }
}

/// All pages of a list.
async fn entries(link: &Connection, kind: &str) -> Result<Vec<Value>, Failure> {
    let method = format!("{kind}/list");
    let (mut entries, mut params) = (Vec::new(), json!({}));
    loop {
        let mut page = link.request(&method, params, None).await?;
        if let Value::Array(listed) = page[kind].take() {
            entries.extend(listed);
        }
        let next = page["nextCursor"].as_str();
        let Some(cursor) = next.filter(|it| !it.is_empty() && entries.len() < MAX_ENTRIES) else {
            entries.truncate(MAX_ENTRIES);
            return Ok(entries);
        };
        params = json!({"cursor": cursor});
    }
}

fn tool(value: &Value) -> Option<RemoteTool> {
    Some(RemoteTool {
        name: value["name"].as_str()?.to_owned(),
        description: text(&value["description"]),
        parameters: accepted_schema(&value["inputSchema"]),
        reads_only: value["annotations"]["readOnlyHint"] == true,
    })
}

fn prompt(value: &Value) -> Option<RemotePrompt> {
    let arguments = value["arguments"].as_array().into_iter().flatten();
    let arguments = arguments.filter_map(|it| {
        let name = it["name"].as_str()?;
        Some((name.to_owned(), it["required"] == true))
    });
    Some(RemotePrompt {
        name: value["name"].as_str()?.to_owned(),
        description: text(&value["description"]),
        arguments: arguments.collect(),
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
