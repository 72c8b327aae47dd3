// Limits that older versions read from the configuration file and that are now fixed. If a file still sets
// one of them, the setting is logged and ignored, so that the server starts after an upgrade.
import { isObject, type JsonObject } from "../../ground/input/json-value.js";

const FORMER_LIMITS: ReadonlySet<string> = new Set([
  "auditRowsMax",
  "backupWaitMsMax",
  "blankLinesMax",
  "eventDocumentBytesMax",
  "expansionsPerWordMax",
  "exportPageDocuments",
  "extensionsBytesMax",
  "facetFieldsMax",
  "feedCredentialBytesMax",
  "feedMapEntriesMax",
  "feedPathBytesMax",
  "feedPreviewsWaitingMax",
  "feedRedirectsMax",
  "feedUrlBytesMax",
  "fieldNameBytesMax",
  "fieldSlotsPerIndexMax",
  "filterDepthMax",
  "highlightTagBytesMax",
  "importReplyHeldBytesMax",
  "indexNameBytesMax",
  "jsonDepthMax",
  "keyNameBytesMax",
  "keyPatternsMax",
  "mergeSliceMsMax",
  "modelKeyBytesMax",
  "modelNameBytesMax",
  "modelUrlBytesMax",
  "personBytesMax",
  "planNameBytesMax",
  "queryFieldsMax",
  "queryPinsMax",
  "queryTokensMax",
  "ruleConditionBytesMax",
  "ruleConditionsMax",
  "ruleDocumentsMax",
  "ruleFilterBytesMax",
  "ruleNameBytesMax",
  "rulePinsMax",
  "settingsCharactersMax",
  "settingsListMax",
  "settingsWordBytesMax",
  "shardEndsPerReadMax",
  "sortKeysMax",
  "spreadWaitMsMax",
  "suggestRowsMax",
  "suggestionBytesMax",
  "suggestionsMax",
  "suspectReadMsMax",
  "suspectReadsMax",
  "synonymBytesMax",
  "synonymsPerGroupMax",
  "tenantNameBytesMax",
  "throttledAddressesMax",
  "tokenBytesMax",
  "understandingAnswersMax",
  "understandingFactsMsMax",
  "understandingTokensMax",
  "understandingValuesMax",
  "waitingBatchesMax",
]);

/** Splits a configuration file's limits into this version's limits and the names of former limits. */
export function splitLimits({ limits = {} }: JsonObject): { current: unknown; former: string[] } {
  if (!isObject(limits)) return { current: limits, former: [] };
  const isFormer = ([name]: [string, unknown]): boolean => FORMER_LIMITS.has(name);
  const entries = Object.entries(limits);
  return {
    current: Object.fromEntries(entries.filter((entry) => !isFormer(entry))),
    former: entries.filter(isFormer).map(([name]) => name),
  };
}
