// Routes for backups of the whole server. Only the bootstrap admin key may use them, because a backup
// contains every tenant's data.
import type { Backup } from "../../operate/backups/backups.js";
import { dataReply } from "../respond.js";
import type { Route, TenantRequest } from "../route.js";
import type { HttpReply } from "../transport/port.js";

const BOOTSTRAP = { access: "tenant", scope: "bootstrap" } as const;

export const snapshotRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/snapshots", operation: "createSnapshot", ...BOOTSTRAP, handle: create },
  { method: "GET", path: "/v1/snapshots", operation: "listSnapshots", ...BOOTSTRAP, handle: list },
  { method: "GET", path: "/v1/snapshots/{id}", operation: "getSnapshot", ...BOOTSTRAP, handle: get },
  { method: "DELETE", path: "/v1/snapshots/{id}", operation: "deleteSnapshot", ...BOOTSTRAP, handle: remove },
];

async function create({ services }: TenantRequest): Promise<HttpReply> {
  return dataReply(view(await services.backups.create()), 202);
}

async function list({ services }: TenantRequest): Promise<HttpReply> {
  return dataReply((await services.backups.list()).map(view));
}

async function get({ services, params }: TenantRequest): Promise<HttpReply> {
  return dataReply(view(await services.backups.get(params.id!)));
}

async function remove({ services, params }: TenantRequest): Promise<HttpReply> {
  await services.backups.remove(params.id!);
  return dataReply({ id: params.id!, deleted: true });
}

function view({ createdAt, ...entry }: Backup): object {
  return { ...entry, created_at: createdAt };
}
