//! The Secret Service: where desktops on Linux keep secrets. Each use is a connection of its own:
//! keys are asked for once a session.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::bus::{Bus, Call};
use super::values::{Value, Writer};
use crate::llm::Secret;
use crate::llm::auth::Keyring;

/// How long the service may take, its start included.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a person may take to unlock the keyring.
const UNLOCK: Duration = Duration::from_mins(1);

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";

/// The keyring of this session, where there can be one: on Linux, with a session bus.
pub(crate) fn keyring(env: &HashMap<String, String>) -> Option<Arc<dyn Keyring>> {
    let address = env.get("DBUS_SESSION_BUS_ADDRESS")?.trim().to_owned();
    (cfg!(target_os = "linux") && !address.is_empty())
        .then(|| Arc::new(SecretService { address }) as Arc<dyn Keyring>)
}

struct SecretService {
    address: String,
}

impl Keyring for SecretService {
    fn get(&self, provider: &str) -> Result<Option<Secret>, String> {
        let get = || {
            let mut session = Session::open(&self.address)?;
            match session.items(provider)?.first() {
                Some(item) => session.secret(item).map(Some),
                None => Ok(None),
            }
        };
        get().map_err(told)
    }

    fn set(&self, provider: &str, key: &Secret) -> Result<(), String> {
        let set = || Session::open(&self.address)?.create(provider, key);
        set().map_err(told)
    }

    fn remove(&self, provider: &str) -> Result<bool, String> {
        let remove = || {
            let mut session = Session::open(&self.address)?;
            let items = session.items(provider)?;
            for item in &items {
                session.delete(item)?;
            }
            Ok(!items.is_empty())
        };
        remove().map_err(told)
    }
}

fn told(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => "it does not answer".to_owned(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            "the session bus is not there".to_owned()
        }
        _ => error.to_string(),
    }
}

/// A session with the service. Secrets go over the bus as they are: its socket is the user's own.
struct Session {
    bus: Bus,
    path: String,
}

impl Session {
    fn open(address: &str) -> io::Result<Self> {
        let mut session = Self {
            bus: Bus::connect(address)?,
            path: String::new(),
        };
        let mut body = Writer::default();
        body.text("plain").signature("s").text("");
        let opened = session.service("OpenSession", "sv", &body)?;
        session.path = path(opened.get(1))?;
        Ok(session)
    }

    /// The unlocked items that hold the key of `provider`.
    fn items(&mut self, provider: &str) -> io::Result<Vec<String>> {
        let mut body = Writer::default();
        body.dictionary(&[("application", "tiller"), ("provider", provider)]);
        let found = self.service("SearchItems", "a{ss}", &body)?;
        let list = |at: usize| found.get(at).map(Value::texts).unwrap_or_default();
        let (mut items, locked) = (list(0), list(1));
        if !locked.is_empty() {
            self.unlock(&locked)?;
            items.extend(locked);
        }
        Ok(items)
    }

    fn secret(&mut self, item: &str) -> io::Result<Secret> {
        let mut body = Writer::default();
        body.text(&self.path);
        let got = self.call(item, "Item", "GetSecret", "o", &body)?;
        match got.first() {
            Some(Value::Struct(fields)) => {
                let bytes =
                    zeroize::Zeroizing::new(fields.get(2).map(Value::bytes).unwrap_or_default());
                Ok(Secret::new(String::from_utf8_lossy(&bytes)))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn create(&mut self, provider: &str, key: &Secret) -> io::Result<()> {
        let mut body = Writer::default();
        body.text("default");
        let collection = path(self.service("ReadAlias", "s", &body)?.first())?;
        if collection == "/" {
            return Err(io::Error::other("it has no keyring to put a key in"));
        }
        self.unlock(std::slice::from_ref(&collection))?;
        let mut body = Writer::default();
        body.array(8, |properties| {
            properties
                .align(8)
                .text("org.freedesktop.Secret.Item.Label");
            properties
                .signature("s")
                .text(&format!("API key of {provider} for tiller"));
            properties
                .align(8)
                .text("org.freedesktop.Secret.Item.Attributes");
            properties
                .signature("a{ss}")
                .dictionary(&[("application", "tiller"), ("provider", provider)]);
        });
        body.align(8).text(&self.path).array(1, |_| ());
        body.array(1, |secret| {
            secret.0.extend_from_slice(key.expose().as_bytes());
        });
        // The last word: in place of an earlier one.
        body.text("text/plain").word(1);
        let created = self.call(
            &collection,
            "Collection",
            "CreateItem",
            "a{sv}(oayays)b",
            &body,
        )?;
        self.prompt(path(created.get(1))?)
    }

    fn delete(&mut self, item: &str) -> io::Result<()> {
        let deleted = self.call(item, "Item", "Delete", "", &Writer::default())?;
        self.prompt(path(deleted.first())?)
    }

    fn unlock(&mut self, objects: &[String]) -> io::Result<()> {
        let mut body = Writer::default();
        body.array(4, |list| {
            for object in objects {
                list.text(object);
            }
        });
        let unlocked = self.service("Unlock", "ao", &body)?;
        self.prompt(path(unlocked.get(1))?)
    }

    /// Lets the service ask the person, if it wants to, and waits for the answer.
    fn prompt(&mut self, prompt: String) -> io::Result<()> {
        if prompt == "/" {
            return Ok(());
        }
        let mut rule = Writer::default();
        rule.text(&format!("type='signal',path='{prompt}',member='Completed'"));
        let listen = Call {
            to: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "AddMatch",
            signature: "s",
            body: &rule,
        };
        self.bus.call(&listen, ANSWER)?;
        let mut window = Writer::default();
        window.text("");
        self.call(&prompt, "Prompt", "Prompt", "s", &window)?;
        let answer = self.bus.signal(&prompt, "Completed", UNLOCK)?;
        match answer.first() {
            Some(Value::Word(0)) => Ok(()),
            _ => Err(io::Error::other("it was not unlocked")),
        }
    }

    fn service(&mut self, member: &str, signature: &str, body: &Writer) -> io::Result<Vec<Value>> {
        self.call(ROOT, "Service", member, signature, body)
    }

    fn call(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        signature: &str,
        body: &Writer,
    ) -> io::Result<Vec<Value>> {
        let call = Call {
            to: SERVICE,
            path,
            interface: &format!("org.freedesktop.Secret.{interface}"),
            member,
            signature,
            body,
        };
        self.bus.call(&call, ANSWER)
    }
}

/// The object path that an answer holds.
fn path(value: Option<&Value>) -> io::Result<String> {
    let path = value.and_then(Value::text).map(str::to_owned);
    path.ok_or_else(|| io::ErrorKind::InvalidData.into())
}
