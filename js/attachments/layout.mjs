// Where attachments are. What an attachment is called is a node; its bytes are in a file beside the store, or in nodes.
//
//     ^%caretdb("attachment",collection,id,name)    what it is: JSON {key, kind, size, sha256, type, created}
//     ^%caretdb("attachments","owner",key)          whose the bytes are: JSON [collection, id, name]
//     ^%caretdb("attachments","dropped",key)        bytes that nobody owns any more: when, in milliseconds, and their kind
//     ^%caretdb("attachments","bytes",key,n)        bytes in nodes, CHUNK by CHUNK
//     ^%caretdb("attachments","upload",key)         locked while the bytes arrive
//     ^%caretdb("attachments","collect")            locked while bytes are removed, and while a backup copies the files
//
// A file of more than one chunk is written as uploads/<key>, and becomes attachments/<first two digits>/<key> when it is complete. It
// is on the disk before a node says whose it is, and never
// changes after that: other bytes get another key.

import { join } from 'node:path';
import { addon } from '../addon.mjs';

/** Up to this many bytes are a node, which costs no sync of their own. */
export const SMALL = 64 * 1024;
/** How many bytes one node takes. */
export const CHUNK = 512 * 1024;

/** @param {any} server a connection @param {...string} below @returns {any} the node */
export function ownNode(server, ...below) {
  return new addon.Global(server, '%caretdb', ...below);
}

/** @param {any} server a connection @returns {boolean} whether large attachments are files: where the store is a folder of its own */
export function keepsFiles(server) {
  return server.durability() !== '';
}

/** @param {string} store its folder */
export function uploadsFolder(store) {
  return join(store, 'uploads');
}

/** @param {string} store its folder @param {string} key @returns {string} the file while its bytes arrive */
export function partialOf(store, key) {
  return join(uploadsFolder(store), key);
}

/** @param {string} store its folder */
export function filesFolder(store) {
  return join(store, 'attachments');
}

/** @param {string} store its folder @param {string} key */
export function fileOf(store, key) {
  return join(filesFolder(store), key.slice(0, 2), key);
}
