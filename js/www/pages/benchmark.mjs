// The benchmark page: the form, a run with its progress, and the questions that a run may raise.

import { cancelBenchmark, followBenchmark, newRunName, ReplyError, runBenchmark } from '../api.mjs';
import { tellGlobalsChanged } from '../directory.mjs';
import { copyOf, element, find } from '../elements.mjs';
import { ask } from '../question.mjs';
import { BenchmarkForm } from './benchmark/form.mjs';
import { ProgressView } from './benchmark/progress.mjs';
import { showResults } from './benchmark/results.mjs';

/** @param {HTMLElement} place */
export function show(place) {
  place.append(copyOf('benchmark-template'));
  return new BenchmarkPage(place).leave;
}

class BenchmarkPage {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.form = new BenchmarkForm(place, () => this.submit());
    this.progress = new ProgressView(place, () => this.cancel());
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
    this.leave = () => {
      removeEventListener('pagehide', cancel);
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
   * @param {{ documentName: string, json: string, noOfRecords: string }} fields
   * @param {boolean} confirm
   */
  async start(fields, confirm) {
    const run = newRunName();
    this.begin(run, fields);
    const stopFollowing = followBenchmark(run, (progress) => this.progress.update(progress));
    try {
      const report = await runBenchmark({ ...fields, run, confirm });
      this.end();
      this.showLast = () => showResults(report, fields.documentName);
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
   * @param {{ documentName: string, noOfRecords: string }} fields
   */
  begin(run, { documentName, noOfRecords }) {
    this.run = run;
    this.form.setBusy(true);
    const count = Number(noOfRecords);
    const records = `${count.toLocaleString('en-US')} ${count === 1 ? 'record' : 'records'}`;
    this.progress.open(`Running ${records} in ^${documentName}`);
  }

  end() {
    this.run = undefined;
    this.form.setBusy(false);
    this.progress.close();
    this.form.focusGo();
    tellGlobalsChanged();
  }

  /**
   * @param {Error} error
   * @param {{ documentName: string, json: string, noOfRecords: string }} fields
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
