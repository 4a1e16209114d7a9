// The engines that a suite runs on, each with new stores of its own.

import { newFolder } from '../mg-dbx/store.mjs';
import { newUrls, skip } from './postgres.mjs';

const nextUrl = skip ? undefined : await newUrls();

/** @typedef {'lmdb' | 'sled' | 'postgres'} Engine */

/** @type {readonly Engine[]} */
export const ENGINES = ['lmdb', 'sled', 'postgres'];

/** @param {Engine} engine @returns {string | false} why it cannot be had here */
export function missing(engine) {
  return engine === 'postgres' && skip;
}

/** @returns {string} the URL of a new store on a server */
export function newUrl() {
  if (nextUrl === undefined) throw new Error(`no PostgreSQL: ${skip}`);
  return nextUrl();
}

/** @param {Engine} engine @returns {import('caretdb').OpenOptions} what opens a new store, which goes away with the file */
export function newStore(engine) {
  return engine === 'postgres' ? { engine, url: newUrl() } : { engine, path: newFolder() };
}
