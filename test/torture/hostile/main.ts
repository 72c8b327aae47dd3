// `npm run torture -- --hostile`: attacks on a real server, each with bounds on time and memory. Exits with
// code 1 if a bound does not hold.
import { parseArgs } from "node:util";
import { machineCard, machineText } from "../../../bench/machine.js";
import { TRANSPORTS } from "../../e2e/world/transports.js";
import { ATTACKS } from "./attacks.js";
import { findingsOf, rowOf, tableHead } from "./report.js";
import { attackAll } from "./run.js";
import type { SiteOptions } from "./site.js";

const USAGE = `usage: npm run torture -- --hostile [--minutes N] [--heap MIB] [--memory MIB] [--front-ends N] [--http ${["auto", ...TRANSPORTS].join("|")}] [--documents N] [--only NAME,NAME]
attacks: ${ATTACKS.map(({ name }) => name).join("; ")}`;

/** Returns the exit code. */
export async function hostile(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hostile: { type: "boolean" },
      minutes: { type: "string", default: "0" },
      heap: { type: "string", default: "512" },
      memory: { type: "string" },
      "front-ends": { type: "string", default: "1" },
      http: { type: "string", default: "auto" },
      documents: { type: "string", default: "20000" },
      only: { type: "string" },
    },
  });
  const options: SiteOptions = {
    heapMiB: Number(values.heap),
    // V8's own choice on a small machine is half of its memory.
    memoryMiB: Number(values.memory ?? 2 * Number(values.heap)),
    frontEnds: Number(values["front-ends"]),
    http: values.http as SiteOptions["http"],
    documents: Number(values.documents),
  };
  const minutes = Number(values.minutes);
  const wanted = values.only?.split(",");
  const isKnown = (wanted ?? []).every((name) => ATTACKS.some((attack) => attack.name === name));
  const isTransport = ["auto", ...TRANSPORTS].includes(options.http);
  const { heapMiB, memoryMiB, frontEnds, documents } = options;
  if (
    !isKnown ||
    !isTransport ||
    ![heapMiB, memoryMiB, frontEnds, documents].every((n) => n > 0) ||
    !(minutes >= 0)
  ) {
    console.error(USAGE);
    return 2;
  }
  const attacks = ATTACKS.filter(({ name }) => wanted?.includes(name) ?? true).filter(
    ({ mishap }) => frontEnds > 1 || !mishap?.kind.startsWith("front-end"),
  );
  console.log(machineText(machineCard("")));
  console.log(
    `a heap of ${heapMiB} MiB, ${memoryMiB} MiB of memory, ${frontEnds} front-ends, http: ${options.http}, ${documents} documents`,
  );
  // A server must not outlive the run.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  console.log(`\n${tableHead()}`);
  const outcomes = await attackAll(attacks, options, minutes, (outcome) => console.log(rowOf(outcome)));
  console.log(`\n${findingsOf(outcomes)}`);
  return outcomes.some(({ findings }) => findings.length > 0) ? 1 : 0;
}
