//! A proxy between tiller and a vendor that records the traffic in the folder `TILLER_LIVE_RECORD`.
//! It doesn't record headers, because they contain the key.

use std::fs;
use std::path::PathBuf;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The proxy's address for `home`, or `home` itself without recording.
pub async fn proxy(provider: &str, home: &str) -> String {
    let Some(folder) = std::env::var_os("TILLER_LIVE_RECORD").map(PathBuf::from) else {
        return home.to_owned();
    };
    fs::create_dir_all(&folder).unwrap();
    let (scheme, rest) = home.split_once("://").unwrap();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // This fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let origin = format!("{scheme}://{host}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}{path}", listener.local_addr().unwrap());
    let provider = provider.to_owned();
    tokio::spawn(async move {
        let mut count = 0;
        while let Ok((stream, _)) = listener.accept().await {
            count += 1;
            let name = folder.join(format!("{provider}-{count}"));
            let origin = origin.clone();
            tokio::spawn(async move { pass(stream, &origin, name).await });
        }
    });
    address
}

/// Forwards one request and returns its answer, then closes the connection.
async fn pass(stream: TcpStream, origin: &str, name: PathBuf) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?, words.next()?);
    let method = reqwest::Method::from_bytes(method.as_bytes()).ok()?;
    let mut request = reqwest::Client::new().request(method, format!("{origin}{path}"));
    let mut length = 0;
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((key, value)) = header.trim().split_once(": ") else {
            break;
        };
        match key.to_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "host" | "connection" | "accept-encoding" => {}
            _ => request = request.header(key, value),
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    fs::write(name.with_extension("json"), &body).ok()?;
    let mut answer = request.body(body).send().await.ok()?;
    let kind = answer
        .headers()
        .get("content-type")?
        .to_str()
        .ok()?
        .to_owned();
    let head = format!(
        "HTTP/1.1 {} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n",
        answer.status().as_u16()
    );
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut kept = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        kept.extend_from_slice(&piece);
        stream.write_all(&piece).await.ok()?;
    }
    fs::write(name.with_extension("sse"), kept).ok()?;
    stream.shutdown().await.ok()
}
