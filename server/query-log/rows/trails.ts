// Trails are each person's searches, in order. A row is in its user's trail and in its session's trail. A row
// without a user is also in a third trail, which contains only the session's rows without a user.
import { type Asker, NOBODY, type Person } from "./journal.js";

/** The members by which searches are ordered: time, then id. */
export interface SearchPlace {
  readonly at: number;
  readonly frontEnd: number;
  readonly counter: number;
}

export function compareSearches(a: SearchPlace, b: SearchPlace): number {
  return a.at - b.at || a.frontEnd - b.frontEnd || a.counter - b.counter;
}

export class Trails<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #ofUser = new Map<Person, T[]>();
  readonly #ofSession = new Map<Person, T[]>();
  readonly #ofSessionAlone = new Map<Person, T[]>();

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Adds a row to its trails. Fast if few rows of the same person come after it. */
  add({ user, session }: Asker, row: T): void {
    this.#insert(this.#ofUser, user, row);
    this.#insert(this.#ofSession, session, row);
    if (user === NOBODY) this.#insert(this.#ofSessionAlone, session, row);
  }

  /**
   * Returns the rows that certainly come from the same person: those of the user or, if the asker has no
   * user, the session's rows without a user.
   */
  own({ user, session }: Asker): readonly T[] {
    return (user === NOBODY ? this.#ofSessionAlone.get(session) : this.#ofUser.get(user)) ?? [];
  }

  /**
   * Returns two trails of rows that may come from the same person: the user's and the session's. If the asker
   * has a user, the latter contains only rows without a user.
   */
  related({ user, session }: Asker): readonly (readonly T[])[] {
    const ofSession = user === NOBODY ? this.#ofSession : this.#ofSessionAlone;
    return [this.#ofUser.get(user) ?? [], ofSession.get(session) ?? []];
  }

  #insert(trails: Map<Person, T[]>, person: Person, row: T): void {
    if (person === NOBODY) return;
    const trail = trails.get(person);
    if (trail === undefined) {
      trails.set(person, [row]);
      return;
    }
    let place = trail.push(row) - 1;
    for (; place > 0 && this.#compare(trail[place - 1] as T, row) > 0; place--)
      trail[place] = trail[place - 1] as T;
    trail[place] = row;
  }
}
