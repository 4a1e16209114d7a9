// Shows how far a run is: a bar over all sections, the section at work, and words for screen readers now and then.

import { element, find } from '../../elements.mjs';
import { lineLegend, showLines } from './line-chart.mjs';
import { SECTIONS } from './sections.mjs';

/** Screen readers hear of a new section, and of each such part of one; more often would be noise. */
const SPOKEN_STEP = 0.25;

/** A run that is over sooner shows no progress, in milliseconds. */
const OPENS_AFTER = 250;

export class ProgressView {
  /**
   * @param {ParentNode} page
   * @param {() => void} onCancel
   */
  constructor(page, onCancel) {
    this.panel = find(page, '#benchmark-progress', HTMLElement);
    this.bar = find(page, '#progress-bar', HTMLProgressElement);
    this.text = find(page, '#progress-text', HTMLElement);
    this.spoken = find(page, '#progress-spoken', HTMLElement);
    this.cancel = find(page, '#cancel', HTMLButtonElement);
    this.cancel.addEventListener('click', onCancel);
    this.live = find(page, '#scale-live', HTMLElement);
    find(page, '#scale-live-legend', HTMLElement).append(...lineLegend());
    /** The points of a scale run so far. @type {import('./sections.mjs').Point[]} */
    this.points = [];
    this.most = 0;
    this.lines = showLines(
      find(page, '#scale-live-canvas', HTMLElement),
      () => [this.points],
      () => this.most,
    );
    this.phases = SECTIONS.map(({ title }) => element('li', {}, title));
    find(page, '#progress-phases', HTMLOListElement).append(...this.phases);
    this.lastSpoken = '';
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.opening = undefined;
  }

  leave() {
    this.close();
    this.lines.stop();
  }

  /** @param {string} title @param {'run' | 'scale'} kind @param {number} records */
  open(title, kind, records) {
    this.most = records;
    this.live.hidden = kind !== 'scale';
    this.points = [];
    find(this.panel, '#progress-title', HTMLElement).textContent = title;
    this.cancel.disabled = false;
    this.lastSpoken = '';
    this.bar.value = 0;
    this.text.textContent = 'Starting';
    this.markPhases(-1);
    this.opening = setTimeout(() => {
      this.panel.hidden = false;
      this.cancel.focus();
      this.panel.scrollIntoView({ block: 'nearest' });
    }, OPENS_AFTER);
  }

  close() {
    clearTimeout(this.opening);
    this.panel.hidden = true;
    this.spoken.textContent = '';
  }

  cancelling() {
    this.cancel.disabled = true;
    this.text.textContent = 'Cancelling';
    this.panel.focus();
  }

  /** @param {import('../../api.mjs').Progress} progress */
  update({ phase, done, total, step, steps, part: share, points }) {
    if (points && points.length !== this.points.length) {
      this.points = points;
      this.lines.draw();
    }
    const at = SECTIONS.findIndex(({ name }) => name === phase);
    if (at < 0) {
      this.say('Clearing the global', phase);
      return;
    }
    const part = total > 0 ? done / total : 0;
    const ofStep = (at + part) / SECTIONS.length;
    this.bar.value = share ? share.before + share.now * ofStep : ofStep;
    this.markPhases(at);
    const records = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} records`;
    if (step === undefined)
      this.say(`${SECTIONS[at].title}: ${records}`, `${phase} ${Math.floor(part / SPOKEN_STEP)}`);
    else if (step === 0) this.say('Warming up', 'warm-up');
    else this.say(`Step ${step} of ${steps}. ${SECTIONS[at].title}: ${records}`, `step ${step}`);
  }

  /**
   * @param {string} words
   * @param {string} step what is said aloud when it differs from the step before
   */
  say(words, step) {
    if (!this.cancel.disabled) this.text.textContent = words;
    if (step === this.lastSpoken) return;
    this.lastSpoken = step;
    this.spoken.textContent = words;
  }

  /** @param {number} current */
  markPhases(current) {
    this.phases.forEach((phase, at) => {
      phase.className = at < current ? 'done' : '';
      if (at === current) phase.setAttribute('aria-current', 'step');
      else phase.removeAttribute('aria-current');
    });
  }
}
