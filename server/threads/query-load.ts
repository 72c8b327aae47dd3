// How many queries are being answered, in memory that the shards' threads see. While there are any, the threads put off work that
// no query waits for.

export class QueryLoad {
  /** One number, for `Turns` of each shard. */
  readonly shared: Int32Array<SharedArrayBuffer>;

  /** `shared`: of the load that another thread has made. */
  constructor(shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.shared = shared;
  }

  begin(): void {
    Atomics.add(this.shared, 0, 1);
  }

  end(): void {
    Atomics.sub(this.shared, 0, 1);
  }
}
