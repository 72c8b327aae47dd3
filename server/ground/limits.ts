// Every limit of the service in one place, units last. Knows nothing of who enforces them.

/** What clients send and get: beyond it a request is refused or its number clamped. docs/limits.md lists these. */
export const REQUEST_LIMITS = {
  // HTTP
  jsonBodyBytesMax: 1024 * 1024,
  headerBytesMax: 16 * 1024,
  bodyIdleMsMax: 30_000,
  bodyTotalMsMax: 300_000,

  // documents
  batchBodyBytesMax: 64 * 1024 * 1024,
  batchDocumentsMax: 10_000,
  documentBytesMax: 1024 * 1024,

  // catalog
  fieldsPerIndexMax: 1_000,
  indexesPerTenantMax: 10_000,
  rulesPerIndexMax: 2_000,
  rulesBytesMax: 8 * 1024 * 1024,
  synonymGroupsPerIndexMax: 20_000,
  synonymsBytesMax: 8 * 1024 * 1024,
  dataSourcesPerIndexMax: 100,
  keysPerTenantMax: 10_000,
  failedKeysPerSecondMax: 10,
  tenantsMax: 100_000,

  // query
  queryTextBytesMax: 4 * 1024,
  filterTextBytesMax: 1024 * 1024,
  filterClausesMax: 20_000,
  facetValuesMax: 1_000,
  pageDocumentsMax: 250,
  searchMsMax: 10_000,
  replyBytesMax: 64 * 1024 * 1024,
  multiSearchSlotsMax: 50,
  multiSearchAtOnceSlots: 16,
  multiSearchReplyBytesMax: 64 * 1024 * 1024,
  understandingTrialsMax: 8,
  understandingFacetsMax: 8,
  understandingFacetValuesMax: 2_000,

  // analytics
  eventsPerRequestMax: 1_000,
  reportRowsMax: 1_000,
} as const satisfies Record<string, number>;

/** What the server allows itself. docs/limits.md lists these, too. */
export const SERVER_LIMITS = {
  // HTTP
  stopGraceMsMax: 10_000,
  requestsInFlightMax: 20_000,
  unsentBytesMax: 256 * 1024 * 1024,
  bodiesInMemoryBytesMax: 512 * 1024 * 1024,
  rememberedAnswersBytesMax: 16 * 1024 * 1024,

  // an index starts in one shard and is spread over all of them when it has more documents (1: at once) or takes more
  // bytes there
  homeDocumentsMax: 30_000,
  homeBytesMax: 64 * 1024 * 1024,

  // indexes with up to this many documents are read on the HTTP thread, in the shards' memories; fewer while the only such
  // thread is busy and queries wait for it. A read that takes longer in one turn of its event loop goes to the shards.
  // Each front-end keeps documents and vectors of its own.
  localDocumentsMax: 100_000,
  localDocumentsBusyMax: 20_000,
  localReadMsMax: 5,
  shownDocumentsBytesMax: 32 * 1024 * 1024,
  comparedVectorsBytesMax: 32 * 1024 * 1024,

  // the log of slow queries
  slowQueryLinesPerSecondMax: 10,

  // the audit log: bytes of one file, and files that are kept, the one that is written among them
  auditFileBytesMax: 16 * 1024 * 1024,
  auditFilesMax: 8,

  // process: resident memory above which writes are refused with 503
  memoryBytesMax: Number.POSITIVE_INFINITY,

  // process: free bytes of the disk below which documents are refused with 503
  diskFreeBytesMin: 64 * 1024 * 1024,

  // feeds: one item, how long a feed's server may be silent, how long a preview takes
  feedItemBytesMax: 4 * 1024 * 1024,
  feedSilenceMsMax: 60_000,
  feedPreviewMsMax: 30_000,

  // the query log: bytes on disk, above which the oldest rows go, and bytes that wait in memory while the disk takes none
  queryLogBytesMax: 4 * 1024 * 1024 * 1024,
  queryLogWaitingBytesMax: 16 * 1024 * 1024,

  // endpoints that make vectors: how long a query waits for one and a request may take, what one request of documents has, the
  // characters of a text that are sent, requests of documents at the same time, and the vectors of queries that are remembered
  embeddingQueryMsMax: 300,
  embeddingRequestMsMax: 60_000,
  embeddingBatchTextsMax: 32,
  embeddingBatchCharactersMax: 100_000,
  embeddingTextCharactersMax: 8_000,
  embeddingRequestsAtOnceMax: 4,
  embeddingCacheBytesMax: 16 * 1024 * 1024,

  // metrics: the indexes with the most documents are listed by name, and a scrape waits so long for shards
  metricsIndexesMax: 100,
  metricsMsMax: 1_000,

  // indexes that are loaded at once, and how long one stays that nobody uses
  openIndexesMax: 500,
  indexIdleMsMax: 600_000,

  // engine
  shardQueueRequestsMax: 10_000,
  shardHangMsMax: 15_000,
  engineBytesMax: 4 * 1024 * 1024 * 1024,
} as const satisfies Record<string, number>;

