//! Whole frames, as they went between stock nodes: headers and bodies.

mod common;

use bytes::Bytes;
use common::unhex;
use quorate_protocol::codec::{Message, Reader, Writer};
use quorate_protocol::messages::{ApiKey, Request, RequestHeader, Response, ResponseHeader};
use serde_json::Value;

struct Exchange {
    name: String,
    version: i16,
    client: Option<String>,
    request: Bytes,
    response: Bytes,
}

fn exchanges() -> Vec<Exchange> {
    let lines = include_str!("data/frames.jsonl").lines();
    lines
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| value[name].as_str().unwrap();
            Exchange {
                name: text("name").into(),
                version: value["version"].as_i64().unwrap() as i16,
                client: value["client"].as_str().map(str::to_owned),
                request: unhex(text("request")).unwrap(),
                response: unhex(text("response")).unwrap(),
            }
        })
        .collect()
}

#[test]
fn requests_between_stock_nodes_come_back() {
    for exchange in exchanges() {
        let mut reader = Reader::of(&exchange.request);
        let header = RequestHeader::read_from(&mut reader).unwrap();
        assert_eq!(ApiKey::from_code(header.api_key).name(), exchange.name);
        assert_eq!(header.api_version, exchange.version);
        assert_eq!(header.client_id, exchange.client);
        let request = Request::decode(header.api_key, header.api_version, &mut reader).unwrap();
        assert_eq!(reader.finish(), Ok(()), "{request:?}");
        let mut writer = Writer::default();
        header.write_to(&mut writer).unwrap();
        request.encode(header.api_version, &mut writer).unwrap();
        assert_eq!(writer.freeze(), exchange.request, "{request:?}");
    }
}

#[test]
fn responses_between_stock_nodes_come_back() {
    for exchange in exchanges() {
        let asked = RequestHeader::read_from(&mut Reader::of(&exchange.request)).unwrap();
        let (key, version) = (ApiKey::from_code(asked.api_key), asked.api_version);
        let header_version = key.response_header_version(version);
        let mut reader = Reader::of(&exchange.response);
        let header = ResponseHeader::decode(header_version, &mut reader).unwrap();
        assert_eq!(header.correlation_id, asked.correlation_id);
        let response = Response::decode(key, version, &mut reader).unwrap();
        assert_eq!(reader.finish(), Ok(()), "{response:?}");
        let mut writer = Writer::default();
        header.encode(header_version, &mut writer).unwrap();
        response.encode(version, &mut writer).unwrap();
        assert_eq!(writer.freeze(), exchange.response, "{response:?}");
    }
}
