// All of the service's limits. Each name includes its unit. The code that a limit concerns enforces it.

/**
 * Limits on requests and replies. A request that exceeds one is refused, or the number that exceeds it is
 * clamped. Listed in docs/limits.md.
 */
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
  multiSearchAtOnceSlots: 8,
  multiSearchReplyBytesMax: 64 * 1024 * 1024,
  understandingTrialsMax: 8,
  understandingFacetsMax: 8,
  understandingFacetValuesMax: 2_000,

  // analytics
  eventsPerRequestMax: 1_000,
  reportRowsMax: 1_000,
} as const satisfies Record<string, number>;

/** Limits on the server's own use of resources. Also listed in docs/limits.md. */
export const SERVER_LIMITS = {
  // HTTP
  stopGraceMsMax: 10_000,
  requestsInFlightMax: 20_000,
  unsentBytesMax: 256 * 1024 * 1024,
  bodiesInMemoryBytesMax: 512 * 1024 * 1024,
  workBytesMax: 1024 * 1024 * 1024,
  rememberedAnswersBytesMax: 16 * 1024 * 1024,

  // an index starts in one shard, and is spread over all shards once it exceeds either of these limits. If
  // homeDocumentsMax is 1, new indexes are spread from the start
  homeDocumentsMax: 30_000,
  homeBytesMax: 64 * 1024 * 1024,

  // indexes with at most this many documents are read on the HTTP thread, directly from the shards' memory.
  // The lower limit applies if the only HTTP thread is busy and queries are waiting. A read that exceeds
  // localReadMsMax in one turn of the event loop is left to the shards. Each front-end has its own document
  // and vector caches
  localDocumentsMax: 100_000,
  localDocumentsBusyMax: 20_000,
  localReadMsMax: 5,
  shownDocumentsBytesMax: 32 * 1024 * 1024,
  comparedVectorsBytesMax: 32 * 1024 * 1024,

  // slow query log
  slowQueryLinesPerSecondMax: 10,

  // audit log: bytes per file, and number of files kept, including the current one
  auditFileBytesMax: 16 * 1024 * 1024,
  auditFilesMax: 8,

  // process: while resident memory is above this, writes are refused with 503, except deletions
  memoryBytesMax: Number.POSITIVE_INFINITY,

  // process: while free disk space is below this, writes are refused with 503, except deletions
  diskFreeBytesMin: 64 * 1024 * 1024,

  // feeds: bytes per item, how long a feed's server may be silent, how long a preview may take
  feedItemBytesMax: 4 * 1024 * 1024,
  feedSilenceMsMax: 60_000,
  feedPreviewMsMax: 30_000,

  // query log: bytes on disk (if there are more, the oldest rows are deleted), and bytes kept in memory while
  // the disk accepts no writes
  queryLogBytesMax: 4 * 1024 * 1024 * 1024,
  queryLogWaitingBytesMax: 16 * 1024 * 1024,

  // embedding endpoints: how long a query waits for its vector; how long a request for document vectors may
  // take; texts and characters per such request; characters sent per text; concurrent requests; query vector
  // cache size
  embeddingQueryMsMax: 300,
  embeddingRequestMsMax: 60_000,
  embeddingBatchTextsMax: 32,
  embeddingBatchCharactersMax: 100_000,
  embeddingTextCharactersMax: 8_000,
  embeddingRequestsAtOnceMax: 4,
  embeddingCacheBytesMax: 16 * 1024 * 1024,

  // metrics: number of indexes listed by name (those with the most documents), and how long a scrape waits
  // for the shards
  metricsIndexesMax: 100,
  metricsMsMax: 1_000,

  // number of indexes loaded at the same time, and how long an unused index stays loaded
  openIndexesMax: 500,
  indexIdleMsMax: 600_000,

  // engine
  shardQueueRequestsMax: 10_000,
  shardHangMsMax: 15_000,
  engineBytesMax: 4 * 1024 * 1024 * 1024,
} as const satisfies Record<string, number>;

/** The configuration file may override any of these limits under "limits". */
export const DEFAULT_LIMITS = { ...REQUEST_LIMITS, ...SERVER_LIMITS };

/** The limits in effect. The unit is in each name: bytes, milliseconds or what is counted. */
export type Limits = { readonly [K in keyof typeof DEFAULT_LIMITS]: number };

/** Limits on single values. They are the same on every server. Also listed in docs/limits.md. */
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
  /** The number of operations is a u16 in the program sent to the shards. */
  filterOperationsMax: 0xffff,

  // query log and audit log
  personBytesMax: 256,
  eventDocumentBytesMax: 512,
  auditRowsMax: 1_000,
} as const satisfies Record<string, number>;
