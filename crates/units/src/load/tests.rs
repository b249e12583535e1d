//! Reading profiles.

use super::*;
use proptest::prelude::*;
use serde::Deserialize;

fn profile(text: &str) -> Profile {
    text.parse().unwrap()
}

fn error(text: &str) -> String {
    let error = text.parse::<Profile>().unwrap_err();
    error.at("load").line()
}

#[derive(Debug, Deserialize)]
struct Condition {
    load: Profile,
}

fn toml(text: &str) -> Result<Profile, String> {
    toml::from_str::<Condition>(text).map(|file| file.load).map_err(|error| error.to_string())
}

#[test]
fn texts_and_tables_say_the_same() {
    assert!(profile("idle").is_idle());
    assert_eq!(profile("medium"), Profile::medium());
    assert_eq!(profile("heavy"), Profile::heavy());
    assert_eq!(profile("halfx50%"), Profile::medium());
    let listed =
        profile("cpus=0-3,8,percent=90,kind=memory,pinned,period=10ms,buffer=64MiB,nice=-5");
    let table = toml(
        "load = { cpus = '0-3,8', percent = 90, kind = 'memory', pinned = true, period = '10ms', \
         buffer = '64MiB', nice = -5 }",
    );
    assert_eq!(table.unwrap(), listed);
    assert_eq!(listed.groups[0].cpus, CpuChoice::List("0-3,8".parse::<CpuSet>().unwrap()));
    assert_eq!(toml("load = { cpus = 2, percent = 50 }").unwrap(), profile("2x50%"));
    assert_eq!(toml("load = { cpus = '2', percent = 50 }").unwrap(), profile("cpu=2,50%"));
    assert_eq!(
        toml("load = [{ cpus = 1, percent = 30 }, '2x50%,stress-ng,float']").unwrap(),
        profile("1x30% + count=2,percent=50,generator=stress-ng,kind=float")
    );
    assert!(toml("load = []").unwrap().is_idle());
}

#[test]
fn named_cpus_are_pinned_and_counted_ones_are_not() {
    assert!(profile("cpus=0-1,50%").groups[0].pinned);
    assert!(!profile("cpus=0-1,50%,unpinned").groups[0].pinned);
    for text in ["cpu=1,50%", "cpus=1,50%", "cpus=1-1,percent=50"] {
        assert_eq!(profile(text), profile("cpu=1,50%"), "{text}");
    }
    assert!(!profile("2x50%").groups[0].pinned);
    assert!(profile("2x50%,pinned").groups[0].pinned);
    assert!(profile("medium,pinned=true").groups[0].pinned);
}

