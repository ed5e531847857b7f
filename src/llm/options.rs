//! Fields that the user adds to every request, merged into the JSON body of any API.

use serde_json::{Map, Value};

/// Merges `options` into the JSON of a request, objects field by field.
pub fn lay_over(body: Vec<u8>, options: &Map<String, Value>) -> Vec<u8> {
    if options.is_empty() {
        return body;
    }
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(&body) else {
        return body;
    };
    overlay(&mut fields, options);
    serde_json::to_vec(&fields).unwrap_or(body)
}

/// Merges `above` into `below`.
pub fn overlay(below: &mut Map<String, Value>, above: &Map<String, Value>) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => overlay(below, above),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_laid_over_fields() {
        let options = json!({ "a": { "x": 2, "z": [1] }, "b": 0.5, "c": { "d": true } });
        let body = br#"{"a":{"x":1,"y":"s"},"b":1,"n":null}"#.to_vec();
        let laid = lay_over(body.clone(), options.as_object().unwrap());
        let laid: Value = serde_json::from_slice(&laid).unwrap();
        let expected = json!({
            "a": { "x": 2, "y": "s", "z": [1] }, "b": 0.5, "c": { "d": true }, "n": null,
        });
        assert_eq!(laid, expected);
        assert_eq!(lay_over(body.clone(), &Map::new()), body, "not touched");
    }
}
