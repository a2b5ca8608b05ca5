use super::*;

const KIND: &str = "multipart/form-data; boundary=B";

fn parsed(body: &[u8]) -> Result<Value, String> {
    let limits = Limits::new(&Value::Nil).expect("these are the defaults");
    read::read(body, KIND, &limits)
}

fn problem(body: &str) -> String {
    parsed(body.as_bytes()).expect_err("it is bad")
}

#[test]
fn fields_are_read() {
    let body = b"--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n\
        --B\r\ncontent-disposition: form-data; filename=\"x \\\"y\\\".bin\"; name=f\r\n\
        Content-Type: application/octet-stream\r\nX-Extra: 1\r\n\r\n\xff\r\n\r\n--B--\r\n";
    let form = parsed(body).expect("it is a form");
    assert_eq!(
        form.show(),
        "{boundary: B, field_count: 2, fields: [{bytes: b\"6f6e65\", content_type: nil, \
         filename: nil, headers: {content-disposition: form-data; name=\"a\"}, name: a, text: \
         one}, {bytes: b\"ff0d0a\", content_type: application/octet-stream, filename: x \"y\".bin, \
         headers: {content-disposition: form-data; filename=\"x \\\"y\\\".bin\"; name=f, \
         content-type: application/octet-stream, x-extra: 1}, name: f, text: nil}], \
         total_bytes: 189}"
    );
}

#[test]
fn forms_can_be_empty() {
    assert_eq!(
        parsed(b"--B--").expect("it is a form").show(),
        "{boundary: B, field_count: 0, fields: [], total_bytes: 5}"
    );
}

#[test]
fn bad_forms_say_why() {
    let head = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n";
    for (body, expected) in [
        ("x", "body does not start with multipart boundary"),
        ("--Bx\r\n", "malformed boundary delimiter line"),
        ("--B--x", "unexpected bytes after closing boundary"),
        (
            "--B\r\n\r\nx\r\n--B--",
            "part is missing Content-Disposition header",
        ),
        ("--B\r\nA: b", "part is missing header terminator"),
        ("--B\r\nAb\r\n\r\n", "malformed part header line `Ab`"),
        ("--B\r\n: b\r\n\r\n", "part header name must not be empty"),
        (
            "--B\r\nContent-Disposition: form-data\r\n\r\n\r\n--B--",
            "part Content-Disposition is missing name",
        ),
        (
            "--B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\n\r\n--B--",
            "expected form-data disposition, got attachment",
        ),
        (
            &format!("{head}\r\nx"),
            "part is missing following boundary",
        ),
        (
            &format!("{head}\r\nx\r\n--Bx"),
            "malformed boundary after part",
        ),
    ] {
        assert_eq!(problem(body), expected, "{body}");
    }
    let bytes = [b"--B\r\n".as_slice(), b"\xff: b\r\n\r\n"].concat();
    let problem = parsed(&bytes).expect_err("it is bad");
    assert!(
        problem.starts_with("part headers are not UTF-8: "),
        "{problem}"
    );
}

#[test]
fn content_types_are_checked() {
    let limits = Limits::new(&Value::Nil).expect("these are the defaults");
    let long = format!("multipart/form-data; boundary={}", "b".repeat(71));
    for (content_type, expected) in [
        (
            "text/plain; charset=utf-8",
            "expected multipart/form-data content type, got text/plain",
        ),
        ("multipart/form-data", "content type is missing boundary"),
        (
            "multipart/form-data; boundary=\"\"",
            "boundary must not be empty",
        ),
        (long.as_str(), "boundary must be at most 70 bytes"),
        (
            "multipart/form-data; boundary=a*b",
            "boundary contains a character that is not valid in multipart/form-data",
        ),
    ] {
        let problem = read::read(b"", content_type, &limits).expect_err("it is bad");
        assert_eq!(problem, expected);
    }
    let odd = "Multipart/Form-Data; charset=utf-8; flag; Boundary=\"B\"";
    assert!(read::read(b"--B--", odd, &limits).is_ok());
}

#[test]
fn sizes_are_limited() {
    let body = b"--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nxyz\r\n--B--";
    for (key, limit, expected) in [
        (
            "max_total_bytes",
            Value::Int(10),
            "total body size 59 exceeds max_total_bytes 10",
        ),
        (
            "max_field_bytes",
            Value::Int(2),
            "field size 3 exceeds max_field_bytes 2",
        ),
        (
            "max_fields",
            Value::Int(0),
            "field count exceeds max_fields 0",
        ),
        (
            "max_fields",
            Value::Int(-1),
            "max_fields must be non-negative, got -1",
        ),
        (
            "max_fields",
            "1".into(),
            "max_fields must be an int, got string",
        ),
    ] {
        let options = Value::dict([(key, limit)]);
        let form = Limits::new(&options).and_then(|limits| read::read(body, KIND, &limits));
        assert_eq!(form.expect_err("it is too large"), expected);
    }
    assert_eq!(
        Limits::new(&Value::Int(1)).err().as_deref(),
        Some("expected options dict at argument 3, got int")
    );
}

#[test]
fn what_is_written_is_read_again() {
    let field = |name: &str, content: Value| {
        Value::dict([
            ("name", name.into()),
            ("content", content),
            ("filename", "a\"b\\c.txt".into()),
            ("content_type", "text/plain".into()),
            (
                "headers",
                Value::dict([("X-B", "2".into()), ("X-A", "1".into())]),
            ),
        ])
    };
    let fields = Value::list(vec![
        field("ä \"q\"", "text".into()),
        field("b", Value::Bytes(Bytes::from(vec![0, 255, 13, 10]))),
    ]);
    let form = write::write(&fields, &Value::Nil).expect("they are fields");
    let Value::Dict(form) = form else {
        panic!("a form is a dict");
    };
    let (Some(Value::Bytes(body)), Some(kind)) = (form.get("body"), form.get("content_type"))
    else {
        panic!("a form has a body and a type");
    };
    let limits = Limits::new(&Value::Nil).expect("these are the defaults");
    let again = read::read(body, &kind.show(), &limits).expect("it is a form");
    let Value::Dict(again) = again else {
        panic!("a form is a dict");
    };
    let Some(Value::List(fields)) = again.get("fields") else {
        panic!("a form has fields");
    };
    let shown: Vec<String> = fields
        .iter()
        .map(|field| match field {
            Value::Dict(field) => {
                let show = |key: &str| field.get(key).cloned().unwrap_or_default().show();
                format!("{} {} {}", show("name"), show("filename"), show("bytes"))
            }
            _ => String::new(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "ä \"q\" a\"b\\c.txt b\"74657874\"",
            "b a\"b\\c.txt b\"00ff0d0a\""
        ]
    );
}
