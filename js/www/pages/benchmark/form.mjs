// The benchmark's form: what the person typed, whether it can be sent, and a picture of how a record is stored.

import { element, find } from '../../elements.mjs';
import JSON5 from '../../vendor/json5.mjs';
import { storedNodes } from './stored-nodes.mjs';

const DEFAULT_NAME = 'bmTest';
const MOST_RECORDS = 10_000_000;
const COMMON_NUMBERS = [100, 10_000, 100_000, 1_000_000];

/** What each kind of run asks of the number of records. */
const KINDS = {
  run: { label: 'Number of records', fewest: 1, otherwise: '100', note: '1 to 10,000,000.' },
  scale: {
    label: 'Up to how many records',
    fewest: 1000,
    otherwise: '1000000',
    note: '1,000 to 10,000,000. Each step of 1,000, 2,000, 5,000, 10,000 … is a run of its own.',
  },
};

/** A text longer than this is sent, but not pictured while it is typed. */
const LONGEST_PICTURED = 50_000;

const EXAMPLES = [
  { label: 'Hello', json: "{hello: 'world'}" },
  {
    label: 'Person',
    json: `{
  name: 'Rob',
  address: {
    houseNo: 9,
    city: 'Redhill',
    county: 'Surrey'
  },
  telephone: '0790123456'
}`,
  },
  {
    label: 'Order with an array',
    json: "{order: 1042, paid: true, lines: [{item: 'tea', price: 4.5}, {item: 'milk', price: 1.2}]}",
  },
  { label: 'Plain text', json: 'The quick brown fox' },
];

export class BenchmarkForm {
  /**
   * @param {ParentNode} page
   * @param {() => void} onSubmit
   */
  constructor(page, onSubmit) {
    this.form = find(page, '#benchmark-form', HTMLFormElement);
    this.name = find(page, '#document-name', HTMLInputElement);
    this.number = find(page, '#number-of-records', HTMLInputElement);
    this.json = find(page, '#json', HTMLTextAreaElement);
    this.go = find(page, '#go', HTMLButtonElement);
    this.picture = find(page, '#preview-nodes', HTMLElement);
    this.jsonNote = find(page, '#json-note', HTMLElement);
    this.jsonNoteText = this.jsonNote.textContent;
    this.numberNote = find(page, '#number-note', HTMLElement);
    this.numberLabel = find(page, 'label[for="number-of-records"]', HTMLLabelElement);
    this.numberChoices = this.addChoices(
      find(page, '#record-choices', HTMLElement),
      this.number,
      numberChoices(),
    );
    this.addChoices(
      find(page, '#json-choices', HTMLElement),
      this.json,
      EXAMPLES.map(({ label, json }) => ({ label, value: json })),
    );
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      onSubmit();
    });
    this.form.addEventListener('input', () => this.update());
    find(page, '#run-kinds', HTMLElement).addEventListener('change', () => {
      this.number.value = KINDS[this.kind()].otherwise;
      this.update();
    });
    this.json.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
    this.update();
  }

  /**
   * Buttons that fill a field.
   *
   * @param {HTMLElement} place
   * @param {HTMLInputElement | HTMLTextAreaElement} field
   * @param {{ label: string, value: string }[]} choices
   */
  addChoices(place, field, choices) {
    return choices.map(({ label, value }) => {
      const button = element('button', { type: 'button', class: 'choice' }, label);
      button.addEventListener('click', () => {
        field.value = value;
        this.update();
      });
      place.append(button);
      return { button, value };
    });
  }

  /** @returns {'run' | 'scale'} */
  kind() {
    return find(this.form, '#kind-scale', HTMLInputElement).checked ? 'scale' : 'run';
  }

  /** What the person typed, or undefined after saying what has to change. */
  read() {
    const documentName = this.documentName();
    const kind = this.kind();
    const { fewest, otherwise } = KINDS[kind];
    const noOfRecords = this.number.value.replaceAll(/[\s,_]/g, '') || otherwise;
    const count = /^\d{1,9}$/.test(noOfRecords) ? Number(noOfRecords) : 0;
    if (this.json.value.trim() === '') {
      return this.reject(
        this.json,
        this.jsonNote,
        "Give a document, for example {hello: 'world'}, or any text.",
      );
    }
    if (count < fewest || count > MOST_RECORDS) {
      const range = `${fewest.toLocaleString('en-US')} to ${MOST_RECORDS.toLocaleString('en-US')}`;
      return this.reject(this.number, this.numberNote, `Give a whole number from ${range}.`);
    }
    return { kind, documentName, json: this.json.value, noOfRecords: String(count) };
  }

  documentName() {
    return this.name.value.trim().replace(/^\^/, '') || DEFAULT_NAME;
  }

  /** @returns {{ document: unknown, problem?: string }} the document, and why the text is not JSON5 where it is not */
  readJson() {
    try {
      return { document: JSON5.parse(this.json.value) };
    } catch (error) {
      return { document: this.json.value, problem: /** @type {Error} */ (error).message };
    }
  }

  /**
   * While a run goes on. Go! is not disabled, which would take the focus from it; a press is ignored.
   *
   * @param {boolean} busy
   */
  setBusy(busy) {
    this.go.setAttribute('aria-disabled', String(busy));
    this.form.setAttribute('aria-busy', String(busy));
  }

  focusGo() {
    this.go.focus();
  }

  editJson() {
    this.json.focus();
  }

  rejectName() {
    this.name.setAttribute('aria-invalid', 'true');
    this.name.focus();
  }

  /**
   * @param {HTMLElement} field
   * @param {HTMLElement} note
   * @param {string} problem
   * @returns {undefined}
   */
  reject(field, note, problem) {
    field.setAttribute('aria-invalid', 'true');
    note.textContent = problem;
    note.classList.add('problem');
    field.focus();
  }

  /** After a change: earlier problems are forgotten, and the picture is drawn again. */
  update() {
    for (const field of [this.name, this.number, this.json]) field.removeAttribute('aria-invalid');
    const { label, note, fewest } = KINDS[this.kind()];
    for (const { button, value } of this.numberChoices) button.hidden = Number(value) < fewest;
    this.numberLabel.textContent = label;
    this.numberNote.textContent = note;
    this.jsonNote.textContent = this.jsonNoteText;
    for (const note of [this.numberNote, this.jsonNote]) note.classList.remove('problem');
    this.picture.textContent = this.pictureText();
  }

  pictureText() {
    const text = this.json.value;
    if (text.trim() === '') return 'Type a document, and see its nodes here.';
    if (text.length > LONGEST_PICTURED) return 'This document is too large to picture; it can be run.';
    return storedNodes(this.documentName(), this.readJson().document);
  }
}

function numberChoices() {
  return COMMON_NUMBERS.map((count) => ({ label: count.toLocaleString('en-US'), value: String(count) }));
}
