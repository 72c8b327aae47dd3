// One request on its way through the phases, with everything that the phases have found out about it.
import type { AskedOperation } from "../access/audit/operations.js";
import type { Principal } from "../access/tenants/principal.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { CatalogState } from "../catalog/state.js";
import { SkeinError } from "../ground/errors.js";
import { describe } from "../ground/input/json-value.js";
import type { IndexRequest, Route } from "./route.js";
import { UNMATCHED } from "./router.js";
import type { SearchServices } from "./services.js";
import type { HttpRequest } from "./transport/port.js";

/**
 * Each handler receives this object as the request type declared by its route. A member with `!` is set by
 * the phase of the same name.
 */
export class Visit<S extends SearchServices> implements IndexRequest<never, S> {
  route: Route<S> = UNMATCHED.route;
  params!: Readonly<Record<string, string>>;
  principal!: Principal;
  state!: CatalogState;
  record!: IndexRecord;
  body!: never;
  /** Ends the use of the index. Null if the index is not in use. */
  end: (() => void) | null = null;
  /** The audited operation requested, if any, once the key has been found to permit it. */
  asked: AskedOperation | null = null;
  /** The client's address in canonical form; "" before it is looked up. */
  address = "";

  constructor(
    readonly services: S,
    readonly request: HttpRequest,
    readonly id: string,
  ) {}

  /**
   * Looks up the address while the client is still connected: the client may have disconnected by the time
   * the address is logged.
   */
  lookUpAddress(): string {
    const { services, request } = this;
    const forwarded = request.header("x-forwarded-for");
    this.address = services.settings.now.trustProxy.clientAddress(request.ip, forwarded);
    return this.address;
  }

  readonly query = (): URLSearchParams => {
    const parameters = new URLSearchParams(this.request.query);
    const seen = new Set<string>();
    for (const name of parameters.keys()) {
      if (seen.has(name)) {
        throw new SkeinError("SK-SYS-400", `the parameter ${describe(name)} is given more than once`);
      }
      seen.add(name);
    }
    return parameters;
  };
}
