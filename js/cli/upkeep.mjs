// `caretdb backup`, `restore`, `check` and `compact`: what keeps a whole store safe.

import { addon } from '../addon.mjs';
import { compact, doLongWork, restore } from '../native/long-work.mjs';
import { checkedFolder } from '../place.mjs';
import { addAttachments } from './attachment-check.mjs';
import { requireStore, storeFolder } from './folder.mjs';
import { count, Progress } from './output.mjs';

/** What `check` answers when something is damaged. */
export const DAMAGED = 4;

/**
 * Shows how far work on a whole store has come.
 *
 * @template T
 * @param {string} what
 * @param {(onProgress: (done: number, total: number) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function showing(what, work) {
  const progress = new Progress();
  try {
    return await work((done, total) => progress.show(what, done, total === 0 ? undefined : total));
  } finally {
    progress.end();
  }
}

/** @type {import('./commands.mjs').Command} */
export const backupCommand = {
  takes: '<to>',
  summary: 'copies the store into another folder while it is in use',
  teaches: `The copy has everything that was committed when the command began, as of one moment, and takes little space.
It is a store of its own: --data <to> looks at it, restore puts it in place. The folder must be empty or not
exist; it is there when the copy is complete and on the disk, and not before.

Examples
  caretdb backup monday-backup
  caretdb stats --data monday-backup`,
  positionals: [1, 1],
  outside: true,
  async run({ db, out }, [to], { json }) {
    const store = db('read');
    await showing('backup', (onProgress) => store.backup(to, { onProgress }));
    if (json) out.json({ from: store.path, to });
    else out.line(`${store.path} is copied to ${to}`);
  },
};

/** @type {import('./commands.mjs').Command} */
export const checkCommand = {
  takes: '[<folder>]',
  summary: 'looks for damage in a store or a backup',
  teaches: `Every page of its files, every key, every value, the entries of indexes against the documents, and the
bytes of attachments. Without a folder it is the store of --data. Nothing is changed. The store may be in use; then
the file that is safe on the disk is looked at. The exit status is 4 where something is damaged: what is named can no
longer be trusted, so restore a backup, or export what can still be read.

Examples
  caretdb check
  caretdb check --json`,
  positionals: [0, 1],
  outside: true,
  async run({ out }, [folder], { json, data }) {
    const path = checkedFolder('check', folder ?? storeFolder(data));
    const pages = JSON.parse(
      await showing('check', (onProgress) =>
        doLongWork('check', { onProgress }, (report) => addon.checkLater(path, report)),
      ),
    );
    const found = await addAttachments(path, pages);
    if (json) out.json({ path, ...found });
    else say(out, path, found);
    if (!found.sound) return DAMAGED;
  },
};

/**
 * @param {import('./output.mjs').Output} out
 * @param {string} path
 * @param {any} found
 */
function say(out, path, found) {
  const { pages, nodes, globals, indexes, indexEntries, waiting, damaged, damage, attachments } = found;
  out.line(path);
  out.line(`${count(pages)} pages, ${count(nodes)} nodes with a value in ${count(globals)} globals`);
  if (indexes > 0) out.line(`${count(indexes)} indexes with ${count(indexEntries)} entries`);
  if (waiting > 0) out.line(`${count(waiting)} transactions of the log wait for the next opening`);
  if (attachments !== undefined) sayAttachments(out, attachments);
  if (found.attachmentsUnchecked !== undefined)
    out.line(`attachments were not looked at: ${found.attachmentsUnchecked}`);
  for (const { file, nodes: where, what } of damage)
    out.line(`${file}: ${what}${where === '' ? '' : ` (${where})`}`);
  if (damaged > damage.length) out.line(`and ${count(damaged - damage.length)} more`);
  out.line(
    damaged === 0
      ? 'sound'
      : 'damaged: keep this folder as it is, and restore a backup into another one (caretdb restore --help)',
  );
}

/** @param {import('./output.mjs').Output} out @param {import('../../index.d.ts').VerifiedAttachments} verified */
function sayAttachments(out, { attachments, bytes, strays }) {
  out.line(`${count(attachments)} attachments with ${count(bytes)} bytes`);
  if (strays.length > 0)
    out.line(
      `${count(strays.length)} stretches of bytes that no attachment refers to: collect() removes them`,
    );
}

/** @type {import('./commands.mjs').Command} */
export const restoreCommand = {
  takes: '<from> [--force]',
  summary: 'puts a backup in the place of the store',
  teaches: `The backup is checked, then copied to the folder of --data, which must be empty or not exist. With --force a
store that is there is moved aside, to a folder of the same name and .replaced-1: nothing is deleted. A store that is
in use is never touched. The backup stays as it is.

Examples
  caretdb restore monday-backup --data restored
  caretdb restore monday-backup --force`,
  options: { force: { type: 'boolean', help: 'move the store aside that is there' } },
  positionals: [1, 1],
  outside: true,
  async run({ out }, [from], { json, data, force = false }) {
    const to = storeFolder(data);
    const aside = await showing('restore', (onProgress) => restore(from, to, { force, onProgress }));
    if (json) return out.json({ from, to, ...(aside === undefined ? {} : { aside }) });
    if (aside !== undefined) out.line(`the store that was there is now ${aside}`);
    out.line(`${to} holds what ${from} holds`);
  },
};

/** @type {import('./commands.mjs').Command} */
export const compactCommand = {
  takes: '',
  summary: 'makes the files of the store as small as what they hold',
  teaches: `Space that deleted nodes took is used again by later writes, so this is for a store that will stay smaller. Nobody
else may have the store open. It needs room for a second copy meanwhile, and loses nothing when it is interrupted.

Examples
  caretdb compact`,
  positionals: [0, 0],
  outside: true,
  async run({ out }, _, { json, data }) {
    const path = storeFolder(data);
    requireStore(path);
    await showing('compact', (onProgress) => compact(path, { onProgress }));
    if (json) out.json({ path });
    else out.line(`${path} is compact`);
  },
};
