// What `check` does about attachments: their files are beside LMDB's, so a look at its pages does not see what happened to them.

import { constants, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { filesFolder, uploadsFolder } from '../attachments/layout.mjs';
import { open } from '../native.mjs';

/** How many places of damage a report names. */
const MOST_NAMED = 100;

/**
 * Adds to a report what is wrong with the attachments of a store on LMDB that has any.
 *
 * @param {string} path the store's folder, or a backup
 * @param {any} found the report; `attachments` is new in it
 */
export async function addAttachments(path, found) {
  // Reading a damaged store could end the process, and what it says of attachments would mean little.
  if (!found.sound || !isLmdb(path)) return found;
  let verified;
  try {
    verified = await verify(path);
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    if (code === undefined) throw error;
    return { ...found, attachmentsUnchecked: message };
  }
  const { attachments, problems, strays } = verified;
  if (attachments === 0 && strays.length === 0) return found;
  const damage = problems.map(({ collection, id, name, problem }) => ({
    file: 'attachments',
    nodes: `${JSON.stringify(name)} of ^${collection}(${JSON.stringify(id)})`,
    what: problem,
  }));
  return {
    ...found,
    sound: problems.length === 0,
    damaged: problems.length,
    damage: damage.slice(0, MOST_NAMED),
    attachments: verified,
  };
}

/** @param {string} path */
function isLmdb(path) {
  return isBackup(path) || existsSync(join(path, 'working.mdb'));
}

/** @param {string} path @returns {boolean} whether nobody has opened it since it was made */
function isBackup(path) {
  return existsSync(join(path, 'durable.mdb')) && !existsSync(join(path, 'working.mdb'));
}

/** @param {string} path */
async function verify(path) {
  if (!isBackup(path)) return verifyStore(path);
  // To open a backup makes files in it, so a copy is opened that leads to the attachments of the backup.
  const copy = mkdtempSync(join(tmpdir(), 'caretdb-check-'));
  try {
    for (const name of ['durable.mdb', 'header'].filter((one) => existsSync(join(path, one))))
      await copyFile(join(path, name), join(copy, name), constants.COPYFILE_FICLONE);
    for (const folder of [filesFolder, uploadsFolder])
      if (existsSync(folder(path))) symlinkSync(resolve(folder(path)), folder(copy), 'junction');
    const verified = await verifyStore(copy);
    const problems = verified.problems.map((one) => ({
      ...one,
      problem: one.problem.replace(copy, () => path),
    }));
    return { ...verified, problems };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** @param {string} path */
async function verifyStore(path) {
  const db = open({ path, readOnly: true });
  try {
    return await db.attachments.verify();
  } finally {
    db.close();
  }
}
