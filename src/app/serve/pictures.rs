//! Pictures that a client sends along with a message.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tokio::task::spawn_blocking;

use crate::agent::tools;
use crate::llm::Content;
use crate::llm::message::Image;

/// The pictures in the form that models accept. An error names the picture.
pub(super) async fn prepare(images: Vec<Image>) -> Result<Vec<Content>, String> {
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let prepared = spawn_blocking(move || {
        let pictures = images.iter().enumerate().map(|(at, image)| {
            let fault = |why: String| format!("images[{at}]: {why}");
            let bytes = BASE64_STANDARD.decode(&image.data);
            let bytes = bytes.map_err(|error| fault(format!("not base64: {error}")))?;
            let picture = tools::image_of(&bytes)
                .ok_or_else(|| fault("not a picture that models accept".to_owned()))?;
            picture.map(Content::Image).map_err(fault)
        });
        pictures.collect::<Result<Vec<_>, String>>()
    });
    prepared.await.map_err(|panic| panic.to_string())?
}
