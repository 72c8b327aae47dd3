// Determines where an index's documents are stored. While the index is small, they are all in one shard, its
// home, because each additional shard costs every query about as much as the first. Once the index has grown,
// they are spread over all shards by the hashes of their ids. An index has one data number for documents at
// home and another for spread documents, so that both sets can coexist in the shards while the index moves.
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

/** The data number for an index's documents at home. The data number for its spread documents is the uid. */
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

/**
 * True if new indexes start at home, in one of several shards. False if there is only one shard, or if
 * `homeDocumentsMax` is at most 1.
 */
export function startsAtHome(
  shards: number,
  { homeDocumentsMax }: Pick<Limits, "homeDocumentsMax">,
): boolean {
  return shards > 1 && homeDocumentsMax > 1;
}

/** Which of its index's shards a document belongs to: a number from 0 to `shards` - 1. */
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
   * Every location where documents may be stored. If `data` is a home's data number, only that home.
   * Otherwise `data` is a uid, and the documents may be spread over all shards, at home, or both.
   */
  every(data: number): Location[] {
    return isHomeData(data) ? [this.home(uidOfData(data))] : [this.spread(data), this.home(data)];
  }

  of({ uid, isHome }: Pick<IndexRecord, "uid" | "isHome">): Location {
    return isHome === true ? this.home(uid) : this.spread(uid);
  }
}
