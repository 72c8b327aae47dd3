// Reads the body of a request to create or PATCH a data source, validates the result as a whole, and builds
// the clients' view. Knows nothing about fetching and scheduling.
import { unescape as percentDecoded } from "node:querystring";
import { type DataSource, FEED_FORMATS, SYNC_MODES } from "../../catalog/records/data-source.js";
import type { SyncRun } from "../../catalog/records/sync-run.js";
import { isObject } from "../../ground/input/json-value.js";
import { defaultsTo, object, optional, required } from "../../ground/input/object-reader.js";
import {
  anyObject,
  checked,
  flag,
  type InputRules,
  oneOf,
  ratio,
  refuse,
  secret,
  text,
  type ValueReader,
} from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { hostProblem } from "../../ground/outbound/addresses.js";
import { isEncoding } from "../feeds/charset.js";
import type { FeedSettings } from "./feed-settings.js";
import { type RunView, runView } from "./run-view.js";
import { SCHEDULE_TAKES, scheduleProblem } from "./schedule.js";

const CODE = "SK-DS-400";

const BASIC_AUTH = object(
  {
    username: required(text(FIXED_LIMITS.feedCredentialBytesMax)),
    password: optional(
      text(FIXED_LIMITS.feedCredentialBytesMax),
      "May be left out in a change that keeps the user name.",
    ),
  },
  { unknown: "refused" },
);

/** Maps paths in the feed to field names. */
const FIELD_MAP: ValueReader<Readonly<Record<string, string>>> = {
  takes: "an object of field names by path of the feed",
  schema: { type: "object", additionalProperties: { type: "string" } },
  read(value, path, rules) {
    const entries = Object.entries(anyObject().read(value, path, rules));
    const { feedMapEntriesMax } = FIXED_LIMITS;
    if (entries.length > feedMapEntriesMax)
      refuse(path, `has ${entries.length} entries; at most ${feedMapEntriesMax} are allowed`, rules);
    const sources = new Map<string, string>();
    const read = entries.map(([from, given]) => {
      const at = `${path}[${JSON.stringify(from.slice(0, 40))}]`;
      if (Buffer.byteLength(from) > FIXED_LIMITS.feedPathBytesMax)
        refuse(at, `is longer than ${FIXED_LIMITS.feedPathBytesMax} bytes`, rules);
      const name = text(FIXED_LIMITS.fieldNameBytesMax, "the name of a field").read(given, at, rules);
      if (from.trim() === "") refuse(at, "must name a path in the feed, not an empty string", rules);
      if (name === "") refuse(at, "must name a field, not an empty string", rules);
      if (name === "embedding" || name.startsWith("_"))
        refuse(at, `must name a field that a feed may write, not ${JSON.stringify(name)}`, rules);
      const other = sources.get(name);
      if (other !== undefined) {
        const why = `maps to ${JSON.stringify(name)}, and so does ${JSON.stringify(other.slice(0, 40))}`;
        refuse(at, why, rules);
      }
      sources.set(name, from);
      return [from, name] as const;
    });
    return Object.fromEntries(read);
  },
};

export const DATA_SOURCE = object(
  {
    url: required(
      text(FIXED_LIMITS.feedUrlBytesMax, "an http or https URL"),
      "User name and password in it move to basic_auth.",
    ),
    format: required(oneOf(FEED_FORMATS)),
    schedule: defaultsTo(
      "manual",
      checked(text(200, SCHEDULE_TAKES), scheduleProblem),
      `In UTC: ${SCHEDULE_TAKES}.`,
    ),
    sync_mode: defaultsTo("upsert", oneOf(SYNC_MODES)),
    field_map: defaultsTo({}, FIELD_MAP),
    basic_auth: optional(secret(BASIC_AUTH)),
    enabled: defaultsTo(true, flag(), "false: the schedule rests."),
    items_path: defaultsTo(null, path("a JSON pointer or the path of an XML element")),
    id_field: defaultsTo(null, path("a path of the feed")),
    delimiter: defaultsTo(null, checked(text(4, "one character"), delimiterProblem)),
    encoding: defaultsTo(null, checked(text(100, "the name of an encoding"), encodingProblem)),
    max_delete_ratio: defaultsTo(
      0.5,
      ratio(),
      "The part of the index that a run in replace mode may delete.",
    ),
  },
  { unknown: "refused" },
);

