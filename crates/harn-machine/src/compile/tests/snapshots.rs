use super::listing;

#[test]
fn show() {
    let path = std::path::Path::new("/tmp/ht/x.harn");
    let text = std::fs::read_to_string(path).unwrap();
    println!("{}", listing(&text));
}
