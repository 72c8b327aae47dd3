// Trails: the searches of each person, in order. A row is in the trail of its user, in the trail of its
// session, and, if it names no user, in a trail of the session alone.
import { type Asker, NOBODY, type Person } from "./journal.js";

/** The order of searches: by time, then by id. */
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

  /** Fast if few rows of the person come later in the order. */
  add({ user, session }: Asker, row: T): void {
    this.#insert(this.#ofUser, user, row);
    this.#insert(this.#ofSession, session, row);
    if (user === NOBODY) this.#insert(this.#ofSessionAlone, session, row);
  }

  /** Rows of the same user; without a user, those of the same session without a user. */
  own({ user, session }: Asker): readonly T[] {
    return (user === NOBODY ? this.#ofSessionAlone.get(session) : this.#ofUser.get(user)) ?? [];
  }

  /**
   * Trails with the rows of the same user, and with those of the same session if this asker or the row names
   * no user.
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
