// Sends a GET request and follows redirects. The address of every redirect is checked like the first one, and
// credentials are sent only to their own origin (scheme, host and port). Retries and contents are handled
// elsewhere.
import { FeedError } from "../errors.js";
import { hostProblem } from "./addresses.js";
import type { OutboundRoute } from "./connector.js";
import { type Answer, exchange } from "./exchange.js";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the first answer that is not a redirect, which the caller must close. Throws FeedError, or the
 * signal's reason.
 */
export async function follow(
  start: string,
  credentials: Credentials | null,
  headers: Readonly<Record<string, string>>,
  redirectsMax: number,
  route: OutboundRoute,
): Promise<Answer> {
  let url = checked(new URL(start), "the feed's URL", route);
  const { origin } = url;
  for (let redirects = 0; ; redirects++) {
    const authorization = credentials !== null && url.origin === origin ? basic(credentials) : {};
    const answer = await exchange(url, { ...headers, ...authorization }, route);
    if (!REDIRECTS.has(answer.status)) return answer;
    answer.close();
    if (redirects >= redirectsMax) {
      throw new FeedError("SK-DS-502", `${url.host} redirects more than ${redirectsMax} times`);
    }
    const location = answer.header("location");
    if (location === null || !URL.canParse(location, url.href)) {
      throw new FeedError("SK-DS-502", `${url.host} redirects without saying where`);
    }
    url = checked(new URL(location, url), `the URL that ${url.host} redirects to`, route);
  }
}

function checked(url: URL, name: string, route: OutboundRoute): URL {
  const problem = hostProblem(url.href, route.rules);
  if (problem !== null) throw new FeedError("SK-DS-403", `${name} ${problem}`);
  return url;
}

function basic({ username, password }: Credentials): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}
