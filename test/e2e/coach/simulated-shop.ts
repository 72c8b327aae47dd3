// A shop with simulated visitors and planted problems that the coach must find: words that visitors use but
// the catalogue does not, missing products, and documents that rank too low. It also has searches that work
// very well, and many harmless patterns that look like problems. The catalogue and the answers are real. The
// visits are written into the query log while the server is down, because they must be spread over four
// weeks.
import { join } from "node:path";
import { Chunk, encodeAnswered } from "../../../server/query-log/rows/journal.js";
import { QueryIds } from "../../../server/query-log/rows/query-ids.js";
import { QueryLog } from "../../../server/query-log/store/query-log.js";
import type { TestServer } from "../world/harness.js";

const DAY_MS = 86_400_000;
const CHUNK_BYTES = 1024 * 1024;
const CONSONANTS = "bcdfgklmnprtvz";
const VOWELS = "aeio"; // no u: a word ending in -us would not get a plural in -s
/** The fractional parts of its multiples are evenly distributed over [0, 1). */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

export interface Planted {
  /** The visitors' word -> the catalogue's word. */
  readonly synonyms: ReadonlyMap<string, string>;
  readonly gaps: readonly string[];
  /** Query -> the document that ranks too low. */
  readonly misranked: ReadonlyMap<string, string>;
  readonly performers: readonly string[];
  /** Queries that work well. */
  readonly good: readonly string[];
}

interface Answer {
  readonly found: number;
  readonly ids: readonly string[];
}

interface Visit {
  readonly atMs: number;
  readonly person: number;
  readonly text: string;
  /** Positions of the clicked hits, counted from 0. */
  readonly clicks: readonly number[];
}

