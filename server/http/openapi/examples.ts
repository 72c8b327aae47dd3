// Example bodies by operation id, for the operations that have one. All of them are about one shop with an
// index of products. Plain data; a test validates each example against its schema.

const LINES = '{"id":"1","title":"Trail shoe","price":89.5}\n{"id":"2","title":"Road shoe","price":120}\n';

export const EXAMPLES: Readonly<Record<string, unknown>> = {
  createIndex: {
    name: "products",
    schema: {
      fields: [
        { name: "title", type: "string" },
        { name: "brand", type: "string", facet: true },
        { name: "price", type: "float" },
      ],
    },
  },
  updateIndex: { schema: { fields: [{ name: "color", type: "string", facet: true }] } },
  updateSettings: { searchable_attributes: ["title", "brand"], num_typos: 1 },
  batchDocuments: {
    documents: [
      { id: "1", title: "Trail shoe", brand: "Norrvane", price: 89.5 },
      { id: "2", title: "Road shoe", brand: "Tarnwick", price: 120 },
    ],
  },
  importDocuments: LINES,
  updateDocument: { price: 79.5 },
  query: { q: "shoe", filter_by: "price:<100", facets: ["brand"], per_page: 20 },
  similarDocuments: { per_page: 3 },
  suggest: { q: "sho", suggest_by: "title" },
  multiSearch: {
    searches: [
      { index: "products", q: "shoe" },
      { index: "guides", q: "shoe", per_page: 3 },
    ],
  },
  copySettings: { source_index: "products-old", copy: ["synonyms", "ranking_rules"] },
  swapIndexes: { target_index: "products-new", drop_source_after: true },
  createRankingRule: {
    type: "boost",
    conditions: { query_contains: ["shoe"] },
    effect: { filter_by: "brand:=Norrvane", weight: 3 },
  },
  updateRankingRule: { enabled: false },
  createSynonyms: { synonyms: ["shoe", "sneaker"] },
  updateSynonyms: { synonyms: ["shoe", "sneaker", "trainer"] },
  createDataSource: { url: "https://shop.example/feed.xml", format: "brandx_merchant", schedule: "hourly" },
  previewFeed: { url: "https://shop.example/feed.xml", format: "brandx_merchant" },
  updateDataSource: { enabled: false },
  sendEvents: [{ type: "click", document_id: "1", query: "shoe", session_id: "s-417" }],
  analyze: { days: 30 },
  createKey: { name: "web shop", scopes: ["search"], indexes: ["products"] },
  updateKey: { rate_limit: 50 },
  rotateKey: { grace_s: 3600 },
  createTenant: { name: "acme" },
  updateTenant: { plan: "large" },
};
