use std::cell::RefCell;
use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::skills::SkillLibrary;

/// A world of folders.
struct World {
    folder: TempDir,
    places: SkillPlaces,
    served: Vec<(String, String)>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            folder,
            places: SkillPlaces::default(),
            served: Vec::new(),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// A skill whose body is where it is.
    fn skill(&self, path: &str, front: &str) {
        let text = format!("---\n{front}---\n{path}\n");
        self.write(&format!("{path}/SKILL.md"), &text);
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.at(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn discover(&self) -> (SkillLibrary, Vec<String>) {
        let warnings = RefCell::new(Vec::new());
        let means = Means {
            yaml: &yaml,
            fetch: &|url| {
                let served = self.served.iter().find(|(known, _)| known == url);
                served.map(|(_, text)| text.clone()).ok_or("404".to_owned())
            },
            warn: &|text| warnings.borrow_mut().push(text.to_owned()),
        };
        let library = discover(&self.places, &means);
        (library, warnings.into_inner())
    }

    fn sources(&self) -> Vec<String> {
        let cards = self.discover().0.to_value();
        let cards = cards["skills"].as_array().unwrap().iter();
        cards
            .map(|card| format!("{} {}", card["name"].as_str().unwrap(), card["source"]))
            .map(|told| told.replace('"', ""))
            .collect()
    }
}

/// As much YAML as these tests write: one field a line, JSON after the colon or a text.
fn yaml(text: &str) -> Result<Value, String> {
    let mut fields = serde_json::Map::new();
    for line in text.lines() {
        let (key, value) = line.split_once(": ").ok_or("no colon")?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        fields.insert(key.to_owned(), value);
    }
    Ok(Value::Object(fields))
}

/// A world in which every layer has the same skill and one of its own.
fn all_layers() -> World {
    let mut world = World::new();
    let folders = [
        ("cli", "given"),
        ("env", "variable"),
        ("project", "home/work/app/.harn/skills"),
        ("manifest", "home/work/library"),
        ("user", "home/.harn/skills"),
        ("package", "home/work/.harn/packages/a/b/skills"),
        ("system", "etc/skills"),
    ];
    for (layer, folder) in folders {
        world.skill(&format!("{folder}/same"), &format!("short: {layer}\n"));
        world.skill(&format!("{folder}/{layer}-own"), "short: own\n");
    }
    world.places = SkillPlaces {
        cli: vec![world.at("given")],
        env: vec![world.at("variable")],
        program: Some(world.at("home/work/app")),
        root: Some(world.at("home/work")),
        manifest: ManifestSkills {
            paths: vec!["library".to_owned()],
            ..ManifestSkills::default()
        },
        home: Some(world.at("home")),
        system: vec![world.at("etc/skills")],
        host: vec![
            json!({"id": "h1", "name": "same", "description": "host"}),
            json!({"id": "h2", "name": "host-own", "description": "own"}),
        ],
        signer_registry: None,
    };
    world
}

#[test]
fn the_highest_layer_wins_and_losers_are_recorded() {
    let world = all_layers();
    let (library, warnings) = world.discover();
    assert_eq!(warnings, [] as [String; 0]);
    let expected = [
        "cli-own cli",
        "same cli",
        "env-own env",
        "project-own project",
        "manifest-own manifest",
        "user-own user",
        "package-own package",
        "system-own system",
        "host-own host",
    ];
    assert_eq!(world.sources(), expected);
    let shadowed: Vec<&str> = library
        .shadowed()
        .iter()
        .map(|loser| {
            assert_eq!((&*loser.id, &*loser.by), ("same", "cli"));
            &*loser.layer
        })
        .collect();
    let losers = [
        "env", "project", "manifest", "user", "package", "system", "host",
    ];
    assert_eq!(shadowed, losers);
}

#[test]
fn a_manifest_orders_and_disables_layers() {
    let mut world = all_layers();
    world.places.manifest.lookup_order = ["host", "user", "nobody"].map(str::to_owned).to_vec();
    world.places.manifest.disable = ["cli", "env", "package"].map(str::to_owned).to_vec();
    let sources = world.sources();
    assert_eq!(sources[..2], ["same host", "host-own host"]);
    assert_eq!(
        sources[2..],
        [
            "user-own user",
            "project-own project",
            "manifest-own manifest",
            "system-own system"
        ]
    );
    let (_, warnings) = world.discover();
    assert_eq!(
        warnings,
        ["skills: harn.toml: skills.lookup_order: there is no layer `nobody`"]
    );
}

#[test]
fn a_project_ends_at_its_manifest() {
    let mut world = World::new();
    for folder in ["a", "a/b", "a/b/c"] {
        world.skill(
            &format!("{folder}/.harn/skills/same"),
            &format!("short: {folder}\n"),
        );
        let name = folder.replace('/', "-");
        world.skill(&format!("{folder}/.harn/skills/in-{name}"), "short: x\n");
    }
    world.places.program = Some(world.at("a/b/c"));
    world.places.root = Some(world.at("a/b"));
    let (library, _) = world.discover();
    let body = |name: &str| {
        let found = library.get(name, Some("project"));
        found.map(|skill| skill.body().unwrap().text)
    };
    assert_eq!(body("same").as_deref(), Some("a/b/c/.harn/skills/same\n"));
    assert!(body("in-a-b").is_some() && body("in-a").is_none());
    // Without a manifest the nearest is the project.
    world.places.root = None;
    world.places.program = Some(world.at("a/b/c/deep/er"));
    assert_eq!(world.sources(), ["in-a-b-c project", "same project"]);
    // What is the user's is no project.
    world.places.home = Some(world.at("a/b/c"));
    assert_eq!(
        world.sources(),
        ["in-a-b project", "same project", "in-a-b-c user"]
    );
}

#[test]
fn sources_have_namespaces_and_may_be_a_skill_themselves() {
    let mut world = World::new();
    world.skill("home/paint", "short: Room\n");
    world.skill("yard", "name: paint\nshort: Fence\n");
    let source = |path: &str, namespace: &str, kind: Option<&str>| ManifestSource {
        path: path.to_owned(),
        namespace: Some(namespace.to_owned()),
        kind: kind.map(str::to_owned),
    };
    world.places.root = Some(world.at(""));
    world.places.manifest.sources = vec![
        source("home", "home", Some("fs")),
        source("yard", "yard", None),
        source("x", "x", Some("git")),
        source("nowhere", "x", None),
    ];
    let (library, warnings) = world.discover();
    assert_eq!(library.resolve("yard/paint").unwrap().description, "Fence");
    assert!(library.resolve("paint").is_err());
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[test]
fn what_is_no_skill_is_left_out_and_told() {
    let mut world = World::new();
    world.skill("s/fine", "short: Fine\nlicense: MIT\n");
    world.skill("s/short", "description: no short text\n");
    world.skill("s/blank", "short: \"\"\n");
    world.skill("s/broken", "no colon\n");
    world.write("s/plain/SKILL.md", "No front matter.");
    world.write("s/large/SKILL.md", &"x".repeat(2 << 20));
    fs::create_dir_all(world.at("s/odd")).unwrap();
    fs::write(world.at("s/odd/SKILL.md"), [0xff, 0xfe]).unwrap();
    world.write("s/README.md", "not a folder");
    world.places.cli = vec![world.at("s"), world.at("missing")];
    let (library, warnings) = world.discover();
    assert_eq!(library.to_value()["skills"].as_array().unwrap().len(), 1);
    assert_eq!(warnings.len(), 8, "{warnings:#?}");
    let has = |text: &str| warnings.iter().any(|warning| warning.contains(text));
    assert!(has("`short` is required") && has("license") && has("too large"));
    assert!(has("there is no folder") && has("UTF-8") && has("no front matter"));
}

#[test]
fn a_card_has_what_was_given() {
    let mut world = World::new();
    world.skill(
        "s/a",
        "short: S\nwhen-to-use: W\nallowed-tools: Read, Write Edit\npaths: [\"*.md\"]\n\
         user-invocable: true\ndisable_model_invocation: false\neffort: 3\nmodel: null\n\
         source: forged\nnamespace: forged\nhooks: {\"a\": 1}\n",
    );
    world.places.env = vec![world.at("s")];
    let (library, _) = world.discover();
    assert_eq!(
        library.to_value()["skills"][0],
        json!({
            "name": "a", "short": "S", "description": "S", "when_to_use": "W",
            "allowed_tools": ["Read", "Write", "Edit"], "paths": ["*.md"],
            "user_invocable": true, "effort": "3", "hooks": {"a": 1}, "source": "env",
            "provenance": {"signed": false, "trusted": false},
        })
    );
}

/// Signs a skill and gives the fingerprint of the key.
fn sign(world: &World, path: &str, key: &SigningKey) -> String {
    let bytes = fs::read(world.at(path).join("SKILL.md")).unwrap();
    let fingerprint = hex(key.verifying_key().as_bytes());
    let signed = json!({
        "schema": "harn-skill-sig/v1", "signed_at": "2026-01-05T08:00:00Z",
        "signer_fingerprint": fingerprint,
        "ed25519_sig_base64": BASE64.encode(key.sign(&bytes).to_bytes()),
        "skill_sha256": hex(&bytes),
    });
    world.write(&format!("{path}/SKILL.md.sig"), &signed.to_string());
    fingerprint
}

fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn pem(key: &SigningKey) -> String {
    let mut described = vec![
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ];
    described.extend(key.verifying_key().as_bytes());
    let inner = BASE64.encode(described);
    format!("-----BEGIN PUBLIC KEY-----\n{inner}\n-----END PUBLIC KEY-----\n")
}

fn provenance(world: &World) -> Value {
    let (library, _) = world.discover();
    library.to_value()["skills"][0]["provenance"].clone()
}

#[test]
fn keys_are_found_with_the_user_and_in_registries() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let mut world = World::new();
    world.skill("s/a", "short: S\n");
    let fingerprint = sign(&world, "s/a", &key);
    world.places.cli = vec![world.at("s")];
    world.places.home = Some(world.at("home"));
    world.places.root = Some(world.at("root"));
    let trusted = json!({"signed": true, "trusted": true, "signer_fingerprint": fingerprint});
    let stranger = json!({"signed": true, "trusted": false, "signer_fingerprint": fingerprint});
    assert_eq!(provenance(&world), stranger);
    let name = format!("{fingerprint}.pub");
    world.write(&format!("root/keys/{name}"), &pem(&key));
    let absolute = world.at("root/keys").display().to_string();
    for url in [
        "keys".to_owned(),
        absolute.clone(),
        format!("file://{absolute}"),
    ] {
        world.places.manifest.signer_registry_url = Some(url);
        assert_eq!(provenance(&world), trusted);
    }
    // The environment stands before the manifest.
    world.places.signer_registry = Some("http://keys.test/".to_owned());
    assert_eq!(provenance(&world), stranger);
    world.served = vec![(format!("http://keys.test/{name}"), pem(&key))];
    assert_eq!(provenance(&world), trusted);
    world.served.clear();
    world.write(&format!("home/.harn/trusted-signers/{name}"), &pem(&key));
    assert_eq!(provenance(&world), trusted);
    // Another key under its name is not the signer's.
    let other = SigningKey::from_bytes(&[8; 32]);
    world.write(&format!("home/.harn/trusted-signers/{name}"), &pem(&other));
    assert_eq!(provenance(&world), stranger);
}

#[test]
fn what_was_signed_must_be_what_is_read() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let mut world = World::new();
    world.skill("s/a", "short: S\n");
    sign(&world, "s/a", &key);
    world.places.cli = vec![world.at("s")];
    let (library, _) = world.discover();
    world.skill("s/a", "short: Other\n");
    let skill = library.get("a", Some("cli")).unwrap();
    let error = skill.body().err().unwrap().to_string();
    assert!(error.contains("has changed since it was found"), "{error}");
    let provenance = provenance(&world);
    assert_eq!(provenance["signed"], false);
    assert!(provenance["error"].is_string());
}
