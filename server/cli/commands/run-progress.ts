// Follows a data source run to its end and shows its progress. A terminal gets one line that is rewritten in
// place; any other output gets a line every few seconds.

import { setTimeout as sleep } from "node:timers/promises";
import type { RunView } from "../../documents/sources/run-view.js";
import { grouped, truncate } from "../table.js";
import type { Screen } from "../upload/progress.js";

const ASK_MS = 300;
const PLAIN_LINE_MS = 5_000;

/**
 * Shows a run's progress until the run is over. `read` fetches the run's current state. Returns the final
 * state.
 */
export async function followRun<T extends { readonly data: RunView }>(
  read: () => Promise<T>,
  screen: Screen,
): Promise<T> {
  let shownMs = performance.now();
  for (;;) {
    const answer = await read();
    const { data: run } = answer;
    const over = run.status !== "queued" && run.status !== "running";
    if (over) {
      if (screen.isTTY === true) screen.write("\r\x1b[2K");
      return answer;
    }
    if (screen.isTTY === true) screen.write(`\r\x1b[2K${truncate(line(run), (screen.columns ?? 80) - 1)}`);
    else if (performance.now() - shownMs >= PLAIN_LINE_MS) {
      shownMs = performance.now();
      screen.write(`${line(run)}\n`);
    }
    await sleep(ASK_MS);
  }
}

function line(run: RunView): string {
  const done = run.documents_imported + run.documents_unchanged;
  const failed = run.documents_failed > 0 ? `  ${grouped(run.documents_failed)} failed` : "";
  return `${run.status}  ${grouped(done)} documents  ${grouped(run.bytes / 1_000_000)} MB${failed}`;
}
