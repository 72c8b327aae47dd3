// `skein check` and `skein repair` verify and repair a stopped server's data directory. This file only
// prints; server/operate/offline does the work.
import { Command } from "commander";
import type { IndexReport, ShardReport } from "../../../shards/protocol/offline.js";
import { messageOf } from "../../documents/formats/input-error.js";
import { makePrivateFiles } from "../../ground/data-dir/private-files.js";
import { dataDirFrom } from "../../operate/config/config.js";
import type { Findings } from "../../operate/offline/examine.js";
import { CliError, EXIT_DAMAGED } from "../failure.js";
import { grouped } from "../table.js";

const LINES_SHOWN_MAX = 20;

const CHECK_HELP = `
Reads every stored byte, verifies all checksums, and compares the manifest with the segments and the segments with the
documents. Intact data is not changed. The server must be stopped. Exit code: 0 intact, 1 damage found, 2 check failed.

Examples:
  skein check --data-dir /var/lib/skein
  skein check --index products --json`;

const REPAIR_HELP = `
Rebuilds the segments and the manifest of damaged indexes from their stored documents. Documents that cannot be read
are dropped and listed: send them again. Intact indexes are not changed. The server must be stopped; copy the data
directory first. Exit code: 0 the data directory is intact now, 1 some damage cannot be repaired, 2 repair failed.

Examples:
  skein repair --data-dir /var/lib/skein --dry-run
  skein repair --index products`;

interface Options {
  readonly dataDir?: string;
  readonly index?: string;
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

export function checkCommand(setExit: (code: number) => void): Command {
  const command = new Command("check").description("verify the data of a stopped server");
  return withCommonOptions(command)
    .addHelpText("after", CHECK_HELP)
    .action(async (options: Options) => {
      const findings = await examination("check", options);
      print(findings, options);
      if (isDamaged(findings)) setExit(EXIT_DAMAGED);
    });
}

export function repairCommand(setExit: (code: number) => void): Command {
  const command = new Command("repair").description("rebuild damaged indexes of a stopped server");
  return withCommonOptions(command)
    .option("--dry-run", "report what would be done, without doing it")
    .addHelpText("after", REPAIR_HELP)
    .action(async (options: Options) => {
      const findings = await examination("repair", options);
      print(findings, options);
      if (options.dryRun === true ? isDamaged(findings) : isDamaged(await examination("check", options))) {
        setExit(EXIT_DAMAGED);
      }
    });
}

function withCommonOptions(command: Command): Command {
  return command
    .option("--data-dir <dir>", "the data directory (./data) [SKEIN_DATA_DIR]")
    .option("--index <name>", "only this index")
    .option("--json", "print JSON instead of text");
}

async function examination(task: "check" | "repair", options: Options): Promise<Findings> {
  // Imported here so that other commands do not load the code that examines storage.
  const { examine } = await import("../../operate/offline/examine.js");
  const dataDir = dataDirFrom(options.dataDir, process.env);
  makePrivateFiles();
  try {
    return await examine({ task, dataDir, index: options.index ?? null, dryRun: options.dryRun === true });
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}

function isDamaged({ catalog, shards, queryLogs, across }: Omit<Findings, "unfinished">): boolean {
  const broken = ({ problems, indexes }: ShardReport): boolean =>
    problems.length > 0 || indexes.some((index) => index.problems.length > 0);
  return catalog.length > 0 || queryLogs.length > 0 || across.length > 0 || shards.some(broken);
}

function print(findings: Findings, { json }: Options): void {
  process.stdout.write(
    json === true ? `${JSON.stringify(asJson(findings))}\n` : `${asText(findings).join("\n")}\n`,
  );
}

function asJson(findings: Findings) {
  const { unfinished, catalog, shards, queryLogs, across, names } = findings;
  return {
    damaged: isDamaged(findings),
    unfinished,
    catalog,
    query_logs: queryLogs,
    across_shards: across,
    shards: shards.map(({ shard, location, problems, filesRepaired, indexes }) => ({
      shard,
      location,
      problems,
      files_repaired: filesRepaired,
      indexes: indexes.map(({ uid, problems: found, documents, segments, unchecked, repair }) => {
        const name = names.get(uid) ?? null;
        return {
          name,
          uid,
          documents,
          segments,
          documents_without_checksum: unchecked,
          problems: found,
          repair,
        };
      }),
    })),
  };
}

function asText(findings: Findings): string[] {
  const { unfinished, catalog, shards, queryLogs, across, names } = findings;
  const lines = [
    ...unfinished.map((left) => `unfinished: ${left}`),
    ...catalog.map((found) => `catalog: ${found}; restore the catalog from a backup`),
  ];
  for (const { shard, problems, filesRepaired, indexes } of shards) {
    lines.push(...few(problems.map((found) => `shard ${shard}: ${found}`)));
    if (filesRepaired)
      lines.push(`shard ${shard}: LevelDB's files were repaired; what they had lost cannot be recovered`);
    for (const index of indexes) lines.push(...indexLines(index, shard, names.get(index.uid)));
  }
  lines.push(...few(queryLogs.map((found) => `query logs: ${found}; move the directory analytics away`)));
  lines.push(...few(across));
  if (!isDamaged(findings)) lines.push("no damage found");
  return lines;
}

function indexLines(report: IndexReport, shard: number, name: string | undefined): string[] {
  const { uid, problems, documents, segments, repair } = report;
  const head = `shard ${shard}, index ${name === undefined ? uid : `"${name}" (${uid})`}`;
  if (problems.length === 0) {
    return [`${head}: ${grouped(documents)} documents in ${segments} segments, all well`];
  }
  const lines = [
    `${head}: ${grouped(problems.length)} problems`,
    ...few(problems.map((found) => `  ${found}`)),
  ];
  if (repair === null) return lines;
  const lost = repair.lost.map(
    ({ seq, id }) => `  lost: document ${seq}${id === "" ? "" : `, id "${id}" as far as it can be read`}`,
  );
  lines.push(`  rebuilt from ${grouped(repair.documents)} documents; ${repair.lost.length} lost`);
  return [...lines, ...lost, ...repair.warnings.map((warning) => `  warning: ${warning}`)];
}

function few(lines: readonly string[]): string[] {
  if (lines.length <= LINES_SHOWN_MAX) return [...lines];
  return [
    ...lines.slice(0, LINES_SHOWN_MAX),
    `  and ${grouped(lines.length - LINES_SHOWN_MAX)} more; --json lists all`,
  ];
}