/** The configuration file may override any of these under "limits". */
export const DEFAULT_LIMITS = { ...REQUEST_LIMITS, ...SERVER_LIMITS };

/** The limits in force. Bytes, milliseconds or counts, as the last word of each name says. */
export type Limits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** Bounds of single values that are the same on every server. docs/limits.md lists these, too. */
export const FIXED_LIMITS = {
  // HTTP and documents
  jsonDepthMax: 64,
  blankLinesMax: 100_000,

  // catalog
  indexNameBytesMax: 128,
  fieldNameBytesMax: 255,
  fieldSlotsPerIndexMax: 65_000,
  settingsListMax: 10_000,
  settingsWordBytesMax: 200,
  settingsCharactersMax: 1_000,
  highlightTagBytesMax: 200,
  modelUrlBytesMax: 2_048,
  modelNameBytesMax: 200,
  modelKeyBytesMax: 1_024,
  extensionsBytesMax: 64 * 1024,
  ruleNameBytesMax: 200,
  ruleConditionsMax: 100,
  ruleConditionBytesMax: 200,
  ruleFilterBytesMax: 16 * 1024,
  ruleDocumentsMax: 1_000,
  rulePinsMax: 100,
  queryPinsMax: 250,
  synonymsPerGroupMax: 100,
  synonymBytesMax: 200,
  feedUrlBytesMax: 2_048,
  feedCredentialBytesMax: 1_024,
  feedMapEntriesMax: 1_000,
  feedPathBytesMax: 1_024,
  keyPatternsMax: 1_000,
  keyNameBytesMax: 200,
  tokenBytesMax: 8 * 1024,
  tenantNameBytesMax: 128,
  planNameBytesMax: 100,
  languageBytesMax: 20,
  settingsCharacterBytesMax: 8,
  minLenTypoLettersMax: 100,
  dropTokensThresholdMax: 1_000_000,
  snippetTokensMax: 1_000,
  vectorNumbers: 512,
  autoFullMatchesMax: 10_000,
  semanticCandidatesMax: 1_000,
  ruleWeightMax: 1_000_000,
  rulePriorityMax: 1_000_000,
  synonymsPerGroupMin: 2,
  requestsPerSecondMax: 1_000_000,
  keyGraceSecondsMax: 2_592_000,

  // query
  queryTokensMax: 64,
  queryFieldsMax: 200,
  filterDepthMax: 100,
  facetFieldsMax: 100,
  sortKeysMax: 16,
  expansionsPerWordMax: 64,
  suggestionsMax: 50,
  suggestionBytesMax: 1024,
  suggestRowsMax: 1_000,
  understandingTokensMax: 40,
  fieldWeightMax: 1_000_000,
  typosMax: 4,
  filterValueWordsMax: 10_000,
  filterNumberCharactersMax: 400,
  /** Their count travels to the shards as u16. */
  filterOperationsMax: 0xffff,

  // query log and audit log
  personBytesMax: 256,
  eventDocumentBytesMax: 512,
  auditRowsMax: 1_000,
} as const satisfies Record<string, number>;
