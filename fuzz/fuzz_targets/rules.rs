//! A rule that can be read is about itself, and never makes a denied command an allowed one.

#![no_main]

use harn_shell::{Nowhere, Purpose, Rule, RuleSet, Verdict, judge, parse};

harn_fuzz::target!(|bytes| {
    let text = String::from_utf8_lossy(bytes);
    let Some((rule, command)) = text.split_once('\n') else {
        return;
    };
    let (Ok(allow), Ok(deny)) = (
        Rule::parse(rule, Purpose::Allow),
        Rule::parse("touch *", Purpose::Deny),
    ) else {
        return;
    };
    let rules = RuleSet {
        allow: vec![allow],
        ask: Vec::new(),
        deny: vec![deny],
    };
    let joined = parse(&format!("{command}\ntouch x"));
    let judgement = judge(joined.as_ref(), &rules, &Nowhere);
    assert_ne!(judgement.verdict, Verdict::Allow, "{rule:?} {command:?}");
});
