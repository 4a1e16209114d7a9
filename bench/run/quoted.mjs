// Figures of products that no registry has a package of, so that they cannot be in a run: measured once, on a 2-core x86-64
// machine like the one that the committed results are from, with Node.js 20.20. Every table of RESULTS.md that shows them says so.

/** GT.M V7.0-005, N = 200,000; operations a second. */
export const gtm = {
  title: 'GT.M',
  steps: ['set', 'get', 'get, random', 'next', 'increment'],
  rows: [
    {
      name: 'GT.M by direct call-in from a C addon',
      durability: 'a killed process',
      figures: [879_000, 1_770_000, 830_000, 1_580_000, 1_370_000],
    },
    {
      name: 'the same, journal on',
      durability: 'a killed process',
      figures: [789_000, undefined, undefined, undefined, 1_110_000],
    },
    {
      name: 'GT.M through nodem 0.20 (patched)',
      durability: 'a killed process',
      figures: [88_000, 74_000, 65_000, 98_000, 110_000],
    },
  ],
};

/** GT.M through nodem, a node for each leaf: documents a second, read by nested next; the slower and the faster of its runs. */
export const gtmDocuments = {
  A: { leaves: 1, read: [19_000, 23_000] },
  B: { leaves: 5, read: [3_500, 6_000] },
};

/** NuDB 2.0.8 and RocksDB 7.8 from C++, one caller, items as in the scale benchmark; operations a second. */
export const scale = {
  title: 'NuDB and RocksDB from C++',
  steps: ['insert, 0…1M', 'fetch, 0…1M', 'insert, 0…5M', 'fetch, 0…5M'],
  rows: [
    {
      name: 'NuDB 2.0.8, commit and fsync not timed',
      durability: 'a power cut, after the commit',
      figures: [322_309, 316_213, 255_786, 222_312],
    },
    {
      name: 'NuDB 2.0.8, commit and fsync timed',
      durability: 'a power cut',
      figures: [103_246, undefined, undefined, undefined],
    },
    {
      name: 'RocksDB 7.8, no fsync',
      durability: 'a killed process',
      figures: [128_847, 69_918, undefined, undefined],
    },
  ],
};
