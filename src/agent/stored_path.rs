//! Stores paths that may not be UTF-8. In JSON they are text if valid, else a list of bytes; in binary
//! formats they are bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(path: impl AsRef<Path>, to: S) -> Result<S::Ok, S::Error> {
    let path = path.as_ref();
    match path.to_str() {
        Some(text) if to.is_human_readable() => to.serialize_str(text),
        _ => to.serialize_bytes(path.as_os_str().as_bytes()),
    }
}

pub(super) fn deserialize<'de, D, P>(from: D) -> Result<P, D::Error>
where
    D: Deserializer<'de>,
    P: From<PathBuf>,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Text(String),
        Bytes(Vec<u8>),
    }
    let bytes = if from.is_human_readable() {
        match Form::deserialize(from)? {
            Form::Text(text) => text.into_bytes(),
            Form::Bytes(bytes) => bytes,
        }
    } else {
        <&[u8]>::deserialize(from)?.to_vec()
    };
    Ok(PathBuf::from(OsString::from_vec(bytes)).into())
}
