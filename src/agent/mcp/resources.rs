//! Resources of servers, which users attach to a message.

use serde_json::{Value, json};

use super::output::{picture, text_of};
use super::servers::Mcp;
use tiller_llm::Content;

impl Mcp {
    /// The resources of the servers that run: server and URI.
    pub fn resources(&self) -> Vec<(String, String)> {
        let servers = self.servers().into_iter();
        let all = servers.flat_map(|server| {
            let name = server.spec.name.clone();
            let offers = server.offers();
            let resources = offers.resources.iter();
            let resources = resources.map(|uri| (name.clone(), uri.clone()));
            resources.collect::<Vec<_>>()
        });
        all.collect()
    }

    /// Reads a resource: its text, or pictures. `None` if there is no such server. Starts the server if it
    /// doesn't run.
    ///
    /// # Errors
    /// Returns why it can't be read.
    pub async fn resource(&self, server: &str, uri: &str) -> Option<Result<Vec<Content>, String>> {
        self.begin().await;
        let servers = self.servers();
        let server = servers.iter().find(|it| it.spec.name == server)?;
        let read = server.request("resources/read", json!({"uri": uri})).await;
        Some(read.and_then(|read| contents(&read["contents"])))
    }
}

fn contents(parts: &Value) -> Result<Vec<Content>, String> {
    let mut contents = Vec::new();
    for part in parts.as_array().into_iter().flatten() {
        if part.get("text").is_some() {
            contents.push(Content::text(text_of(
                &json!({"type": "resource", "resource": part}),
            )));
            continue;
        }
        let block = json!({"type": "image", "data": part["blob"]});
        match picture(&block) {
            Some(Ok(picture)) => contents.push(picture),
            _ => return Err("it is neither text nor a picture".to_owned()),
        }
    }
    if contents.is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(contents)
}
