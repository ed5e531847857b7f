//! Where the address of a model's server comes from, for advice in errors: nobody can correct the
//! vendor's own address.

/// Where an address comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddressSource {
    /// The vendor's own.
    #[default]
    BuiltIn,
    /// This variable, such as `ANTHROPIC_BASE_URL`.
    Variable(String),
    /// `base_url` of this provider, in `models.toml`.
    ModelsFile(String),
    /// A model server of this name, found on this machine.
    Local(String),
}

impl AddressSource {
    /// The place to correct it, if there is one.
    fn place(&self) -> Option<String> {
        Some(match self {
            Self::BuiltIn => return None,
            Self::Variable(name) => name.clone(),
            Self::ModelsFile(provider) => {
                format!("base_url of providers.{provider} in models.toml")
            }
            Self::Local(server) => format!("models.servers.{server} in config.toml"),
        })
    }

    /// The hint when nothing listens there.
    pub fn start_it(&self) -> String {
        match self.place() {
            Some(place) => format!("Start the server, or correct its address: {place}"),
            None => "Start the server".to_owned(),
        }
    }

    /// The hint when there is no connection.
    pub fn check_network(&self) -> String {
        match self.place() {
            Some(place) => format!("Check the network and the address: {place}"),
            None => format!("Check the {NETWORK}"),
        }
    }

    /// The hint when no such host is known.
    pub fn check_host(&self) -> String {
        match self.place() {
            Some(place) => format!("Is this machine online? If so, check {place}"),
            None => format!("Is this machine online? Check the {NETWORK}"),
        }
    }

    /// The hint when the certificate doesn't fit.
    pub fn check_certificate(&self) -> String {
        match self.place() {
            Some(place) => format!("Check {place}, and the clock of this machine"),
            None => format!("Check the clock of this machine, and the {NETWORK}"),
        }
    }

    /// The hint when the server understands no TLS.
    pub fn without_tls(&self) -> String {
        match self.place() {
            Some(place) => format!("Write http:// instead of https:// in {place}"),
            None => format!("Check the {NETWORK}"),
        }
    }

    /// The hint when it isn't a URL.
    pub fn write_url(&self) -> String {
        let place = self.place().unwrap_or_else(|| "base_url".to_owned());
        format!("Write {place} as http://HOST:PORT")
    }

    /// The hint when something other than the model's API answers.
    pub fn check_base_url(&self) -> String {
        match self.place() {
            Some(place) => format!("Check the base URL: {place}"),
            None => {
                format!("Choose another model with --model provider/id, or check the {NETWORK}")
            }
        }
    }
}

/// What is between this machine and a vendor.
const NETWORK: &str = "network, VPN or proxy: tiller docs proxy";
