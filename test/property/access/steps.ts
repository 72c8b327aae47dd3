// The kinds of step in a story.
import { type Credential, documentId, GROUPS, type Group, type KeyModel } from "../../oracle/access.js";
import { INDEXES, NOBODY, PLANS, type Story } from "./story.js";

/** One step of a story. Its numbers pick from the keys, tenants and so on that exist when the step runs. */
export interface Step {
  readonly kind: keyof typeof STEPS;
  readonly who: number;
  readonly what: number;
  readonly index: string;
  readonly scopes: readonly string[];
  readonly patterns: readonly string[];
  readonly groups: readonly Group[];
  /** Hours until expiry; null if the key or token never expires. */
  readonly hours: number | null;
  readonly flag: boolean;
}

const oneOf = <T>(list: readonly T[], pick: number): T => list[pick % list.length]!;
const LATEST = 6;
const PLAN_NAMES = Object.keys(PLANS);

/**
 * Picks a credential. One time in 20, it is none or an unknown one. About half of the time it is any
 * credential, and otherwise one of the newest, so that new keys create further keys.
 */
function someone({ credentials }: Story, pick: number): Credential {
  const rest = Math.floor(pick / 20);
  if (pick % 20 === 0) return oneOf(NOBODY, rest);
  return oneOf(pick % 2 === 0 ? credentials : credentials.slice(-LATEST), rest);
}

/** Picks a key, usually one that belongs to the credential's tenant. */
function keyFor({ keys }: Story, by: Credential, pick: number): KeyModel {
  const tenant = "key" in by ? by.key.tenant : "tenant" in by ? by.tenant : null;
  const near = pick % 4 === 0 ? [] : keys.filter((key) => key.tenant === tenant && !key.deleted);
  return oneOf(near.length === 0 ? keys : near, Math.floor(pick / 4));
}

export const STEPS = {
  makeTenant: (story: Story, { what }: Step) => story.makeTenant(oneOf(PLAN_NAMES, what)),
  deleteTenant: (story: Story, { what, flag }: Step) => story.deleteTenant(oneOf(story.tenants, what), flag),
  setPlan: (story: Story, { who, what }: Step) =>
    story.setPlan(oneOf(story.tenants, who), oneOf(PLAN_NAMES, what)),
  makeKey: (story: Story, { who, scopes, patterns, hours }: Step) =>
    story.makeKey(someone(story, who), {
      scopes,
      indexes: patterns,
      expiresAt: story.endAfter(hours),
    }),
  patchKey: (story: Story, { who, what, scopes, patterns, hours, flag }: Step) => {
    const by = someone(story, who);
    const change = flag ? { scopes, indexes: patterns } : { expiresAt: story.endAfter(hours) };
    return story.patchKey(by, keyFor(story, by, what), change);
  },
  rotateKey: (story: Story, { who, what, hours }: Step) => {
    const by = someone(story, who);
    return story.rotateKey(by, keyFor(story, by, what), hours);
  },
  deleteKey: (story: Story, { who, what }: Step) => {
    const by = someone(story, who);
    return story.deleteKey(by, keyFor(story, by, what));
  },
  makeToken: async (story: Story, { who, what, groups, patterns, hours, flag }: Step) =>
    story.makeToken(oneOf(story.keys, what), who, {
      genuine: who % 5 > 0,
      groups: groups.length === GROUPS.length ? null : groups,
      indexes: flag ? patterns : null,
      expiresAt: story.endAfter(hours),
    }),
  turnClock: async (story: Story, { what, flag }: Step) => story.turn(flag ? 31 * 24 : 1 + (what % 6)),
  restart: (story: Story, { flag }: Step) => story.restart(flag),
  search: (story: Story, { who, index, groups }: Step) => story.search(someone(story, who), index, groups),
  multiSearch: (story: Story, { who, index }: Step) =>
    story.multiSearch(someone(story, who), [...INDEXES, index, "none"]),
  suggest: (story: Story, { who, index }: Step) => story.suggest(someone(story, who), index),
  similar: (story: Story, { who, what, index, groups }: Step) =>
    story.similar(someone(story, who), index, documentId(oneOf(story.tenants, what), index, groups[0]!)),
  getDocument: (story: Story, { who, what, index, groups }: Step) =>
    story.getDocument(someone(story, who), index, documentId(oneOf(story.tenants, what), index, groups[0]!)),
  listIndexes: (story: Story, { who }: Step) => story.listIndexes(someone(story, who)),
  listKeys: (story: Story, { who }: Step) => story.listKeys(someone(story, who)),
  patchSettings: (story: Story, { who, index }: Step) => story.patchSettings(someone(story, who), index),
  dropIndex: (story: Story, { who, index }: Step) => story.dropIndex(someone(story, who), index),
} as const satisfies Record<string, (story: Story, step: Step) => Promise<void>>;
