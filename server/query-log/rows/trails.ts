// Trails: each person's searches, in order. A row is in its user's trail and in its session's trail. If it
// names no user, it is also in the session's trail of rows without a user.
import { type Asker, NOBODY, type Person } from "./journal.js";

/** Searches are ordered by time and then by id. */
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

  /** Fast if few of the person's rows come after `row` in the order. */
  add({ user, session }: Asker, row: T): void {
    this.#insert(this.#ofUser, user, row);
    this.#insert(this.#ofSession, session, row);
    if (user === NOBODY) this.#insert(this.#ofSessionAlone, session, row);
  }

  /**
   * Returns the user's rows. If the asker has no user, returns the session's rows that have no user either.
   */
  own({ user, session }: Asker): readonly T[] {
    return (user === NOBODY ? this.#ofSessionAlone.get(session) : this.#ofUser.get(user)) ?? [];
  }

  /**
   * Returns two trails: the user's rows and the session's rows. If the asker has a user, the session's trail
   * contains only rows without a user.
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
