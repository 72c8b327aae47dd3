// Routes that copy settings from one index to another and that swap two indexes. The key must cover both
// index names.
import { checkRights } from "../../access/tenants/principal.js";
import { readCopyRequest, readSwapRequest } from "../../catalog/copy-swap.js";
import { jsonValue } from "../body.js";
import { dataReply } from "../respond.js";
import type { IndexRequest, Route } from "../route.js";
import type { HttpReply } from "../transport/port.js";

const INDEX = { method: "POST", access: "index", scope: "indexes", missing: "SK-IX-404" } as const;

export const copySwapRoutes: readonly Route[] = [
  {
    path: "/v1/indexes/{name}/copy-settings-from",
    operation: "copySettings",
    ...INDEX,
    body: jsonValue("SK-IX-400"),
    handle: copy,
  },
  {
    path: "/v1/indexes/{name}/swap-with",
    operation: "swapIndexes",
    ...INDEX,
    body: jsonValue("SK-IX-400"),
    handle: swap,
  },
];

async function copy({
  services,
  body,
  principal,
  params,
  record,
}: IndexRequest<unknown>): Promise<HttpReply> {
  const { limits } = services.config;
  const index = params.name!;
  const wanted = readCopyRequest(body, index, limits);
  checkRights(principal, "indexes", wanted.sourceIndex);
  const { owned } = await services.lifecycle.copyFrom(record, wanted);
  return dataReply({
    source_index: wanted.sourceIndex,
    index,
    copied: {
      synonyms: owned.synonym?.length ?? 0,
      ranking_rules: owned.rule?.length ?? 0,
      settings: wanted.parts.has("settings"),
    },
  });
}

async function swap({ services, body, principal, params }: IndexRequest<unknown>): Promise<HttpReply> {
  const { limits } = services.config;
  const index = params.name!;
  const wanted = readSwapRequest(body, index, limits);
  checkRights(principal, "indexes", wanted.targetIndex);
  await services.lifecycle.swap(principal.tenant, index, wanted);
  return dataReply({ index, target: wanted.targetIndex, dropped: wanted.dropSource });
}
