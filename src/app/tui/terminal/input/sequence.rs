//! The parts of a control sequence (`CSI parameters final`).

pub(super) struct Csi<'a> {
    /// `<`, `=`, `>` or `?` before the parameters.
    pub prefix: Option<u8>,
    parameters: Vec<&'a [u8]>,
    /// The bytes between parameters and final byte.
    pub intermediates: &'a [u8],
}

impl<'a> Csi<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (prefix, bytes) = match bytes {
            [prefix @ b'<'..=b'?', rest @ ..] => (Some(*prefix), rest),
            _ => (None, bytes),
        };
        let end = bytes
            .iter()
            .position(|byte| *byte < b'0')
            .unwrap_or(bytes.len());
        let (parameters, intermediates) = bytes.split_at(end);
        if parameters.iter().any(|byte| *byte > b';') {
            return None;
        }
        let parameters = if parameters.is_empty() {
            Vec::new()
        } else {
            parameters.split(|byte| *byte == b';').collect()
        };
        Some(Self {
            prefix,
            parameters,
            intermediates,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.parameters.len()
    }

    /// A parameter's first number, or 0.
    pub(super) fn number(&self, index: usize) -> u32 {
        self.sub(index, 0).unwrap_or(0)
    }

    /// One of the numbers of a parameter (`a:b:c`).
    pub(super) fn sub(&self, index: usize, sub: usize) -> Option<u32> {
        let parameter = self.parameters.get(index)?;
        number(parameter.split(|byte| *byte == b':').nth(sub)?)
    }
}

/// Whether these bytes are a single number.
pub(super) fn is_one_number(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

/// A number of ASCII digits; too large ones saturate. `None` without digits.
fn number(digits: &[u8]) -> Option<u32> {
    if !is_one_number(digits) {
        return None;
    }
    Some(digits.iter().fold(0_u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    }))
}
