// The attachments of a document, where it has any: what each is, a link that downloads it, and a look at it: the picture that it is,
// or its first bytes.

import { attachmentBeginning, attachmentsOf, attachmentUrl } from '../../api.mjs';
import { element } from '../../elements.mjs';
import { hexDump, sizeText } from './spelling.mjs';

/**
 * @typedef {import('../../api.mjs').Attachment} Attachment
 * @typedef {{ collection: string, id: string }} Owner
 */

/** Pictures that a browser shows without running anything in them. */
const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'];

/** A picture up to this many bytes is shown unasked, and a larger one than the second not at all. */
const SMALL_PICTURE = 1024 * 1024;
const LARGEST_PICTURE = 16 * 1024 * 1024;

/** How many bytes a look at other attachments has. */
const BEGINNING = 512;

/** More attachments than this are counted, not listed. */
const MOST_LISTED = 200;

/** What the servers take for a collection and for an id. */
const COLLECTION = /^[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_ID = /^(|\.|\.\.|_indexes)$|[\u0000-\u001f\u007f]/;

/**
 * The document that a node is the top of, as the routes of documents name it.
 *
 * @param {string} global
 * @param {readonly import('../../api.mjs').Subscript[]} subscripts
 * @returns {Owner | undefined}
 */
export function documentAt(global, [id, ...more]) {
  if (typeof id !== 'string' || more.length > 0 || id.length > 1000) return undefined;
  return COLLECTION.test(global) && !NO_ID.test(id) ? { collection: global, id } : undefined;
}

/**
 * @param {Owner} owner
 * @returns {Promise<HTMLElement[]>} nothing where there are no attachments
 */
export async function attachmentParts(owner) {
  const attachments = await attachmentsOf(owner.collection, owner.id);
  const { length } = attachments;
  if (length === 0) return [];
  const count = length.toLocaleString('en-US');
  const list = element('ul', { class: 'attachments', 'aria-label': 'Attachments' });
  list.append(...attachments.slice(0, MOST_LISTED).map((attachment) => entry(owner, attachment)));
  const parts = [element('h3', {}, length === 1 ? '1 attachment' : `${count} attachments`), list];
  if (length > MOST_LISTED)
    parts.push(element('p', { class: 'note' }, `The first ${MOST_LISTED} of ${count} attachments.`));
  return parts;
}

/** @param {Owner} owner @param {Attachment} attachment */
function entry({ collection, id }, attachment) {
  const { name, type, size } = attachment;
  const url = attachmentUrl(collection, id, name);
  const look = element('div', { class: 'attachment-look' });
  const button = element(
    'button',
    { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'aria-label': `Show ${name}` },
    'Show',
  );
  /** @param {boolean} isOpen */
  const setOpen = (isOpen) => {
    button.setAttribute('aria-expanded', String(isOpen));
    button.textContent = isOpen ? 'Hide' : 'Show';
    button.setAttribute('aria-label', `${button.textContent} ${name}`);
    look.replaceChildren(...(isOpen ? [lookAt(url, attachment)] : []));
  };
  button.addEventListener('click', () => setOpen(look.childElementCount === 0));
  if (isPicture(attachment) && size <= SMALL_PICTURE) setOpen(true);
  return element(
    'li',
    {},
    element(
      'div',
      { class: 'attachment-head' },
      element('span', { class: 'attachment-name' }, name),
      element('span', { class: 'note' }, `${type} · ${sizeText(size)}`),
      button,
      element(
        'a',
        { class: 'download', href: url, download: name, 'aria-label': `Download ${name}` },
        'Download',
      ),
    ),
    look,
  );
}

/** @param {Attachment} attachment */
function isPicture({ type, size }) {
  return PICTURE_TYPES.includes(type.split(';')[0].trim().toLowerCase()) && size <= LARGEST_PICTURE;
}

/** @param {string} url @param {Attachment} attachment */
function lookAt(url, attachment) {
  if (!isPicture(attachment)) return digits(url, attachment);
  const { name } = attachment;
  const image = element('img', { class: 'details-picture', loading: 'lazy', alt: `The picture ${name}` });
  // Its bytes may be no picture, whatever its type says.
  image.addEventListener('error', () => image.replaceWith(digits(url, attachment)));
  image.setAttribute('src', url);
  return image;
}

/** @param {string} url @param {Attachment} attachment */
function digits(url, { name, size }) {
  const shown = element(
    'pre',
    { class: 'details-hex', tabindex: 0, 'aria-label': `The bytes of ${name}` },
    size === 0 ? 'no bytes' : '…',
  );
  const place = element('div', {}, shown);
  if (size === 0) return place;
  attachmentBeginning(url, BEGINNING).then(
    (bytes) => {
      shown.textContent = hexDump(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''));
      if (size > bytes.length)
        place.append(
          element(
            'p',
            { class: 'note' },
            `The first ${bytes.length} of ${size.toLocaleString('en-US')} bytes.`,
          ),
        );
    },
    (error) => place.replaceChildren(element('p', { role: 'alert' }, /** @type {Error} */ (error).message)),
  );
  return place;
}
