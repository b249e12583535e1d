//! `flyball help`: a command's help, a topic, or what a topic lists.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{help, output, topics};
use flyball_units::nearest;

pub fn run(topic: Option<&str>) -> Result<Exit, Failure> {
    let mut command = help::command();
    command.build();
    let Some(name) = topic else {
        output::data(&format!("{}\n{}", command.render_help(), topics::list()))?;
        return Ok(Exit::Ok);
    };
    let of_command =
        command.find_subcommand_mut(name).map(|sub| sub.render_long_help().to_string());
    let text = of_command.or_else(|| topics::text(name)).ok_or_else(|| {
        let names = help::command();
        let commands = names.get_subcommands().map(clap::Command::get_name);
        let near = nearest(name, topics::names().into_iter().chain(commands));
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        Failure::usage(format!("no help on \"{name}\""))
            .hint(hint.unwrap_or_else(|| "topics and commands: flyball help".to_owned()))
    })?;
    output::data(&text)?;
    Ok(Exit::Ok)
}
