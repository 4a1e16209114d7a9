// Makes the elements of a page by script.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean>} [attributes] `true` sets an empty attribute, `false` leaves it out
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 * @example element('button', { type: 'button', class: 'quiet' }, 'Close')
 */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * The element that a selector names. A page whose parts are missing fails here, by name.
 *
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T}
 * @example find(document, '#go', HTMLButtonElement).disabled = true
 */
export function find(root, selector, kind) {
  const found = root.querySelector(selector);
  if (found instanceof kind) return found;
  throw new TypeError(`the page has no ${kind.name} at ${selector}`);
}

/**
 * A copy of a template in the page.
 *
 * @param {string} id
 * @returns {DocumentFragment}
 */
export function copyOf(id) {
  return document.importNode(find(document, `template#${id}`, HTMLTemplateElement).content, true);
}

/**
 * @template {Element} T
 * @param {T} made
 * @param {Record<string, string | number | boolean>} attributes
 * @param {(Node | string)[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, '');
    else if (value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}
