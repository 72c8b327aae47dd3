// Where the documents of an index lie: while it is small, all of them are in one shard, its home, because
// each further shard costs every query about as much as the first. Once it has grown, they are spread over
// all shards by the hashes of their ids. Documents have one number in the shards while at home and another
// one when spread, so that both can coexist during the change.
import type { Limits } from "../../ground/limits.js";
import type { IndexRecord } from "../records/index-record.js";

/** Numbers of shards of the server. An index numbers its shards from 0, in this order. */
export type Places = readonly number[];

export interface Location {
  /** The number of the documents in the shards. */
  readonly data: number;
  readonly places: Places;
}

const HOME_BIT = 2 ** 31;

/** The number in the shards of an index's documents at home. */
export function homeData(uid: number): number {
  return uid + HOME_BIT;
}

/** The numbers that an index's documents may have in the shards. */
export function dataNumbers({ uid }: Pick<IndexRecord, "uid">): number[] {
  return isHomeData(uid) ? [uid] : [uid, homeData(uid)];
}

function isHomeData(data: number): boolean {
  return data >= HOME_BIT;
}

/** The uid of the index with these documents. */
export function uidOfData(data: number): number {
  return data % HOME_BIT;
}

/** True if new indexes on a server with this many shards start in one of them. */
export function startsAtHome(
  shards: number,
  { homeDocumentsMax }: Pick<Limits, "homeDocumentsMax">,
): boolean {
  return shards > 1 && homeDocumentsMax > 1;
}

/** The shard of an index that owns a document. */
export function shardOf(hash: bigint, shards: number): number {
  return Number(hash >> 32n) % shards;
}

export class Locations {
  /** All shards of the server. */
  readonly all: Places;

  constructor(shards: number) {
    this.all = Array.from({ length: shards }, (_, shard) => shard);
  }

  home(uid: number): Location {
    return { data: homeData(uid), places: [uid % this.all.length] };
  }

  spread(uid: number): Location {
    return { data: uid, places: this.all };
  }

  /** Everywhere that documents of an index, or with a given number at home, may be. */
  every(data: number): Location[] {
    return isHomeData(data) ? [this.home(uidOfData(data))] : [this.spread(data), this.home(data)];
  }

  of({ uid, isHome }: Pick<IndexRecord, "uid" | "isHome">): Location {
    return isHome === true ? this.home(uid) : this.spread(uid);
  }
}
