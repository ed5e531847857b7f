//! Servers with their own certificates: which ones tiller accepts, and its errors about others.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::support::sandbox::Sandbox;

/// A server on `localhost` with this certificate (DER). It answers "secure".
fn tls_server(certificate: &[u8]) -> u16 {
    let key = BASE64_STANDARD.decode(SERVER_KEY).unwrap();
    let provider = rustls::crypto::ring::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.to_vec().into()],
            rustls::pki_types::PrivateKeyDer::try_from(key).unwrap(),
        )
        .unwrap();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    let chunk = r#"{"choices":[{"index":0,"delta":{"content":"secure"},"finish_reason":"stop"}]}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
         data: {chunk}\n\ndata: [DONE]\n\n"
    );
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::Stream::new(&mut connection, &mut socket);
            // The request is small, and the client waits for the answer after sending it all.
            let mut request = Vec::new();
            let mut piece = vec![0; 65_536];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                request.extend_from_slice(&piece[..count]);
                if request.ends_with(b"}") {
                    break;
                }
            }
            let _ = stream.write_all(answer.as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    port
}

/// A well-known key for tests and two certificates for it (until 2120). One is a certificate
/// authority's, as `openssl req -x509` makes it. The other is a server's.
const SERVER_KEY: &str = "MC4CAQAwBQYDK2VwBCIEIGaqJbG0FNyQg0xU4wLvLGdpT5D8MPlPOXOYDwC4frKg";
const AUTHORITY: &str = "MIIBJjCB2aADAgECAgEBMAUGAytlcDAXMRUwEwYDVQQDDAx0aWxsZXIgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDHRpbGxlciB0ZXN0czAqMAUGAytlcAMhAM9LnzuUWzbWHXb5NWO+snWaI+DwIWWpw8tOR1g4SpJmo0gwRjAPBgNVHRMBAf8EBTADAQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUlFKHcIJpf+n5Ul8UiAAylWN2SUEwBQYDK2VwA0EAA/gaMEV8CeUlHm29EYJuwjvsiKxFddwpeWNT8t33Zksbcr/9v5fa5MMZBX3HKlU74RTXiajGBAVyVA7FoTpsAA==";
const SERVER: &str = "MIIBIzCB1qADAgECAgEBMAUGAytlcDAXMRUwEwYDVQQDDAx0aWxsZXIgdGVzdHMwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDHRpbGxlciB0ZXN0czAqMAUGAytlcAMhAM9LnzuUWzbWHXb5NWO+snWaI+DwIWWpw8tOR1g4SpJmo0UwQzAMBgNVHRMBAf8EAjAAMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAdBgNVHQ4EFgQUlFKHcIJpf+n5Ul8UiAAylWN2SUEwBQYDK2VwA0EAN96IfQDv0Y2pbo+sKygZDmUoVdUQCaBQiJPIdfFxWTENYSZ0oTU+0RYJetC1estbprE5DOh0xyEjTqEmAeYjAg==";

/// What tiller needs to accept a server's own certificate, and its hint if that's missing.
#[test]
fn following_the_hint_about_a_certificate_works() {
    let cases = [
        (AUTHORITY, "SSL_CERT_FILE", true, "CA:FALSE"),
        (SERVER, "UNUSED", true, "NODE_EXTRA_CA_CERTS"),
        (SERVER, "NODE_EXTRA_CA_CERTS", true, "secure"),
        (SERVER, "SSL_CERT_FILE", true, "secure"),
        (SERVER, "SSL_CERT_FILE", false, "no-such.pem: No such file"),
        // Some containers set the variable to nothing.
        (SERVER, "", true, "NODE_EXTRA_CA_CERTS"),
    ];
    for (certificate, variable, exists, expected) in cases {
        let mut sandbox = Sandbox::new();
        let port = tls_server(&BASE64_STANDARD.decode(certificate).unwrap());
        let models = format!(
            "[providers.home]\napi = 'openai-chat'\nbase_url = 'https://localhost:{port}/v1'\napi_key = 'k'\n\
             [[providers.home.models]]\nid = 'm'\ncontext_window = 32000\n"
        );
        fs::write(sandbox.config().join("models.toml"), models).unwrap();
        let name = if exists { "server.pem" } else { "no-such.pem" };
        let pem =
            format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n");
        sandbox.write("server.pem", &pem);
        let path = sandbox.path().join(name);
        match variable {
            "" => sandbox.set("SSL_CERT_FILE", ""),
            variable => sandbox.set(variable, path.to_str().unwrap()),
        }
        let ran = sandbox.run(&["-m", "home/m", "-p", "hello"]);
        assert!(
            format!("{}{}", ran.stdout, ran.stderr).contains(expected),
            "{variable}: {ran:#?}"
        );
    }
}
