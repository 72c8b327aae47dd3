// Finds sequences of terms in a query, using a suffix automaton of the query's terms. A lookup takes one step
// per term in the sequence, however long and repetitive the query is. Scanning the query for each rule's
// entries would take seconds at the limits: 41,000 entries of 100 terms in an index's rules, and 2,048 terms
// in a query.

interface State {
  readonly next: Map<string, State>;
  readonly length: number;
  /**
   * Suffix link: the state of the longest suffix that also occurs elsewhere in the query. Null for the start
   * state.
   */
  link: State | null;
}

export class Stretches {
  readonly #start: State = { next: new Map(), length: 0, link: null };

  constructor(terms: readonly string[]) {
    let last = this.#start;
    for (const term of terms) last = after(last, term);
  }

  /** True if the query contains the terms side by side and in this order. */
  has(terms: readonly string[]): boolean {
    let state: State | undefined = this.#start;
    for (const term of terms) {
      state = state.next.get(term);
      if (state === undefined) return false;
    }
    return true;
  }
}

/**
 * Appends a term to the automaton and returns the state of the whole text. `last` is the state before that.
 */
function after(last: State, term: string): State {
  const whole: State = { next: new Map(), length: last.length + 1, link: null };
  let from: State | null = last;
  for (; from !== null && !from.next.has(term); from = from.link) from.next.set(term, whole);
  whole.link = from === null ? startOf(last) : ending(from, term);
  return whole;
}

/**
 * Returns a state for exactly the text of `from` followed by `term`. Splits the existing state if it also
 * stands for longer texts.
 */
function ending(from: State, term: string): State {
  const found = from.next.get(term) as State;
  if (found.length === from.length + 1) return found;
  const split: State = { next: new Map(found.next), length: from.length + 1, link: found.link };
  found.link = split;
  for (let at: State | null = from; at?.next.get(term) === found; at = at.link) at.next.set(term, split);
  return split;
}

function startOf(state: State): State {
  let start = state;
  while (start.link !== null) start = start.link;
  return start;
}
