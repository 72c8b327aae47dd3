// The seed for a run's stories and for its servers' shard counts and limits. SKEIN_PROPERTY_SEED repeats a
// run.

export const SEED = Number(process.env.SKEIN_PROPERTY_SEED ?? Math.trunc(Math.random() * 2 ** 31));
