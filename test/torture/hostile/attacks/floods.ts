// Many requests of the other kinds by clients that leave soon, and events without end.
import type { Attack, Wave } from "../attack.js";
import { GOODS, get, NUMBER, numbered, type Place, post } from "../place.js";

const IMPATIENT_MS = 50;
const CLIENTS = 100;
const REQUESTS = 2_000;

/** Clients that leave before most answers. */
function abandoned(of: (place: Place) => readonly Buffer[]): Wave {
  return {
    clients: CLIENTS,
    requests: REQUESTS,
    manner: { kind: "leaves", afterMs: IMPATIENT_MS },
    prepare: (place) => numbered(of(place)),
  };
}

function suggestions(place: Place): Buffer[] {
  const body = (i: number): object => ({
    q: place.words[i]!.slice(0, 1),
    suggest_by: "title,description,brand",
    per_page: 50,
    filter_by: `price:>${NUMBER}`,
  });
  const path = `/v1/indexes/${GOODS}/suggest`;
  return Array.from({ length: 20 }, (_, i) => post(place, path, place.keys.search, body(i)));
}

function similar(place: Place): Buffer[] {
  const body = { per_page: 250, filter_by: `price:>${NUMBER}` };
  const path = (i: number): string => `/v1/indexes/${GOODS}/documents/p${i}/similar`;
  return Array.from({ length: 20 }, (_, i) => post(place, path(i), place.keys.search, body));
}

function explained(place: Place): Buffer[] {
  const body = (i: number): object => ({
    q: `${place.words[i]} ${place.words[i + 1]} ${place.words[i + 2]}`,
    explain: true,
    per_page: 250,
    filter_by: `price:>${NUMBER}`,
  });
  const path = `/v1/indexes/${GOODS}/query`;
  return Array.from({ length: 20 }, (_, i) => post(place, path, place.keys.search, body(i)));
}

const exports = (place: Place): Buffer[] => [
  get(place, `/v1/indexes/${GOODS}/documents/export`, place.keys.documents),
];

function events(place: Place): Buffer[] {
  const event = (i: number): object => ({
    type: "click",
    query: place.words[i % place.words.length],
    document_id: `p${i}`,
    position: 1 + (i % 20),
    user_id: `u${NUMBER}-${i}`,
  });
  const body = Buffer.from(JSON.stringify(Array.from({ length: 1_000 }, (_, i) => event(i))));
  return [post(place, `/v1/indexes/${GOODS}/events`, place.keys.events, body)];
}

export const FLOODS: readonly Attack[] = [
  {
    name: "abandoned reads",
    what: `suggestions, similar documents and explanations of 250 hits, each by ${CLIENTS} clients that leave after ${IMPATIENT_MS} ms and come back`,
    waves: [suggestions, similar, explained].map(abandoned),
  },
  {
    name: "abandoned exports",
    what: `exports of the whole index by ${CLIENTS} clients that leave after ${IMPATIENT_MS} ms and come back`,
    waves: [abandoned(exports)],
  },
  {
    name: "events",
    what: "requests of 1,000 events by 50 clients",
    waves: [
      {
        clients: 50,
        requests: 1_000,
        manner: { kind: "reads" },
        prepare: (place) => numbered(events(place)),
      },
    ],
  },
];
