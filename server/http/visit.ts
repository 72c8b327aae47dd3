// One request on its way through the phases, with what they have found out about it so far.
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

/** Handlers get it as the request that their route declares. A member with `!` is set by the phase of its name. */
export class Visit<S extends SearchServices> implements IndexRequest<never, S> {
  route: Route<S> = UNMATCHED.route;
  params!: Readonly<Record<string, string>>;
  principal!: Principal;
  state!: CatalogState;
  record!: IndexRecord;
  body!: never;
  /** Ends the use of the index; null: it is not used. */
  end: (() => void) | null = null;
  /** What the key may do and asked for, if that is audited. */
  asked: AskedOperation | null = null;
  /** The client's, in its one spelling; "" unless it was looked up. */
  address = "";

  constructor(
    readonly services: S,
    readonly request: HttpRequest,
    readonly id: string,
  ) {}

  /** Looks the address up while the client is there, which may have gone when the address is logged. */
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