/** A password sent by a client, or a reference to the stored one. */
export interface GivenCredentials {
  readonly username: string;
  /** Null selects the stored password. */
  readonly password: string | null;
}

/** The data source's members that clients may set. */
export type SourceDraft = Pick<
  DataSource,
  | "url"
  | "format"
  | "schedule"
  | "sync_mode"
  | "field_map"
  | "enabled"
  | "items_path"
  | "id_field"
  | "delimiter"
  | "encoding"
  | "max_delete_ratio"
> & { readonly credentials: GivenCredentials | null };

/**
 * Reads a create body or, if `current` is given, a PATCH body, where null restores a default. Throws
 * SK-DS-400.
 */
export function readSource(
  body: unknown,
  current: DataSource | null,
  settings: FeedSettings,
  limits: Limits,
): SourceDraft {
  const rules = { limits, code: CODE } as const;
  const stored = current?.credentials ?? null;
  const present =
    current === null
      ? undefined
      : { ...current, basic_auth: stored === null ? undefined : { username: stored.username } };
  const { basic_auth: auth, url: given, ...members } = DATA_SOURCE.read(body, "", rules, present);
  const url = readUrl(given, settings, rules);
  const inBody = isObject(body) && isObject(body.basic_auth);
  const asRead = auth === undefined ? null : { username: auth.username, password: auth.password ?? null };
  const credentials = inBody ? asRead : (userinfo(url) ?? asRead);
  url.username = "";
  url.password = "";
  if (credentials?.password === null) checkKept(credentials.username, url, current, rules);
  return { ...members, url: url.href, credentials };
}

/** Checks that a stored password will be sent only to the server that it was given for. */
function checkKept(username: string, url: URL, current: DataSource | null, rules: InputRules): void {
  if (username !== current?.credentials?.username)
    refuse("basic_auth.password", "is missing; expected a string", rules);
  if (url.origin !== new URL(current.url).origin)
    refuse("basic_auth.password", "must be sent again, because the url names a different server", rules);
}

function readUrl(given: string, settings: FeedSettings, rules: InputRules): URL {
  const problem = hostProblem(given, settings);
  if (problem !== null) refuse("url", problem, rules);
  const url = new URL(given);
  url.hash = "";
  return url;
}

function userinfo({ username, password }: URL): GivenCredentials | null {
  return username === "" && password === ""
    ? null
    : { username: percentDecoded(username), password: percentDecoded(password) };
}

function path(takes: string): ValueReader<string> {
  return checked(text(FIXED_LIMITS.feedPathBytesMax, takes), (value) =>
    value.trim() === "" ? `must be ${takes}, not an empty string` : null,
  );
}

function delimiterProblem(delimiter: string): string | null {
  return [...delimiter].length === 1 && !/["\r\n]/.test(delimiter)
    ? null
    : "must be one character that is neither a quote nor a line break";
}

function encodingProblem(encoding: string): string | null {
  return isEncoding(encoding)
    ? null
    : "must be the name of an encoding such as utf-8, utf-16le or windows-1252";
}

export interface SourceView extends Omit<SourceDraft, "credentials"> {
  readonly id: number;
  readonly basic_auth: { readonly username: string; readonly password: null } | null;
  readonly suspended: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_run: RunView | null;
  readonly next_run_at: string | null;
}

/** The view for clients. `lastRun` is the newest run. */
export function sourceView(source: DataSource, lastRun: SyncRun | null): SourceView {
  const { index: _, credentials, next_due, last_due: __, validators: ___, ...shown } = source;
  return {
    ...shown,
    basic_auth: credentials === null ? null : { username: credentials.username, password: null },
    last_run: lastRun === null ? null : runView(lastRun),
    next_run_at: source.enabled && !source.suspended ? next_due : null,
  };
}