/** A small random number generator (mulberry32); the same seed gives the same numbers. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  from(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}

export class SimulatedShop {
  readonly #server: TestServer;
  readonly #index: string;
  readonly #dice: Dice;
  readonly #words: readonly string[];
  readonly #answers = new Map<string, Answer>();
  readonly #visits: Visit[] = [];
  readonly #invented = new Set<string>();
  readonly #nowMs: number;
  #people = 0;

  /** `words`: single words from the catalogue, each matching several documents. */
  constructor(server: TestServer, index: string, words: readonly string[], seed: number, nowMs: number) {
    this.#server = server;
    this.#index = index;
    this.#dice = new Dice(seed);
    this.#words = this.#dice.shuffled(words);
    this.#nowMs = nowMs;
  }

  /** Simulates a month of visits. The server must be running. */
  async visit(): Promise<Planted> {
    const words = [...this.#words];
    const take = (count: number): string[] => words.splice(0, count);
    const synonyms = new Map(take(12).map((word) => [this.#invent(), word]));
    for (const word of take(3)) synonyms.set(word, take(1)[0] as string);
    for (const [user, word] of synonyms) {
      await this.#sayOtherwise(user, word);
      await this.#click(word, this.#dice.from(40, 100), this.#dice.next() * 0.2 + 0.2);
    }
    const gaps = Array.from({ length: 10 }, () => `${this.#invent()} ${this.#invent()}`);
    for (const gap of gaps) await this.#miss(gap);
    const misranked = new Map<string, string>();
    for (const word of take(40)) {
      if (misranked.size === 10) break;
      const low = await this.#preferLow(word);
      if (low !== null) misranked.set(word, low);
    }
    const performers = take(8);
    for (const word of performers) await this.#click(word, this.#dice.from(40, 120), 0.9);
    const good = take(40);
    for (const word of good) await this.#click(word, this.#dice.from(20, 200), this.#dice.next() * 0.2 + 0.2);
    await this.#distract(good);
    return { synonyms, gaps, misranked, performers, good };
  }

  /**
   * Writes the visits into the query log of the index with log number `log`. The server must be down. Returns
   * the number of visits.
   */
  async write(log: number): Promise<number> {
    const queryLog = await QueryLog.open(join(this.#server.dataDir, "analytics"));
    const ids = new QueryIds();
    const chunk = new Chunk(CHUNK_BYTES);
    const append = (): Promise<void> => queryLog.append(chunk.take(), this.#nowMs);
    const visits = this.#visits.sort((a, b) => a.atMs - b.atMs);
    for (const { atMs, person, text, clicks } of visits) {
      const { found, ids: hits } = this.#answers.get(text) as Answer;
      const id = ids.next(atMs);
      const answered = encodeAnswered(
        { text, mode: "keyword", filtered: false, found, page: 1 },
        hits.map((hit) => Buffer.from(hit)),
      );
      const asker = { user: 0, session: person };
      if (!chunk.addSearch(log, id, 100, asker, answered)) {
        await append();
        chunk.addSearch(log, id, 100, asker, answered);
      }
      for (const place of clicks) {
        chunk.addEvent({
          log,
          type: "click",
          atMs: atMs + 3_000,
          search: id,
          query: "",
          document: hits[place] as string,
          position: place + 1,
          value: 0,
          eventId: "",
          ...asker,
        });
      }
    }
    await append();
    await queryLog.close();
    return visits.length;
  }

  /** Returns a pronounceable word that it has not returned before. */
  #invent(): string {
    for (;;) {
      const word = Array.from(
        { length: 4 },
        () => this.#dice.pick([...CONSONANTS]) + this.#dice.pick([...VOWELS]),
      ).join("");
      if (this.#invented.has(word)) continue;
      this.#invented.add(word);
      return word;
    }
  }

  async #ask(text: string): Promise<Answer> {
    const known = this.#answers.get(text);
    if (known !== undefined) return known;
    const reply = await this.#server.raw("POST", `/v1/indexes/${this.#index}/query`, {
      body: { q: text, per_page: 10, fields: [], analytics: false },
    });
    const { found, hits } = reply.json as unknown as { found: number; hits: { document: { id: string } }[] };
    const answer = { found, ids: hits.map(({ document }) => document.id) };
    this.#answers.set(text, answer);
    return answer;
  }

  #someTime(): number {
    return this.#nowMs - 3_600_000 - Math.floor(this.#dice.next() * 28 * DAY_MS);
  }

  #person(): number {
    return ++this.#people;
  }

  /** Records a search by one person at `atMs`, with clicks at those positions that have a hit. */
  async #search(atMs: number, person: number, text: string, clicks: readonly number[]): Promise<void> {
    const { ids } = await this.#ask(text);
    this.#visits.push({ atMs, person, text, clicks: clicks.filter((place) => place < ids.length) });
  }

  /**
   * Returns the positions of the clicked hits. The lower a hit, the less likely a visitor sees it; `appeal`
   * is the probability that a visitor who sees it clicks it.
   */
  #placesClicked(hits: number, appeal: (place: number) => number): number[] {
    return Array.from({ length: hits }, (_, place) => place).filter(
      (place) => this.#dice.next() < (place + 1) ** -0.8 && this.#dice.next() < appeal(place),
    );
  }

  /** Visitors search for a word that the catalogue does not use, then for the catalogue's word. */
  async #sayOtherwise(user: string, word: string): Promise<void> {
    const other = this.#dice.pick(this.#words);
    for (let times = this.#dice.from(12, 60); times > 0; times--) {
      const [atMs, person] = [this.#someTime(), this.#person()];
      const beside = this.#dice.next() < 0.2 ? `${other} ` : "";
      await this.#search(atMs, person, `${beside}${user}`, []);
      if (this.#dice.next() < 0.7)
        await this.#search(
          atMs + this.#dice.from(6_000, 60_000),
          person,
          `${beside}${word}`,
          this.#dice.next() < 0.7 ? [0] : [],
        );
    }
  }

  /** Visitors search for a missing product in several ways, then give up or look at something else. */
  async #miss(gap: string): Promise<void> {
    const [one, two] = gap.split(" ") as [string, string];
    for (let times = this.#dice.from(8, 50); times > 0; times--) {
      const [atMs, person] = [this.#someTime(), this.#person()];
      await this.#search(atMs, person, this.#dice.pick([gap, gap, `${two} ${one}`, `${one} ${two}s`]), []);
      if (this.#dice.next() < 0.25)
        await this.#search(atMs + 20_000, person, this.#dice.pick(this.#words), [0]);
    }
  }

  /**
   * Visitors mostly click one document, which ranks 5th to 9th. Returns its id, or null if there are fewer
   * than 9 hits.
   */
  async #preferLow(word: string): Promise<string | null> {
    const { ids } = await this.#ask(word);
    if (ids.length < 9) return null;
    const low = this.#dice.from(4, 8);
    for (let times = this.#dice.from(80, 200); times > 0; times--) {
      const clicks = this.#placesClicked(ids.length, (place) => (place === low ? 0.9 : 0.06));
      await this.#search(this.#someTime(), this.#person(), word, clicks);
    }
    return ids[low] as string;
  }

  /**
   * Visitors click one of the top five hits in a fraction `rate` of the searches, the first hit most often.
   * The distribution is fixed, because random clicks would sometimes suggest a different order.
   */
  async #click(word: string, searches: number, rate: number): Promise<void> {
    let clicked = 0;
    for (let i = 0; i < searches; i++) {
      const isClicked = Math.floor((i + 1) * rate) > Math.floor(i * rate);
      const clicks = isClicked ? [Math.floor(((++clicked * GOLDEN) % 1) ** 3 * 5)] : [];
      await this.#search(this.#someTime(), this.#person(), word, clicks);
    }
  }

  /** Plants harmless patterns that look like findings. */
  async #distract(words: readonly string[]): Promise<void> {
    const dice = this.#dice;
    const step = async (from: string, to: string, times: number): Promise<void> => {
      for (let left = times; left > 0; left--) {
        const [atMs, person] = [this.#someTime(), this.#person()];
        await this.#search(atMs, person, from, []);
        await this.#search(atMs + dice.from(6_000, 60_000), person, to, [0]);
      }
    };
    for (const word of words.slice(0, 10)) {
      const at = dice.from(1, word.length - 2);
      await step(word.slice(0, at) + word.slice(at + 1), word, dice.from(5, 15)); // drops a letter
      await step(`${word}s`, word, dice.from(5, 15)); // uses another form
      await step(word, `${dice.pick(words)} ${word}`, dice.from(5, 15)); // narrows the query
    }
    // Switches to a different topic.
    for (const word of words) for (let i = 0; i < 15; i++) await step(word, dice.pick(words), 1);
    for (let i = 0; i < 40; i++) await step(this.#invent(), dice.pick(words), 1); // each occurs once
    for (let i = 0; i < 30; i++) await this.#search(this.#someTime(), this.#person(), this.#invent(), []);
    const bot = this.#person();
    const gibberish = this.#invent();
    for (let i = 0; i < 200; i++) await this.#search(this.#someTime(), bot, gibberish, []);
  }
}
