//! Texts that people write: scenarios, platforms, kernels, rules of threads, and rt-app's JSON inside a scenario.
#![no_main]

use flyball_platform::{Kernel, Platform};
use flyball_sim::scenario::{Source, read};
use libfuzzer_sys::fuzz_target;

const RT_APP: &str = "platform = \"laptop-x86\"\n[[task]]\nkind = \"rt-app\"\nname = \"r\"\nfile = \"x.json\"\n";

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data).into_owned();
    if let Ok(scenario) = read(&text, Source::text_only("x.toml", "x")) {
        let _ = scenario.check("x.toml");
    }
    let _ = Platform::parse(&text, "x.toml");
    let _ = Kernel::parse(&text, "x.toml");
    let _ = flyball_qos::Rules::read(&text);
    let open = |_: &str| Ok(text.clone());
    if let Ok(scenario) = read(RT_APP, Source { origin: "x.toml", name: "x", open: &open }) {
        let _ = scenario.check("x.toml");
    }
});
