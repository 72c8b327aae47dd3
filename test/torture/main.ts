// `npm run torture -- --rounds N --seed S`: rounds of load and kill -9 on real servers. Exits with code 1 and
// keeps the evidence if anything acknowledged is lost. `--hostile` attacks servers instead.
import { parseArgs } from "node:util";
import { hostile } from "./hostile/main.js";
import { tortureRound } from "./round.js";

if (process.argv.includes("--hostile")) process.exit(await hostile(process.argv.slice(2)));
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  console.error("usage: npm run torture -- [--rounds N] [--seed S]");
  process.exit(2);
}
console.log(`torture: ${rounds} rounds, seed ${seed}`);
let [lost, acknowledged, unanswered, queries] = [0, 0, 0, 0];
for (let round = 0; round < rounds; round++) {
  const result = await tortureRound(round, seed);
  acknowledged += result.acknowledged;
  unanswered += result.unanswered;
  queries += result.queries;
  const outcome =
    result.loss === null ? "ok" : `LOST: ${result.loss.message}; evidence in ${result.loss.directory}`;
  console.log(
    `round ${round}: ${result.shards} shards, ${result.acknowledged} writes acknowledged, ${result.unanswered} cut off, ${result.queries} queries, ${(result.ms / 1000).toFixed(1)} s: ${outcome}`,
  );
  if (result.loss !== null) lost++;
}
console.log(
  `${rounds} rounds, ${acknowledged} writes acknowledged, ${unanswered} cut off, ${queries} queries: ${lost === 0 ? "nothing lost" : `${lost} rounds with a loss; repeat with --seed ${seed}`}`,
);
process.exit(lost === 0 ? 0 : 1);
