//! What the programs work on: the same for everybody, and the same every time.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::rows::{SMALL_FILES, SMALL_FILES_SMOKE};
use crate::server::Server;

/// A folder that is gone afterwards, and a server that is as well.
pub(crate) struct Material {
    folder: TempDir,
    _server: Server,
}

/// How much there is of everything.
struct Amounts {
    json_bytes: usize,
    text_bytes: usize,
    csv_bytes: usize,
    large_bytes: usize,
    small_files: usize,
    folders: usize,
    files_in_each: usize,
}

const FULL: Amounts = Amounts {
    json_bytes: 5_000_000,
    text_bytes: 10_000_000,
    csv_bytes: 10_000_000,
    large_bytes: 100_000_000,
    small_files: SMALL_FILES,
    folders: 500,
    files_in_each: 100,
};

const SMOKE: Amounts = Amounts {
    json_bytes: 20_000,
    text_bytes: 10_000,
    csv_bytes: 10_000,
    large_bytes: 10_000,
    small_files: SMALL_FILES_SMOKE,
    folders: 5,
    files_in_each: 4,
};

impl Material {
    pub(crate) fn make(smoke: bool) -> Result<Self, String> {
        let cannot = |why: io::Error| format!("cannot make the material: {why}");
        let folder = tempfile::tempdir().map_err(cannot)?;
        let server = Server::start().map_err(cannot)?;
        let amounts = if smoke { &SMOKE } else { &FULL };
        write(folder.path(), amounts, &server.url()).map_err(cannot)?;
        Ok(Self {
            folder,
            _server: server,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn write(folder: &Path, amounts: &Amounts, url: &str) -> io::Result<()> {
    fs::write(folder.join("data.json"), document(amounts.json_bytes))?;
    fs::write(folder.join("text.txt"), text(amounts.text_bytes))?;
    fs::write(folder.join("table.csv"), table(amounts.csv_bytes))?;
    fs::write(folder.join("large.txt"), text(amounts.large_bytes))?;
    fs::write(folder.join("letter.tmpl"), LETTER)?;
    fs::write(folder.join("url.txt"), url)?;
    let small = folder.join("small");
    fs::create_dir(&small)?;
    for number in 0..amounts.small_files {
        let content = format!("This is file number {number}.\n").repeat(10);
        fs::write(small.join(format!("{number}.txt")), content)?;
    }
    tree(&folder.join("tree"), amounts)
}

/// Folders three levels deep, half of whose files end in `.txt`.
fn tree(top: &Path, amounts: &Amounts) -> io::Result<()> {
    for number in 0..amounts.folders {
        let folder = top.join(format!("{}/{}/{number}", number % 7, number % 31));
        fs::create_dir_all(&folder)?;
        for file in 0..amounts.files_in_each {
            let kind = if file % 2 == 0 { "txt" } else { "rs" };
            fs::write(folder.join(format!("file{file}.{kind}")), "")?;
        }
    }
    Ok(())
}

/// About so many bytes of JSON. No number is written in two ways by two languages.
fn document(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 500);
    text.push_str("{\"items\":[");
    let mut id = 0;
    while text.len() < bytes {
        if id > 0 {
            text.push(',');
        }
        let active = id % 3 != 0;
        let score = id as f64 / 10.0 + 0.25;
        let _a_string_takes_everything = write!(
            text,
            "{{\"id\":{id},\"name\":\"Person \\\"{id}\\\" Müller\",\"email\":\"person{id}@example.org\",\
             \"active\":{active},\"score\":{score},\"tags\":[\"red\",\"green\",\"t{id}\"],\
             \"address\":{{\"city\":\"Zürich\",\"zip\":\"{:05}\"}}}}",
            id % 100_000
        );
        id += 1;
    }
    text.push_str("],\"kind\":\"list\"}");
    text
}

/// About so many bytes of lines with addresses and dates.
fn text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let mut number: usize = 0;
    while text.len() < bytes {
        let (month, day) = (number % 12 + 1, number % 28 + 1);
        let _a_string_takes_everything = writeln!(
            text,
            "On 2024-{month:02}-{day:02} user{number} wrote a long letter to friend{number}@example.org about order {number}."
        );
        number += 1;
    }
    text
}

/// About so many bytes of a table, some of whose cells are quoted.
fn table(bytes: usize) -> String {
    let mut text = String::from("id,name,note,amount\n");
    let mut id = 0;
    while text.len() < bytes {
        let _a_string_takes_everything = match id % 4 {
            0 => writeln!(text, "{id},\"Person, {id}\",\"said \"\"yes\"\"\",{id}.50"),
            _ => writeln!(text, "{id},Person {id},nothing to say about it,{id}.25"),
        };
        id += 1;
    }
    text
}

const LETTER: &str = "\
Dear {{ name }},

your order {{ order }} was sent to {{ city }} on {{ day }}. If nobody is at home in {{ city }} on
{{ day }}, {{ name }}, the order {{ order }} waits for you at the post office of {{ city }}.

Thank you, {{ name }}! We hope to see you again, on a {{ day }} or any other day.
Number of this letter: {{ order }}
";
