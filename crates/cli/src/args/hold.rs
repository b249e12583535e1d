//! Arguments of `flyball hold`.

use super::CheckFormat;
use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use flyball_control::{SETTINGS, Scope, Setting, Settings};
use flyball_units::Mismatch;

pub const EXAMPLES: &str = include_str!("../../help/hold.txt").trim_ascii_end();

/// `flyball hold`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct HoldArgs {
    #[command(flatten)]
    pub settings: SettingFlags,
    /// Run a background load meanwhile, and prove that it ran; see below
    #[arg(short, long, value_name = "PROFILE")]
    pub load: Option<String>,
    /// Without CMD: how long a load is held, such as 10s; by default until Ctrl-C
    #[arg(short, long, value_name = "TIME", conflicts_with = "program", requires = "load")]
    pub duration: Option<String>,
    /// Do not measure the delivered frequency before CMD runs
    #[arg(long)]
    pub no_verify: bool,
    /// Print what would be written, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Restore what a killed hold left, and stop
    #[arg(long, conflicts_with_all = ["dry_run", "program", "load"])]
    pub recover: bool,
    /// Format of the plan or the result; with CMD, the result is one line on stderr
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
    /// With --dry-run: the machine to plan for, host or record:DIR
    #[arg(short, long, value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// Make some calls to the machine fail, to see what happens (for tests)
    #[arg(long, value_name = "FAULTS", hide = true)]
    pub faults: Option<String>,
    /// The program to run, and its arguments
    #[arg(
        last = true,
        value_name = "CMD",
        required_unless_present_any = ["dry_run", "recover", "load"]
    )]
    pub program: Vec<String>,
}

/// A flag for each setting that can be held, from the table of settings; their texts as given.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags(Vec<(&'static Setting, String)>);

impl SettingFlags {
    /// What they ask for.
    pub fn read(&self) -> Result<Settings, Mismatch> {
        let mut settings = Settings::default();
        for (setting, text) in &self.0 {
            setting
                .read(&mut settings, text)
                .map_err(|slip| slip.at(format!("--{}", setting.name)))?;
        }
        Ok(settings)
    }
}

fn held() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.scope != Scope::Thread)
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<SettingFlags, Error> {
        let given = |setting: &'static Setting| {
            Some((setting, matches.get_one::<String>(setting.name)?.clone()))
        };
        Ok(SettingFlags(held().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = SettingFlags::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(held().map(|setting| {
            let arg = Arg::new(setting.name)
                .long(setting.name)
                .value_name(setting.value)
                .help(setting.about);
            let arg = match setting.value.contains('|') {
                true => arg.value_parser(setting.value.split('|').collect::<Vec<_>>()),
                false => arg,
            };
            match setting.name {
                "governor" => arg.short('g'),
                "frequency" => arg.short('f').conflicts_with_all(["min", "max"]),
                _ => arg,
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SettingFlags::augment_args(command)
    }
}
