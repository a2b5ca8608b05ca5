//! Sending a person somewhere.

use std::process::Stdio;

use harn_agent::BoxFuture;
use tokio::process::Command;
use url::Url;

/// Shows pages to a person.
pub trait Browser: Send + Sync {
    /// Shows `page`; does not wait until the person is done.
    ///
    /// # Errors
    /// Why it cannot be shown, for the person.
    fn open<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<(), String>>;
}

/// A browser that is a program.
#[derive(Clone, Debug)]
pub struct CommandBrowser {
    /// The program and its arguments; `%s` stands for the page, which otherwise comes last.
    words: Vec<String>,
}

impl CommandBrowser {
    /// A command such as `firefox --new-tab %s`, in the manner of the variable `BROWSER`. None
    /// if there are no words in it.
    pub fn parse(command: &str) -> Option<Self> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// The words of a command for one page. No shell ever reads them: a page is a stranger's
    /// text.
    fn words_for(&self, page: &Url) -> Vec<String> {
        let mut words = self.words.clone();
        let mut is_named = false;
        for word in words.iter_mut().skip(1).filter(|word| word.contains("%s")) {
            *word = word.replace("%s", page.as_str());
            is_named = true;
        }
        if !is_named {
            words.push(page.to_string());
        }
        words
    }
}

impl Browser for CommandBrowser {
    fn open<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let words = self.words_for(page);
            let (program, arguments) = words.split_first().expect("a command has a first word");
            let started = Command::new(program)
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            let mut child = started.map_err(|error| format!("{program}: {error}"))?;
            // A browser ends when the person closes it; somebody has to hear of it.
            tokio::spawn(async move { child.wait().await });
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let page = Url::parse("https://a.test/$(touch%20x)?b=;ls").unwrap();
        let browser = CommandBrowser::parse(command).unwrap();
        assert_eq!(browser.words_for(&page), expected);
    }

    #[test]
    fn the_page_is_one_word_wherever_it_stands() {
        let page = "https://a.test/$(touch%20x)?b=;ls";
        check("lynx", &["lynx", page]);
        check("ff --tab %s -n", &["ff", "--tab", page, "-n"]);
        check("ff --url=%s", &["ff", &format!("--url={page}")]);
        assert!(CommandBrowser::parse("  ").is_none());
    }
}
