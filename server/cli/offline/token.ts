// `skein token` creates a search token from a key, without contacting a server.
import { Command } from "commander";
import { shownPrefix } from "../../access/tenants/keys.js";
import { makeToken, openToken, sentToken } from "../../access/tenants/search-token.js";
import { SkeinError } from "../../ground/errors.js";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../ground/limits.js";
import { CliError } from "../failure.js";
import { wholeNumber } from "../whole-number.js";

interface TokenOptions {
  readonly key?: string;
  readonly filter?: string;
  readonly indexes?: string;
  readonly expires?: string;
  readonly user?: string;
  readonly rateLimit?: number;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  skein token --key "$SEARCH_KEY" --filter "shop:=7 && hidden:false" --expires 24h
  skein token --indexes "products*" --user visitor-81 --rate-limit 5     # the key from SKEIN_API_KEY

The token searches like its key, but finds only documents that pass the filter. Its holder can read its contents but
cannot change them. It stops working when its key is revoked or rotated. docs/api.md shows how to create tokens in
TypeScript, PHP and Python.`;

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export function tokenCommand(): Command {
  return new Command("token")
    .description("derive a search token from a key, without a server")
    .option("--key <key>", "the key to derive it from (SKEIN_API_KEY)")
    .option("--filter <expression>", "filter added to every search")
    .option("--indexes <patterns>", "the indexes it covers (comma-separated; default: those of the key)")
    .option(
      "--expires <time>",
      "when it expires: an ISO 8601 time, or a time from now such as 30m, 24h or 7d (with its key)",
    )
    .option("--user <id>", "who holds it; its searches and events count as this user's")
    .option("--rate-limit <number>", "maximum requests per second", wholeNumber)
    .option("--json", "print JSON instead of text")
    .addHelpText("after", EXAMPLES)
    .action(token);
}

function token(options: TokenOptions): void {
  const key = options.key ?? process.env.SKEIN_API_KEY ?? "";
  if (!key.startsWith("sk_"))
    throw new CliError(
      "a token is derived from a key that begins with sk_, not from the bootstrap admin key; give one with --key or SKEIN_API_KEY",
    );
  const { filter, indexes, expires, user, rateLimit } = options;
  const members = {
    ...(filter === undefined ? {} : { filter_by: filter }),
    ...(indexes === undefined ? {} : { indexes: indexes.split(",").map((pattern) => pattern.trim()) }),
    ...(expires === undefined ? {} : { expires_at: endOf(expires, Date.now()) }),
    ...(user === undefined ? {} : { user_id: user }),
    ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
  };
  const made = makeToken(key, shownPrefix(key), members);
  checkReadable(made);
  process.stdout.write(
    options.json === true ? `${JSON.stringify({ token: made, ...members })}\n` : `${made}\n`,
  );
}

/** Reads the token as a server would. Throws CliError if it is not valid. */
function checkReadable(made: string): void {
  if (made.length > FIXED_LIMITS.tokenBytesMax)
    throw new CliError(
      `the token has ${made.length} bytes; servers take at most ${FIXED_LIMITS.tokenBytesMax}`,
    );
  try {
    openToken(sentToken(made)!, DEFAULT_LIMITS);
  } catch (error) {
    if (error instanceof SkeinError) throw new CliError(error.message);
    throw error;
  }
}

function endOf(given: string, nowMs: number): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
  if (count === undefined || unit === undefined) return given;
  return new Date(nowMs + Number(count) * UNIT_MS[unit]!).toISOString();
}