#[test]
fn wrong_profiles_name_what_is_wrong_and_what_would_be_right() {
    let cases = [
        ("heavi", "found \"heavi\"; did you mean `heavy`?"),
        ("2x50%,pined", "found \"pined\"; did you mean `pinned`?"),
        ("2x50%,knd=float", "found \"knd\"; did you mean `kind`?"),
        ("2x50%,memroy", "found \"memroy\"; did you mean `memory`?"),
        ("2x120%", "load: percent: expected a whole number from 1 to 100, found \"120%\""),
        ("2x0%", "load: percent: expected a whole number from 1 to 100, found \"0%\""),
        ("2x-5%", "load: percent: expected a whole number from 1 to 100, found \"-5%\""),
        ("2x12.5%", "load: percent: expected a whole number from 1 to 100, found \"12.5%\""),
        ("0x50%", "load: count: expected a whole number of threads from 1, found \"0\""),
        ("9000000x50%", "threads, found \"9000000\""),
        (
            "cpus=3-1,50%",
            "load: cpus: expected CPU numbers as an ascending range, all, half or others, found \"3-1\"",
        ),
        ("cpus=,50%", "load: cpus: expected at least one CPU"),
        ("cpus=hlf,50%", "did you mean `half`?"),
        ("2x50%,period=10", "load: period: expected a time from 1ms to 1s, such as 10ms"),
        ("2x50%,period=2h", "load: period: expected a time from 1ms to 1s"),
        ("2x50%,kind=double", "load: kind: expected integer or float or memory, found \"double\""),
        ("2x50%,nice=20", "load: nice: expected a whole number from -20 to 19, found \"20\""),
        ("2x50%,memory,buffer=64MB", "load: buffer: expected a size from 4KiB"),
        ("2x50%,percent=60", "load: expected percent once, found it again as \"60\""),
        ("medium,percent=60", "load: expected percent once"),
        ("2x50%,cpu=1", "load: expected cpus once"),
        ("cpus=0-3", "load: expected percent, too, found \"cpus=0-3\"; add percent=50"),
        ("50%", "load: expected cpus, too, found \"50%\""),
        ("idle,pinned", "load: expected idle without any other load, found both"),
        ("2x50%,memory,stress-ng", "load: expected kind=memory without generator=stress-ng"),
        ("2x50%,nice=3,stress-ng", "load: expected nice=3 without generator=stress-ng"),
        ("2x50%,buffer=1GiB", "load: expected buffer without kind=integer"),
        (
            "",
            "load: expected a load such as idle, medium, heavy, 2x50% or cpus=0-3,percent=90, found \"\"; its keys",
        ),
        ("2x50% +", "found \"\""),
    ];
    for (text, expected) in cases {
        let found = error(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
}

#[test]
fn a_file_is_told_the_line_and_the_nearest_key() {
    let found = toml("\nload = { cpus = 2, precent = 50 }").unwrap_err();
    assert!(found.contains("line 2") && found.contains("did you mean `percent`?"), "{found}");
    let found = toml("load = { cpus = 2, percent = 50.5 }").unwrap_err();
    assert!(
        found.contains("percent: expected a whole number from 1 to 100, found \"50.5\""),
        "{found}"
    );
    let found = toml("load = 3").unwrap_err();
    assert!(found.contains("expected a load: \"medium\""), "{found}");
    let found = toml("load = { cpus = 2, percent = [1] }").unwrap_err();
    assert!(found.contains("a text, a whole number, true or false"), "{found}");
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_knows_every_key_of_a_table() {
    let text = format!("{:?}", schemars::schema_for!(Profile));
    for key in parse::KEYS.iter().filter(|key| !["cpu", "count"].contains(key)) {
        assert!(text.contains(&format!("\"{key}\"")), "{key}");
    }
}

fn group() -> impl Strategy<Value = Group> {
    let cpus = prop_oneof![
        Just(CpuChoice::All),
        Just(CpuChoice::Half),
        Just(CpuChoice::Others),
        (1u32..=8192).prop_map(CpuChoice::Count),
        proptest::collection::vec(0u32..200, 1..20)
            .prop_map(|cpus| { CpuChoice::List(cpus.into_iter().map(crate::CpuId).collect()) }),
    ];
    let period = proptest::option::of((1_000u64..=1_000_000).prop_map(Nanos::from_micros));
    let buffer = proptest::option::of((4u64..=1 << 30).prop_map(|kib| kib * 1024));
    (cpus, 1u8..=100, any::<bool>(), period, 0usize..3, buffer, -20i8..=19, any::<bool>()).prop_map(
        |(cpus, percent, pinned, period, kind, buffer, nice, stress)| {
            let kind = Kind::ALL[kind];
            let stress = stress && kind != Kind::Memory;
            Group {
                pinned,
                period,
                kind,
                buffer: buffer.filter(|_| kind == Kind::Memory),
                nice: if stress { 0 } else { nice },
                generator: if stress { GeneratorKind::StressNg } else { GeneratorKind::Flyball },
                ..Group::new(cpus, percent)
            }
        },
    )
}

proptest! {
    #[test]
    fn printing_then_parsing_is_identity(groups in proptest::collection::vec(group(), 0..4)) {
        let profile = Profile { groups };
        prop_assert_eq!(profile.to_string().parse::<Profile>().unwrap(), profile.clone());
        let file = format!("load = '{profile}'");
        prop_assert_eq!(toml(&file).unwrap(), profile);
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,60}") {
        let _ = text.parse::<Profile>();
    }

    #[test]
    fn near_profiles_never_panic(text in "[0-9x%=,+. a-z-]{0,40}") {
        let _ = text.parse::<Profile>();
    }
}
