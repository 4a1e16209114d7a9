// The benchmark page: the form, a run with its progress, and the questions that a run may raise.

import { cancelBenchmark, followBenchmark, newRunName, ReplyError, runBenchmark } from '../api.mjs';
import { tellGlobalsChanged } from '../directory.mjs';
import { copyOf, element, find } from '../elements.mjs';
import { ask } from '../question.mjs';
import { BenchmarkForm } from './benchmark/form.mjs';
import { HistoryView } from './benchmark/history.mjs';
import { ProgressView } from './benchmark/progress.mjs';
import { showRun } from './benchmark/results.mjs';

/**
 * @typedef {{ kind: 'run' | 'scale', documentName: string, json: string, noOfRecords: string }} Fields
 *
 * @param {HTMLElement} place
 */
export function show(place) {
  place.append(copyOf('benchmark-template'));
  return new BenchmarkPage(place).leave;
}

class BenchmarkPage {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.form = new BenchmarkForm(place, () => this.submit());
    this.progress = new ProgressView(place, () => this.cancel());
    this.history = new HistoryView(place);
    void this.history.refresh();
    this.alert = find(place, '#benchmark-alert', HTMLElement);
    this.lastResults = find(place, '#last-results', HTMLElement);
    /** @type {string | undefined} */
    this.run = undefined;
    /** @type {() => void} */
    this.showLast = () => {};
    find(place, '#show-results', HTMLButtonElement).addEventListener('click', () => this.showLast());
    const cancel = () => this.cancel();
    // Nobody would see the results of a run whose page is gone.
    addEventListener('pagehide', cancel);
    const refresh = () => void this.history.refresh();
    document.addEventListener('server-back', refresh);
    this.leave = () => {
      removeEventListener('pagehide', cancel);
      document.removeEventListener('server-back', refresh);
      this.progress.leave();
      cancel();
    };
  }

  async submit() {
    if (this.run) return;
    this.say('');
    const fields = this.form.read();
    if (!fields) return;
    const { problem } = this.form.readJson();
    if (problem && !(await this.acceptsText(problem))) {
      this.form.editJson();
      return;
    }
    await this.start(fields, false);
  }

  /** @param {string} problem */
  async acceptsText(problem) {
    const answer = await ask({
      title: 'This is not a JSON5 document',
      text: 'Submit it as plain text, stored as one string in each record, or edit it?',
      detail: problem,
      answers: [
        { value: 'text', label: 'Submit as text' },
        { value: 'edit', label: 'Edit', primary: true },
      ],
    });
    return answer === 'text';
  }

  /**
   * @param {Fields} fields
   * @param {boolean} confirm
   */
  async start(fields, confirm) {
    const run = newRunName();
    this.begin(run, fields);
    const stopFollowing = followBenchmark(run, (progress) => this.progress.update(progress));
    try {
      const report = await runBenchmark({ ...fields, run, confirm });
      this.end();
      this.showLast = () => showRun(asRun(fields, report));
      this.lastResults.hidden = false;
      this.showLast();
    } catch (error) {
      this.end();
      await this.refused(/** @type {Error} */ (error), fields);
    } finally {
      stopFollowing();
    }
  }

  /**
   * @param {string} run
   * @param {Fields} fields
   */
  begin(run, { kind, documentName, noOfRecords }) {
    this.run = run;
    this.form.setBusy(true);
    const count = Number(noOfRecords);
    const records = `${count.toLocaleString('en-US')} ${count === 1 ? 'record' : 'records'}`;
    const what = kind === 'scale' ? `Scaling up to ${records}` : `Running ${records}`;
    this.progress.open(`${what} in ^${documentName}`, kind, count);
  }

  end() {
    this.run = undefined;
    this.form.setBusy(false);
    this.progress.close();
    this.form.focusGo();
    tellGlobalsChanged();
    void this.history.refresh();
  }

  /**
   * @param {Error} error
   * @param {Fields} fields
   */
  async refused(error, fields) {
    const reason = error instanceof ReplyError ? error.reason : '';
    if (reason === 'confirm') {
      if (await this.acceptsLoss(fields.documentName)) await this.start(fields, true);
      return;
    }
    if (reason === 'cancelled') {
      this.say('Cancelled. The records that were written are deleted.', 'calm');
      return;
    }
    this.say(error.message);
    if (reason === 'name') this.form.rejectName();
  }

  /** @param {string} name */
  async acceptsLoss(name) {
    const answer = await ask({
      title: `^${name} holds other data`,
      text: 'No benchmark wrote what is there. A benchmark deletes everything in its global before it starts.',
      answers: [
        { value: 'delete', label: 'Delete it and run' },
        { value: 'keep', label: 'Keep it', primary: true },
      ],
    });
    return answer === 'delete';
  }

  async cancel() {
    if (!this.run) return;
    this.progress.cancelling();
    await cancelBenchmark(this.run).catch((error) =>
      this.say(`The run could not be cancelled. ${error.message}`),
    );
  }

  /**
   * @param {string} words
   * @param {'calm' | 'problem'} tone
   */
  say(words, tone = 'problem') {
    this.alert.className = `alert ${tone}`;
    this.alert.replaceChildren(...(words ? [element('p', {}, words)] : []));
  }
}

/**
 * @param {Fields} fields
 * @param {import('./benchmark/sections.mjs').Run['report']} report
 * @returns {import('./benchmark/sections.mjs').Run}
 */
function asRun({ kind, documentName, noOfRecords }, report) {
  const options = { documentName, noOfRecords: Number(noOfRecords) };
  return { kind, made: new Date().toISOString(), options, report };
}
