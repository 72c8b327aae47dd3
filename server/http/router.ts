// Finds the route for a request in the table. Does not know any particular route except the placeholder for a
// missing route.
import { ClockCache } from "../../engine-wasm/host/runtime/clock-cache.js";
import { SkeinError } from "../ground/errors.js";
import { errorReply } from "./respond.js";
import type { OpenRoute, Route } from "./route.js";
import type { SearchServices } from "./services.js";

export interface Match<S extends SearchServices> {
  readonly route: Route<S>;
  readonly params: Readonly<Record<string, string>>;
}

/** The match for a request to an unknown path. Its route replies with 404. */
export const UNMATCHED: Match<SearchServices> = { route: noRoute([]), params: {} };

/** Maximum number of paths per method whose routes are kept, so that most paths are not taken apart. */
const PATHS_KEPT = 1_000;
const PATH_KEPT_LENGTH_MAX = 200;

interface Entry<S extends SearchServices> {
  readonly route: Route<S>;
  readonly segments: readonly string[];
  /** One entry per path segment: the parameter's name, or null if the segment is fixed. */
  readonly parameters: readonly (string | null)[];
}

export class Router<S extends SearchServices> {
  readonly #byLength = new Map<number, Entry<S>[]>();
  /** Matches by path, for the methods of the table. */
  readonly #known = new Map<string, ClockCache<string, Match<S>>>();

  constructor(routes: readonly Route<S>[]) {
    for (const route of routes) {
      if (!this.#known.has(route.method)) this.#known.set(route.method, new ClockCache(PATHS_KEPT));
      const segments = route.path.split("/");
      const entries = this.#byLength.get(segments.length) ?? [];
      entries.push({ route, segments, parameters: segments.map(parameterOf) });
      this.#byLength.set(segments.length, entries);
    }
    for (const entries of this.#byLength.values())
      entries.sort((a, b) => parameterCount(a) - parameterCount(b));
  }

  /** True if there is a route with this method and path. */
  has(method: string, path: string): boolean {
    return this.#recall(method, path) !== undefined || this.#find(method, path.split("/")) !== undefined;
  }

  #recall(method: string, path: string): Match<S> | undefined {
    return this.#known.get(tableMethod(method))?.get(path);
  }

  #find(method: string, segments: readonly string[]): Entry<S> | undefined {
    const wanted = tableMethod(method);
    const entries = this.#byLength.get(segments.length) ?? [];
    return entries.find((entry) => entry.route.method === wanted && fits(entry, segments));
  }

  /**
   * Finds the route; a HEAD request gets the GET route. If the path supports only other methods, returns a
   * placeholder route whose reply lists those methods. Throws SK-SYS-400 if the percent-encoding is invalid.
   */
  match(method: string, path: string): Match<S> {
    const known = this.#recall(method, path);
    if (known !== undefined) return known;
    const segments = path.split("/");
    const entries = this.#byLength.get(segments.length) ?? [];
    const found = this.#find(method, segments);
    if (found !== undefined) {
      const match = { route: found.route, params: decoded(found, segments) };
      if (path.length <= PATH_KEPT_LENGTH_MAX) this.#known.get(found.route.method)!.set(path, match);
      return match;
    }
    const methods = entries
      .filter((entry) => fits(entry, segments))
      .map((entry) => entry.route.method as string);
    if (methods.length === 0) return UNMATCHED;
    return {
      route: noRoute([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"]),
      params: {},
    };
  }
}

/**
 * Placeholder for a missing route. `allow` lists the methods that the path supports; if it is empty, the
 * reply is a 404. Metrics count such requests under the placeholder's path, "unmatched".
 */
function noRoute(allow: readonly string[]): OpenRoute<SearchServices> {
  return {
    method: "GET",
    path: "unmatched",
    operation: "",
    access: "open",
    handle: ({ request: { method } }) => {
      if (allow.length === 0) throw new SkeinError("SK-SYS-404", "there is no such path");
      const header = ["allow", allow.join(", ")] as const;
      if (method === "OPTIONS") return { status: 204, headers: [header], body: "" };
      const taken = `the path does not allow ${method.slice(0, 20)}, only ${allow.join(", ")}`;
      return errorReply(new SkeinError("SK-SYS-405", taken), [header]);
    },
  };
}

/** The method under which the table has a request's route. */
function tableMethod(method: string): string {
  return method === "HEAD" ? "GET" : method;
}

function parameterOf(segment: string): string | null {
  return segment.startsWith("{") ? segment.slice(1, -1) : null;
}

function parameterCount({ parameters }: Pick<Entry<never>, "parameters">): number {
  return parameters.filter((name) => name !== null).length;
}

function fits(entry: Pick<Entry<never>, "parameters" | "segments">, segments: readonly string[]): boolean {
  for (let i = 0; i < segments.length; i++) {
    if (entry.parameters[i] === null ? segments[i] !== entry.segments[i] : segments[i] === "") return false;
  }
  return true;
}

function decoded(
  { parameters }: Pick<Entry<never>, "parameters">,
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < parameters.length; i++) {
    const name = parameters[i]!;
    if (name !== null) params[name] = decodeSegment(segments[i]!);
  }
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    throw new SkeinError("SK-SYS-400", "the path has an invalid percent-encoding", { cause: error });
  }
}
