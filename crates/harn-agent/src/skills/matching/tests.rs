use super::*;
use crate::skills::Skill;

fn skill(name: &str, description: &str, when_to_use: &str, paths: &[&str]) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        when_to_use: when_to_use.to_owned(),
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..Skill::default()
    }
}

fn rank(skills: Vec<Skill>, prompt: &str, files: &[&str]) -> Vec<(usize, f64, String)> {
    let registry = SkillRegistry::of(skills);
    let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
    let candidates = Matcher::new(&registry, Strategy::Metadata).rank(prompt, &files);
    let told = candidates.into_iter();
    told.map(|one| (one.at, one.score, one.reason)).collect()
}

#[track_caller]
fn check(skill: Skill, prompt: &str, files: &[&str], expected: Option<(f64, &str)>) {
    let found = rank(vec![skill], prompt, files);
    let expected = expected.map(|(score, reason)| (0, score, reason.to_owned()));
    assert_eq!(found.first(), expected.as_ref());
}

#[test]
fn words_count_in_both_texts_and_as_often_as_they_are_said() {
    let deploy = || skill("zzz", "Ship a service", "Shipping day", &[]);
    check(deploy(), "ship", &[], Some((2.0 / 3.5, "2 keyword hit(s)")));
    check(
        deploy(),
        "SHIP it, ship_it day",
        &[],
        Some((5.0 / 6.5, "5 keyword hit(s)")),
    );
    check(deploy(), "it is a s", &[], None);
    check(deploy(), "", &[], None);
}

#[test]
fn a_word_is_found_inside_others_and_over_others() {
    let both = || skill("zzz", "abcdef", "", &[]);
    check(
        both(),
        "abc bcd abcd cde",
        &[],
        Some((4.0 / 5.5, "4 keyword hit(s)")),
    );
}

#[test]
fn names_and_files_count_too() {
    let all = skill("Deploy", "ship", "", &["src/*.rs", "docs/**"]);
    check(
        all,
        "please dePLOY, then ship",
        &["src/a.rs", "docs/a/b.md"],
        Some((
            1.0 / 2.5 + 2.0 + 3.0,
            "1 keyword hit(s); prompt mentions 'Deploy'; 2 path glob(s) matched",
        )),
    );
}

#[test]
fn the_best_come_first_and_equal_ones_in_their_order() {
    let skills = vec![
        skill("one", "ship", "", &[]),
        skill("two", "ship cargo", "", &[]),
        skill("three", "ship", "", &[]),
        skill("four", "colour", "", &[]),
    ];
    let order: Vec<usize> = rank(skills, "ship cargo", &[])
        .into_iter()
        .map(|(at, ..)| at)
        .collect();
    assert_eq!(order, [1, 0, 2]);
}

#[test]
fn what_people_alone_may_start_is_no_candidate() {
    let gated = Skill {
        is_gated: true,
        ..skill("one", "ship", "", &[])
    };
    let found = rank(
        vec![gated, skill("two", "ship", "", &[])],
        "ship one two",
        &[],
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, 1);
}

#[test]
fn rare_words_weigh_more_with_bm25() {
    let registry = SkillRegistry::of(vec![
        skill("xx", "write the report", "", &[]),
        skill("yy", "write the letters", "", &[]),
        skill("zz", "write poems", "", &[]),
    ]);
    let matcher = Matcher::new(&registry, Strategy::Bm25);
    let order = |prompt: &str| -> Vec<usize> {
        let found = matcher.rank(prompt, &[]).into_iter();
        found.map(|one| one.at).collect()
    };
    assert_eq!(order("write letters")[0], 1);
    assert_eq!(order("wrote a poem"), [2]);
    assert!(order("xyz").is_empty());
}

#[test]
fn much_text_takes_little_time() {
    let many: Vec<Skill> = (0..2000)
        .map(|at| {
            skill(
                &format!("skill-{at}"),
                &"lorem ipsum ".repeat(10),
                "",
                &["**/*.x"],
            )
        })
        .collect();
    let registry = SkillRegistry::of(many);
    let prompt: String = (0..20_000).map(|at| format!("word{at} ")).collect();
    for strategy in [Strategy::Metadata, Strategy::Bm25] {
        let matcher = Matcher::new(&registry, strategy);
        assert!(matcher.rank(&prompt, &["a/b.x".to_owned()]).len() == 2000);
    }
}
