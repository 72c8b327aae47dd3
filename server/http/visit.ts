// A request on its way through the phases, with everything that the phases have found out about it.
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
 * Every handler receives a Visit, typed as the request of its route. The members with `!` are set by the
 * phases and must not be read before that.
 */
export class Visit<S extends SearchServices> implements IndexRequest<never, S> {
  route: Route<S> = UNMATCHED.route;
  params!: Readonly<Record<string, string>>;
  principal!: Principal;
  state!: CatalogState;
  record!: IndexRecord;
  body!: never;
  /** Ends this request's use of the index. Null if the request does not use an index. */
  end: (() => void) | null = null;
  /**
   * The audited operation that the client requested. Null if the route is not audited or the key's rights
   * have not been checked yet.
   */
  asked: AskedOperation | null = null;
  /** The client's address in canonical form; "" before it is looked up. */
  address = "";

  constructor(
    readonly services: S,
    readonly request: HttpRequest,
    readonly id: string,
  ) {}

  /**
   * Looks up the client's address now, because it is no longer available once the client has disconnected,
   * and it may be logged after that.
   */
  lookUpAddress(): string {
    const { services, request } = this;
    const forwarded = request.header("x-forwarded-for");
    this.address = services.settings.now.trustProxy.clientAddress(request.ip, forwarded);
    return this.address;
  }

  get query(): URLSearchParams {
    const parameters = new URLSearchParams(this.request.query);
    const seen = new Set<string>();
    for (const name of parameters.keys()) {
      if (seen.has(name)) {
        throw new SkeinError("SK-SYS-400", `the parameter ${describe(name)} is given more than once`);
      }
      seen.add(name);
    }
    return parameters;
  }
}
