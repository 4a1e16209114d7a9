// The five sections of a benchmark, in the order they run, and the words the page has for them.

/**
 * @typedef {{ set: number, get: number, inc: number, def: number, nxt: number, nxq: number, doc: number }} DbxCounts
 * @typedef {{ noOfRecords: string, totalTime: string, rate: string, dbxCounts: DbxCounts }} Section
 * @typedef {'set' | 'get' | 'get_q' | 'document_set' | 'document_get'} SectionName
 * @typedef {Record<SectionName, Section>} Report
 *
 * @typedef {{ records: number, rates: Record<SectionName, number> }} Point records a second, at one number of records
 *
 * @typedef {object} Run a run that has its figures
 * @property {number} [id] in the history
 * @property {'run' | 'scale'} kind
 * @property {string} made
 * @property {{ processor: string, cores: number, system: string, runtime: string, server: string, caretdb: string, engine: string, durability: string }} [machine]
 * @property {{ documentName: string, noOfRecords: number }} options
 * @property {Report | { kind: 'scale', points: Point[] }} report
 */

/**
 * `oneCall` tells the two that make one call for whole document from the three that make a call per node; `twin` is the
 * per-node section that does the same work.
 *
 * @typedef {{ name: SectionName, title: string, how: string, oneCall: boolean, twin?: SectionWords }} SectionWords
 */

/** @type {SectionWords} */
const SET = { name: 'set', title: 'Set', how: 'one call for each leaf', oneCall: false };

/** @type {SectionWords} */
const GET = {
  name: 'get',
  title: 'Get by nested next',
  how: 'every child is asked for, level by level',
  oneCall: false,
};

/** @type {SectionWords[]} */
export const SECTIONS = [
  SET,
  GET,
  { name: 'get_q', title: 'Get by cursor', how: 'a cursor visits the leaves', oneCall: false },
  {
    name: 'document_set',
    title: 'Set document',
    how: 'one call for each document',
    oneCall: true,
    twin: SET,
  },
  {
    name: 'document_get',
    title: 'Get document',
    how: 'one call for each document',
    oneCall: true,
    twin: GET,
  },
];

/**
 * The kinds of database calls, as the server counts them.
 *
 * @type {{ name: keyof DbxCounts, meaning: string }[]}
 */
export const CALLS = [
  { name: 'set', meaning: 'value written' },
  { name: 'get', meaning: 'value read' },
  { name: 'inc', meaning: 'increment' },
  { name: 'def', meaning: 'what a node has' },
  { name: 'nxt', meaning: 'next sibling' },
  { name: 'nxq', meaning: 'node of a cursor' },
  { name: 'doc', meaning: 'whole document' },
];

/**
 * @param {string} figure as the server formats it, `"412,371"`
 * @returns {number}
 */
export function numberOf(figure) {
  return Number(figure.replaceAll(',', ''));
}

/**
 * The rates of a run of either kind.
 *
 * @param {Run} run
 * @returns {Point[]}
 */
export function pointsOf({ report, options }) {
  if ('points' in report) return /** @type {Point[]} */ (report.points);
  const rates = SECTIONS.map(({ name }) => [name, numberOf(report[name].rate)]);
  return [{ records: options.noOfRecords, rates: Object.fromEntries(rates) }];
}
