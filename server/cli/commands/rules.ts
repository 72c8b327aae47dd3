// `skein rules` lists an index's ranking rules.

import { Command } from "commander";
import type { RankingRule } from "../../catalog/records/rule.js";
import { connect, type GlobalOptions, withGlobalOptions } from "../connection.js";
import { tableText } from "../show.js";

const EXAMPLES = `
Examples:
  skein rules products
  skein rules products --json

Rules are created and changed over HTTP: docs/api.md, "Ranking rules".`;

export function rulesCommand(): Command {
  const command = new Command("rules")
    .description("list an index's ranking rules")
    .argument("<index>")
    .addHelpText("after", EXAMPLES);
  return withGlobalOptions(command).action(async (index: string, options: GlobalOptions) => {
    const client = connect(options);
    try {
      const path = `/v1/indexes/${encodeURIComponent(index)}/ranking-rules`;
      const answer = (await client.json("GET", path)) as { data: readonly RankingRule[] };
      process.stdout.write(`${options.json === true ? JSON.stringify(answer) : ruleTable(answer.data)}\n`);
    } finally {
      client.close();
    }
  });
}

function ruleTable(rules: readonly RankingRule[]): string {
  if (rules.length === 0) return "The index has no ranking rules.";
  const rows = rules.map(({ id, name, type, conditions, effect, priority, enabled }) => [
    String(id),
    name,
    effect.weight === undefined ? type : `${type} ${effect.weight}`,
    conditions.query_contains.join(", ") || "always",
    [effect.filter_by, effect.documents?.join(", ")].filter((part) => part !== undefined).join(" or "),
    String(priority),
    enabled ? "on" : "off",
  ]);
  const titles = ["id", "name", "type", "query contains", "applies to", "priority", "state"];
  return tableText(titles, rows);
}
