// Where an index's documents are stored. While the index is small, they are all in one shard, its home,
// because each additional shard costs every query about as much as the first. Once the index has grown, they
// are spread over all shards by the hashes of their ids. The shards store documents at home and spread
// documents under two different data numbers, so that both can coexist during the move.
import type { Limits } from "../../ground/limits.js";
import type { IndexRecord } from "../records/index-record.js";

/** Numbers of the server's shards. An index numbers its own shards from 0, in this order. */
export type Places = readonly number[];

export interface Location {
  /** The data number under which these shards store the documents. */
  readonly data: number;
  readonly places: Places;
}

const HOME_BIT = 2 ** 31;

/** An index's data number while its documents are at home. */
export function homeData(uid: number): number {
  return uid + HOME_BIT;
}

/** All data numbers under which an index's documents may be stored. */
export function dataNumbers({ uid }: Pick<IndexRecord, "uid">): number[] {
  return isHomeData(uid) ? [uid] : [uid, homeData(uid)];
}

function isHomeData(data: number): boolean {
  return data >= HOME_BIT;
}

/** Uid of the index that a data number belongs to. */
export function uidOfData(data: number): number {
  return data % HOME_BIT;
}

/** True if new indexes start in a single shard on a server with that many shards. */
export function startsAtHome(
  shards: number,
  { homeDocumentsMax }: Pick<Limits, "homeDocumentsMax">,
): boolean {
  return shards > 1 && homeDocumentsMax > 1;
}

/** Which of its index's shards owns a document: a number from 0 to `shards` - 1. */
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

  /**
   * Every location that may contain the documents: only the home if `data` is a home's data number, otherwise
   * all shards together and the home.
   */
  every(data: number): Location[] {
    return isHomeData(data) ? [this.home(uidOfData(data))] : [this.spread(data), this.home(data)];
  }

  of({ uid, isHome }: Pick<IndexRecord, "uid" | "isHome">): Location {
    return isHome === true ? this.home(uid) : this.spread(uid);
  }
}
