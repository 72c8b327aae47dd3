// Where the documents of an index lie: while it is small all of them in one shard, its home, because each further shard costs every
// query about as much as the first; when it has grown in all shards, by the hashes of their ids. In the shards they have one
// number at home and another one when they are spread, so that both can stand side by side while the index is spread.
import type { Limits } from "../../ground/limits.js";
import type { IndexRecord } from "../records/index-record.js";

/** The numbers of shards of the server. Of an index they are numbered from 0 on, in this order. */
export type Places = readonly number[];

export interface Location {
  /** The number of the documents in the shards. */
  readonly data: number;
  readonly places: Places;
}

const HOME_BIT = 2 ** 31;

/** The number in the shards of the documents of an index that is at home. */
export function homeData(uid: number): number {
  return uid + HOME_BIT;
}

/** The numbers in the shards that documents of an index may have. */
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

/** Whether new indexes of a server with so many shards begin in one of them. */
export function startsAtHome(
  shards: number,
  { homeDocumentsMax }: Pick<Limits, "homeDocumentsMax">,
): boolean {
  return shards > 1 && homeDocumentsMax > 1;
}

/** Which of the shards of an index owns a document. */
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

  /** Wherever there may be documents of an index, or of a number of documents at home. */
  every(data: number): Location[] {
    return isHomeData(data) ? [this.home(uidOfData(data))] : [this.spread(data), this.home(data)];
  }

  of({ uid, isHome }: Pick<IndexRecord, "uid" | "isHome">): Location {
    return isHome === true ? this.home(uid) : this.spread(uid);
  }
}
