// The runs that the store has kept: to look at again, to compare two, to download, to forget.

import { benchmarkHistory, forgetBenchmark, forgetBenchmarks } from '../../api.mjs';
import { element, find } from '../../elements.mjs';
import { ask } from '../../question.mjs';
import { showComparison } from './comparison.mjs';
import { downloadButtons } from './download.mjs';
import { showRun } from './results.mjs';
import { pointsOf } from './sections.mjs';

/** @typedef {import('./sections.mjs').Run} Run */

export class HistoryView {
  /** @param {ParentNode} page */
  constructor(page) {
    this.rows = find(page, '#history-rows', HTMLTableSectionElement);
    this.table = find(page, '#history-place', HTMLElement);
    this.note = find(page, '#history-note', HTMLElement);
    this.compare = find(page, '#history-compare', HTMLButtonElement);
    this.clear = find(page, '#history-clear', HTMLButtonElement);
    this.actions = find(page, '#history-actions', HTMLElement);
    this.compare.addEventListener('click', () => this.compareChosen());
    this.clear.addEventListener('click', () => this.forgetAll());
    /** @type {Run[]} */
    this.runs = [];
    /** The ids that are ticked, in that order. @type {number[]} */
    this.chosen = [];
    find(page, '#history-downloads', HTMLElement).append(downloadButtons('caretdb-history', () => this.runs));
  }

  async refresh() {
    try {
      this.runs = await benchmarkHistory();
      this.chosen = this.chosen.filter((id) => this.runs.some((run) => run.id === id));
      this.note.textContent = this.runs.length === 0 ? 'No run is kept yet: the next one will be.' : '';
    } catch (error) {
      this.note.textContent = `The history could not be read. ${/** @type {Error} */ (error).message}`;
    }
    this.draw();
  }

  draw() {
    const isEmpty = this.runs.length === 0;
    this.table.hidden = isEmpty;
    this.actions.hidden = isEmpty;
    this.rows.replaceChildren(...this.runs.map((run) => this.row(run)));
    this.update();
  }

  /** Says whether what is ticked can be compared. */
  update() {
    const pair = this.pair();
    this.compare.disabled = pair === undefined;
    if (this.chosen.length === 2 && pair === undefined)
      this.note.textContent = 'A run and a scale run cannot be compared: choose two of one kind.';
    else if (this.runs.length > 0) this.note.textContent = '';
  }

  /** @returns {[Run, Run] | undefined} the older first */
  pair() {
    const [first, second] = this.runs.filter(({ id = 0 }) => this.chosen.includes(id)).reverse();
    return first && second && first.kind === second.kind ? [first, second] : undefined;
  }

  compareChosen() {
    const pair = this.pair();
    if (pair) showComparison(...pair);
  }

  /** @param {Run} run */
  row(run) {
    const { id = 0, options } = run;
    const name = `run ${id}`;
    const tick = element('input', { type: 'checkbox', 'aria-label': `Compare ${name}` });
    if (tick instanceof HTMLInputElement) {
      tick.checked = this.chosen.includes(id);
      tick.addEventListener('change', () => this.tick(id, tick.checked));
    }
    const show = element('button', { type: 'button', class: 'quiet', 'aria-label': `Show ${name}` }, 'Show');
    show.addEventListener('click', () => showRun(run));
    const forget = element(
      'button',
      { type: 'button', class: 'quiet', 'aria-label': `Delete ${name}` },
      'Delete',
    );
    forget.addEventListener('click', () => this.forget(id));
    const last = pointsOf(run).at(-1);
    return element(
      'tr',
      {},
      element('td', {}, tick),
      element('th', { scope: 'row' }, `#${id}`),
      element('td', {}, whenText(run.made), element('span', { class: 'how' }, machineText(run))),
      element('td', {}, run.kind === 'scale' ? 'Scale' : 'Run'),
      element('td', { class: 'number' }, options.noOfRecords.toLocaleString('en-US')),
      element('td', { class: 'name' }, `^${options.documentName}`),
      element('td', { class: 'number' }, last?.rates.document_set.toLocaleString('en-US') ?? ''),
      element('td', { class: 'number' }, last?.rates.document_get.toLocaleString('en-US') ?? ''),
      element('td', { class: 'buttons' }, show, forget),
    );
  }

  /** @param {number} id @param {boolean} isTicked */
  tick(id, isTicked) {
    this.chosen = this.chosen.filter((other) => other !== id);
    if (isTicked) this.chosen = [...this.chosen, id].slice(-2);
    // A third tick takes the place of the first.
    for (const [at, box] of [...this.rows.querySelectorAll('input')].entries())
      box.checked = this.chosen.includes(this.runs[at].id ?? 0);
    this.update();
  }

  /** @param {number} id */
  async forget(id) {
    await this.orSay(() => forgetBenchmark(id));
    // The button that had the focus is gone.
    this.note.focus();
  }

  async forgetAll() {
    const answer = await ask({
      title: 'Delete the whole history?',
      text: `The figures of ${this.runs.length} ${this.runs.length === 1 ? 'run' : 'runs'} go. There is no undo.`,
      answers: [
        { value: 'delete', label: 'Delete all', danger: true },
        { value: 'keep', label: 'Keep them', primary: true },
      ],
    });
    if (answer === 'delete') await this.orSay(forgetBenchmarks);
  }

  /** @param {() => Promise<unknown>} act */
  async orSay(act) {
    try {
      await act();
      await this.refresh();
    } catch (error) {
      this.note.textContent = /** @type {Error} */ (error).message;
    }
  }
}

/** @param {Run} run */
function machineText({ machine }) {
  return [machine?.runtime, machine?.engine, machine?.durability].filter(Boolean).join(', ');
}

/** @param {string} made */
function whenText(made) {
  return new Date(made).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}
