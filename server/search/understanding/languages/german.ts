// German words that query understanding recognises, and the sentences that tell the shopper how a query was
// understood.
import { compileLanguage } from "./language.js";

export const GERMAN = compileLanguage({
  code: "de",
  before: {
    "<": "unter|weniger als|billiger als|günstiger als|kleiner als|für weniger als|für unter|kürzer als|leichter als",
    "<=": "bis|bis zu|höchstens|nicht mehr als|nicht über|für höchstens",
    ">": "über|mehr als|teurer als|größer als|länger als|schwerer als",
    ">=": "mindestens|nicht unter|nicht weniger als",
  },
  beforeUnit: { "<": "", "<=": "max|maximal", ">": "", ">=": "ab|von|min|minimal" },
  after: {
    "<=": "oder weniger|oder darunter|oder günstiger|und weniger|und darunter|maximal",
    ">=": "oder mehr|oder darüber|und mehr|und darüber|und höher|oder höher|oder besser|und besser|mindestens|+",
  },
  between: [
    ["zwischen", "und"],
    ["zwischen", "bis"],
    ["zwischen", "-"],
    ["von", "bis"],
    ["ab", "bis"],
  ],
  to: "bis|-|und",
  about: "etwa|ungefähr|circa|ca|rund|um die",
  sorts: [
    [
      "günstigste|günstigster|günstigstes|günstigsten|guenstigste|billigste|billigster|billigstes|billigsten|am günstigsten|am billigsten|niedrigster preis|günstigste zuerst|billigste zuerst|preis aufsteigend",
      "price",
      false,
    ],
    [
      "teuerste|teuerster|teuerstes|teuersten|am teuersten|höchster preis|preis absteigend|teuerste zuerst",
      "price",
      true,
    ],
    [
      "neueste|neuester|neuestes|neuesten|neuste|neuster|neustes|neusten|neueste zuerst|am neuesten",
      "date",
      true,
    ],
    ["älteste|ältester|ältestes|ältesten|älteste zuerst", "date", false],
    [
      "bestbewertete|bestbewerteter|bestbewertetes|bestbewerteten|best bewertete|am besten bewertet|am besten bewertete|beste bewertung|beste bewertungen|mit besten bewertungen|höchste bewertung",
      "rating",
      true,
    ],
    ["schlechteste bewertung|am schlechtesten bewertet", "rating", false],
    [
      "beliebteste|beliebtester|beliebtestes|beliebtesten|meistverkaufte|meistverkauften|meistgekaufte|am beliebtesten|bestseller",
      "popularity",
      true,
    ],
  ],
  ofAll: "der welt|aller zeiten|der geschichte",
  without: "ohne|kein|keine|keinen|außer",
  not: "nicht",
  lacking:
    "{n}frei|{n}freie|{n}freier|{n}freies|{n}freien|{n} frei|frei von {n}|ohne {n}|kein {n}|keine {n}|keinen {n}",
  setPhrases: "ohne ende|kein problem|ohne gleichen",
  and: "und|oder|,|&",
  fillers:
    "bitte|zeig mir|zeige mir|zeigen sie mir|ich suche|ich suche nach|suche|suche nach|ich brauche|ich möchte|ich hätte gern|ich hätte gerne|ich will|ich will kaufen|gibt es|habt ihr|haben sie|finde|kaufen|danke",
  articles: "der|die|das|den|dem|ein|eine|einen|einem|einer|eines|etwas",
  connectives: "für|mit|in|im|von|zum|zu|um|der|die|das|kostet|kosten",
  goesWith: "für|passend|kompatibel|wie|mit|zu|zum|zur",
  names: {
    price: "preis|preise|kosten",
    rating: "bewertung|bewertungen|sterne|sternen|note",
    date: "datum|erschienen|veröffentlicht|erstellt|jahr",
    popularity: "beliebtheit|verkäufe|verkauft",
    brand: "marke|marken|hersteller",
    colour: "farbe|farben",
    category: "kategorie|kategorien|abteilung|typ",
    size: "größe|größen",
  },
  colours:
    "schwarz schwarze schwarzer schwarzes schwarzen|weiß weiße weißer weißes weißen|rot rote roter rotes roten|blau blaue blauer blaues blauen|grün grüne grüner grünes grünen|gelb gelbe gelber gelbes gelben|grau graue grauer graues grauen|braun braune brauner braunes braunen|rosa pink|orange|lila violett violette|gold goldene goldener goldenes|silber silberne silberner silbernes|beige",
  headFirst: false,
  sentences: {
    below: "{field} unter {n}",
    upTo: "{field} bis {n}",
    above: "{field} über {n}",
    from: "{field} ab {n}",
    between: "{field} von {n} bis {m}",
    equals: "{field}: {n}",
    avoided: "mit „{n}“ weiter hinten",
    sorted: {
      "price:up": "niedrigster Preis zuerst",
      "price:down": "höchster Preis zuerst",
      "rating:down": "beste Bewertung zuerst",
      "rating:up": "schlechteste Bewertung zuerst",
      "date:down": "Neueste zuerst",
      "date:up": "Älteste zuerst",
      "popularity:down": "Beliebteste zuerst",
      "popularity:up": "am wenigsten Beliebte zuerst",
    },
    searched: "Ergebnisse für „{n}“",
    browsed: "Alle Ergebnisse",
  },
});
