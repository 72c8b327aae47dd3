// `skein audit` shows who changed what on the server.
import { Command } from "commander";
import type { AuditEntry } from "../../access/audit/entry.js";
import { type GlobalOptions, withGlobalOptions } from "../connection.js";
import { show, tableText } from "../show.js";
import { oneLine } from "../table.js";

interface AuditOptions extends GlobalOptions {
  readonly limit?: string;
  readonly before?: string;
  readonly tenant?: string;
  readonly action?: string;
  readonly keyId?: string;
}

interface PageView {
  readonly entries: readonly AuditEntry[];
  readonly next?: number;
}

const EXAMPLES = `
Examples:
  skein audit
  skein audit --action key.create --limit 20
  skein audit --tenant acme --before 2031-01-01T00:00:00Z
  skein audit --key-id bootstrap

This command requires the bootstrap admin key.`;

export function auditCommand(): Command {
  const command = new Command("audit")
    .description("show the audit log: who changed what, newest first")
    .option("--limit <n>", "maximum number of entries (100)")
    .option("--before <time|number>", "only entries before this time, or before the entry with this number")
    .option("--tenant <name>", "only entries of this tenant")
    .option("--action <name>", "only entries of this action, for instance index.delete")
    .option("--key-id <id>", 'only entries of this key; "bootstrap" for the bootstrap admin key')
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(audit);
}

async function audit(options: AuditOptions): Promise<void> {
  const { limit, before, tenant, action, keyId } = options;
  const given = Object.entries({ limit, before, tenant, action, key_id: keyId });
  const parameters = new URLSearchParams(
    given.filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  await show(options, "GET", `/v1/audit?${parameters}`, undefined, pageText);
}

function pageText({ entries, next }: PageView): string {
  if (entries.length === 0) return "No matching entries.";
  const titles = ["number", "time", "tenant", "key", "address", "action", "index", "target", "status"];
  const rows = entries.map((entry) => [
    String(entry.seq),
    entry.time,
    oneLine(entry.tenant ?? String(entry.tenant_id)),
    entry.key_id === null ? "bootstrap" : String(entry.key_id),
    oneLine(entry.address),
    entry.action,
    oneLine(entry.index ?? ""),
    oneLine(entry.target ?? ""),
    String(entry.status),
  ]);
  const table = tableText(titles, rows);
  return next === undefined ? table : `${table}\n\nFor older entries: --before ${next}`;
}
