// English words that query understanding recognises, and the sentences that tell the shopper how a query was
// understood.
import { compileLanguage } from "./language.js";

export const ENGLISH = compileLanguage({
  code: "en",
  before: {
    "<": "under|below|less than|cheaper than|lower than|for less than|for under|smaller than|shorter than|lighter than",
    "<=": "up to|at most|no more than|not more than|not over|maximum of",
    ">": "over|above|more than|higher than|greater than|bigger than|larger than|longer than|heavier than",
    ">=": "at least|no less than|not less than|not under|minimum of",
  },
  beforeUnit: {
    "<": "",
    "<=": "max|maximum|to",
    ">": "",
    ">=": "min|minimum|from|starting at|starting from",
  },
  after: {
    "<=": "or less|or under|or below|or cheaper|and under|and less|max|maximum|at most",
    ">=": "or more|or over|or higher|or above|and up|and above|and over|and more|or up|or better|and higher|min|minimum|plus|+",
  },
  between: [
    ["between", "and"],
    ["between", "to"],
    ["between", "-"],
    ["from", "to"],
    ["from", "up to"],
  ],
  to: "to|-|and",
  about: "around|about|approximately|approx|roughly",
  sorts: [
    [
      "cheapest|cheapest first|lowest price|lowest priced|lowest price first|least expensive|price low to high|sort by price|by price",
      "price",
      false,
    ],
    [
      "most expensive|most expensive first|highest price|highest priced|priciest|price high to low",
      "price",
      true,
    ],
    ["newest|newest first|latest|most recent|just released|newly released", "date", true],
    ["oldest|oldest first", "date", false],
    [
      "best rated|top rated|highest rated|best reviewed|highest rating|best ratings|with best ratings|best rating",
      "rating",
      true,
    ],
    ["worst rated|lowest rated", "rating", false],
    [
      "most popular|best selling|bestselling|top selling|best seller|best sellers|bestseller|bestsellers|most reviewed",
      "popularity",
      true,
    ],
  ],
  ofAll: "in the world|of all time|in history|on earth|ever",
  without: "without|w/o|excluding|except|no",
  not: "not",
  lacking:
    "{n} free|free of {n}|free from {n}|free of any {n}|without {n}|without any {n}|no {n}|no added {n}|not contain {n}|non {n}|zero {n}",
  setPhrases: "no name|no show|no contract|no longer|no more|no limit|without prejudice|not included",
  and: "and|or|,|&",
  fillers:
    "please|show me|show me some|show|find me|find|give me|get me|search for|search|i want|i want to buy|i would like|i'd like|i need|i am looking for|i'm looking for|im looking for|looking for|can you find|can you show me|do you have|where can i find|where can i buy|i want to find|could you show me|where to buy|help me find|buy|thanks|thank you",
  articles: "a|an|the|some|any",
  connectives: "for|with|at|priced|in|of|that|costing|costs|cost|is|are|which|rated|by|from",
  goesWith: "for|compatible|fits|fit|like|with|to|replaces",
  names: {
    price: "price|prices|cost",
    rating: "rating|ratings|rated|stars|score|reviews score",
    date: "date|released|release|created|added|published|year",
    popularity: "popularity|sales|sold|bestseller|orders|reviews|count",
    brand: "brand|brands|manufacturer|maker|vendor|make",
    colour: "color|colour|colors|colours",
    category: "category|categories|department|type",
    size: "size|sizes",
  },
  colours:
    "black|white|red|blue|green|yellow|grey gray|brown|pink|orange|purple violet|gold golden|silver|beige",
  headFirst: false,
  sentences: {
    below: "{field} below {n}",
    upTo: "{field} up to {n}",
    above: "{field} above {n}",
    from: "{field} from {n}",
    between: "{field} from {n} to {m}",
    equals: "{field}: {n}",
    avoided: 'those with "{n}" come later',
    sorted: {
      "price:up": "lowest price first",
      "price:down": "highest price first",
      "rating:down": "best rated first",
      "rating:up": "worst rated first",
      "date:down": "newest first",
      "date:up": "oldest first",
      "popularity:down": "most popular first",
      "popularity:up": "least popular first",
    },
    searched: 'Results for "{n}"',
    browsed: "All results",
  },
});
