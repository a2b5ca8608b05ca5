//! The committed inputs that fuzzing starts from.

use std::fs;
use std::path::{Path, PathBuf};

use super::targets::Target;
use crate::error::Error;
use crate::repo::Repo;

/// Copies the committed seeds to where libFuzzer may add its own.
pub(super) fn plant(repo: &Repo, home: &Path, target: &Target) -> Result<PathBuf, Error> {
    let seeds = repo.path(&folder_of(target));
    let corpus = home.join("corpus").join(&target.name);
    fs::create_dir_all(&corpus).map_err(Error::file(&corpus))?;
    for seed in files_below(&seeds)? {
        let name = seed.file_name().unwrap_or(seed.as_os_str());
        let copy = corpus.join(name);
        fs::copy(&seed, &copy).map_err(Error::file(&copy))?;
    }
    Ok(corpus)
}

/// Writes down all seeds of a target, in an order that does not depend on the disk, in the
/// way libFuzzer reads them. Returns where, and how many they are.
pub(super) fn list(repo: &Repo, home: &Path, target: &Target) -> Result<(PathBuf, usize), Error> {
    let mut seeds = files_below(&repo.path(&folder_of(target)))?;
    if let Some(folder) = &target.seeds {
        seeds.extend(files_below(&repo.path(folder))?);
    }
    let mut names = Vec::new();
    for seed in seeds {
        let bytes = fs::metadata(&seed).map_err(Error::file(&seed))?.len();
        // Relative to the root, where the target runs: nobody knows what is above it.
        let name = seed.strip_prefix(repo.root()).unwrap_or(&seed);
        let name = name.to_string_lossy();
        // libFuzzer passes over empty files, and takes a comma for the end of a name.
        if bytes > 0 && !name.contains(',') {
            names.push(name.into_owned());
        }
    }
    let folder = home.join("seeds");
    fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
    let list = folder.join(&target.name);
    fs::write(&list, names.join(",")).map_err(Error::file(&list))?;
    Ok((list, names.len()))
}

fn folder_of(target: &Target) -> String {
    format!("fuzz/corpus/{}", target.name)
}

/// All files in a folder and those inside it, sorted; none if it is not there.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        if !folder.exists() {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(Error::file(&folder))? {
            let path = entry.map_err(Error::file(&folder))?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn seeds_are_listed_in_one_order_and_without_empty_ones() {
        let repo = Repo::find().unwrap();
        let home = Scratch::new("fuzz-seeds").unwrap();
        let target = Target {
            name: "recover_file_log".to_string(),
            runs: 1,
            seeds: Some("conformance".to_string()),
        };
        let (path, count) = list(&repo, home.path(), &target).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let names: Vec<_> = text.split(',').collect();
        assert_eq!(names.len(), count);
        let is_program = |name: &&str| name.starts_with("conformance/");
        let programs = names.iter().position(is_program).unwrap();
        assert!(names[..programs].contains(&"fuzz/corpus/recover_file_log/torn_tail"));
        assert!(!names[..programs].contains(&"fuzz/corpus/recover_file_log/empty"));
        for part in [&names[..programs], &names[programs..]] {
            assert!(part.is_sorted_by_key(|name| Path::new(*name)));
        }
    }
}
