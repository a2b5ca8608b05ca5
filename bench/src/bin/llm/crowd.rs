//! Many streams at once.

use std::fs;
use std::process::ExitCode;

use futures_util::future::join_all;
use harn_bench::{Effort, Table};
use harn_llm::exchange::{Exchange, ask};
use harn_llm::transport::{Http, HttpOptions, TimeLimits};
use harn_llm::wire::Wire;

use crate::requests::{request, runtime, target};
use crate::server::{Server, allow_many_files, own_program};

const ASKED_MB: f64 = 100.0;

/// Starts a crowd in a process of its own, so that nothing else is counted.
pub(crate) fn measure(effort: Effort, table: &mut Table) -> Result<(), String> {
    let count = match effort {
        Effort::Full => 1_000,
        Effort::Smoke => 20,
    };
    let server = Server::start()?;
    let mut command = own_program("crowd")?;
    command.arg(&server.url).arg(count.to_string());
    let output = command.output().map_err(|why| format!("a crowd: {why}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let kilobytes: f64 = said
        .trim()
        .parse()
        .map_err(|_| format!("a crowd: {said}"))?;
    let megabytes = kilobytes * 1024.0 / 1e6;
    table.row(
        &format!("{count} streams that are all half read: most memory resident"),
        "–",
        &format!("{megabytes:.1} MB"),
        "–",
        &format!("{:.1} kB a stream", kilobytes * 1.024 / f64::from(count)),
        &format!("< {ASKED_MB:.0} MB"),
        megabytes < ASKED_MB,
    );
    Ok(())
}

/// The role of the crowd: nobody gets the second half of an answer before everybody has the
/// first. Says how many KiB the process had at most.
pub(crate) fn run(url: &str, count: &str) -> ExitCode {
    allow_many_files();
    let number: usize = count.parse().expect("the number of streams");
    let target = target(&format!("{url}/gate/{count}"));
    let request = request();
    let http = Http::new(HttpOptions::default());
    let asking = (0..number).map(|_| async {
        let exchange = Exchange {
            wire: Wire::Chat,
            target: &target,
            request: &request,
            limits: TimeLimits::default(),
        };
        ask(&http, exchange, &mut |_| {}).await
    });
    let runtime = runtime().expect("a runtime can be made");
    for reply in runtime.block_on(join_all(asking)) {
        let reply = reply.expect("every stream ends well");
        assert_eq!(reply.tool_calls.len(), 2, "{reply:?}");
    }
    println!("{}", peak_kilobytes());
    ExitCode::SUCCESS
}

fn peak_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix("kB"));
    let number = number.and_then(|number| number.trim().parse().ok());
    number.expect("Linux says how much memory a process had at most")
}
