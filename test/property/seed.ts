// The seed of a run, for its stories and the shapes of its servers. SKEIN_PROPERTY_SEED repeats a run.

export const SEED = Number(process.env.SKEIN_PROPERTY_SEED ?? Math.trunc(Math.random() * 2 ** 31));
