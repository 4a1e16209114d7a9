// A node as if it were a plain JavaScript object or array: properties are its children. Names with an underscore in
// front are the members of the node itself, `proxy._node` is the node.

import { inspect } from 'node:util';
import * as arrays from './arrays.mjs';
import { setProperty } from './documents.mjs';
import { failure } from './failure.mjs';
import { arrayIndex } from './keys.mjs';
import { isArray } from './kinds.mjs';

/** @typedef {import('./node.mjs').Node} Node */

/** Members of a node that its proxy gives under a name with `_` in front. */
const NODE_MEMBERS = new Set(
  `rawSet value getValue delete defined exists hasChildren isLeafNode hasValue isArray isArrayMember increment
  firstChild lastChild parent nextSibling previousSibling getChild getChildAfter childAfter getChildBefore childBefore
  $ _ property pointer push at concat includes indexOf lastIndexOf join pop shift slice splice unshift sort reverse fill
  forEachChildNode length childNodes children properties lock unlock import forEachLeafNode leafNodes document
  document_q merge patch setLeaves`.split(/\s+/),
);

/** Array methods that the node itself has, which work in place where that is possible. */
const OWN_METHODS = new Set(['push', 'pop', 'shift', 'unshift', 'splice', 'concat', 'at']);

/** Array methods that change the array and answer it. */
const REORDERING = new Set(['sort', 'reverse', 'fill', 'copyWithin']);

/** @type {Set<PropertyKey>} */
const ARRAY_METHODS = new Set(Reflect.ownKeys(Array.prototype));
ARRAY_METHODS.delete('length');
ARRAY_METHODS.delete('constructor');

/**
 * @param {any} proxy `console.log` passes the proxy, not the target behind it
 * @returns {any}
 */
function inspected(proxy) {
  return proxy._node.document;
}

/** What is behind the proxy of anything but an array; it lets `console.log` show the document. */
class ObjectTarget {
  /** @param {Node} node */
  constructor(node) {
    Object.defineProperty(this, 'node', { value: node, configurable: true });
  }

  [inspect.custom]() {
    return inspected(this);
  }
}

/** What is behind the proxy of an array, so that `Array.isArray` holds. */
class ArrayTarget extends Array {
  [inspect.custom]() {
    return inspected(this);
  }
}

/**
 * @param {Node} node
 * @returns {any}
 */
export function proxyOf(node) {
  if (!isArray(node)) return new Proxy(new ObjectTarget(node), objectHandler);
  const target = new ArrayTarget();
  Object.defineProperty(target, 'node', { value: node, configurable: true });
  return new Proxy(target, arrayHandler);
}

/**
 * @param {object} target
 * @returns {Node}
 */
function nodeBehind(target) {
  return Reflect.get(target, 'node');
}

/**
 * The value of a node where JavaScript wants a string or number.
 *
 * @param {Node} node
 * @returns {any}
 */
function primitive(node) {
  const value = node.value;
  return typeof value === 'object' && value !== null ? String(value) : value;
}

/**
 * What every proxy has: the node's members, and what makes it behave as a value.
 *
 * @param {Node} node
 * @param {PropertyKey} name
 * @returns {{ value: any } | undefined} undefined when it is none of these
 */
function nodeMember(node, name) {
  if (name === Symbol.toPrimitive) return { value: () => primitive(node) };
  if (name === Symbol.iterator) {
    const properties = node.properties;
    return { value: properties[Symbol.iterator].bind(properties) };
  }
  if (typeof name === 'symbol') return { value: undefined };
  if (name === '_node') return { value: node };
  if (name === '_get') return { value: node.value };
  if (name === 'valueOf') return { value: () => node.value };
  if (name === 'toJSON') return { value: () => node.document };
  return underscored(node, String(name));
}

/**
 * @param {Node} node
 * @param {string} name
 * @returns {{ value: any } | undefined}
 */
function underscored(node, name) {
  if (!name.startsWith('_') || !NODE_MEMBERS.has(name.slice(1))) return undefined;
  const member = Reflect.get(node, name.slice(1));
  return { value: typeof member === 'function' ? member.bind(node) : member };
}

/**
 * `_value` and `_document` are written to the node, like they are read from it.
 *
 * @param {Node} node
 * @param {PropertyKey} name
 * @param {any} value
 * @returns {boolean} whether the name was one of them
 */
function setOnNode(node, name, value) {
  if (name === '_value') node.value = value;
  else if (name === '_document') node.document = value;
  else return false;
  return true;
}

/**
 * What a property of an array is: a scalar as it is, a proxy for what has members itself.
 *
 * @param {Node} node the array
 * @param {number} index
 * @returns {any}
 */
function memberOf(node, index) {
  const member = node._(index);
  const value = node._tree.handle.typed(...member._subscripts);
  if (value !== undefined && !member.hasChildren) return node._plain(value);
  return member.exists ? proxyOf(member) : undefined;
}

/**
 * @param {Node} node an array
 * @param {string} method one of Array.prototype
 * @param {any} proxy what the methods that answer their array give
 * @returns {(...args: any[]) => any}
 */
function arrayMethod(node, method, proxy) {
  if (OWN_METHODS.has(method)) return Reflect.get(node, method).bind(node);
  return (...args) => {
    /** @param {any[]} array */
    const call = (array) => Reflect.apply(Reflect.get(array, method), array, args);
    if (!REORDERING.has(method)) return call(node.document);
    arrays.rewrite(node, call);
    return proxy;
  };
}

/**
 * A frozen target would have to show what the proxy shows, for ever; but that is in the store, where it changes.
 *
 * @returns {never}
 */
function refuseToFreeze() {
  throw failure(
    'ERR_ARG',
    'a proxy of a node cannot be frozen, sealed or kept from growing: freeze its _document, a copy',
  );
}

/**
 * Refuses properties that a store cannot keep, before anything is written.
 *
 * @param {PropertyKey} name
 * @param {PropertyDescriptor} descriptor
 */
function checkDescriptor(name, descriptor) {
  const { get, set, configurable, enumerable, writable } = descriptor;
  const isPlain =
    get === undefined &&
    set === undefined &&
    configurable !== false &&
    enumerable !== false &&
    writable !== false;
  if (!isPlain) {
    throw failure(
      'ERR_ARG',
      `the property ${String(name)} of a node has a value only: no getter, and always writable and enumerable`,
    );
  }
}

/** @type {ProxyHandler<any>} */
const arrayHandler = {
  getPrototypeOf() {
    return Array.prototype;
  },

  get(target, name, proxy) {
    const node = nodeBehind(target);
    const member = nodeMember(node, name);
    if (member !== undefined) return member.value;
    if (name === 'length') return arrays.length(node);
    if (ARRAY_METHODS.has(name)) return arrayMethod(node, String(name), proxy);
    const index = arrayIndex(String(name));
    return index < 0 ? undefined : memberOf(node, index);
  },

  set(target, name, value) {
    const node = nodeBehind(target);
    if (setOnNode(node, name, value)) return true;
    if (name === 'length') {
      arrays.resize(node, value);
      return true;
    }
    const index = typeof name === 'string' ? arrayIndex(name) : -1;
    if (index < 0) return false;
    if (value !== undefined) node._(index).document = value;
    return true;
  },

  has(target, name) {
    const index = typeof name === 'string' ? arrayIndex(name) : -1;
    if (index >= 0) return nodeBehind(target)._(index).exists;
    return name === '_node' || Reflect.has(Array.prototype, name);
  },

  deleteProperty(target, name) {
    const index = typeof name === 'string' ? arrayIndex(name) : -1;
    if (index >= 0) nodeBehind(target)._(index).delete();
    return name !== 'length';
  },

  ownKeys(target) {
    return Reflect.ownKeys(nodeBehind(target).document);
  },

  getOwnPropertyDescriptor(target, name) {
    const node = nodeBehind(target);
    if (name === 'length')
      return { value: arrays.length(node), writable: true, enumerable: false, configurable: false };
    const index = typeof name === 'string' ? arrayIndex(name) : -1;
    return index < 0 ? undefined : described(memberOf(node, index));
  },

  defineProperty(target, name, descriptor) {
    checkDescriptor(name, descriptor);
    return 'value' in descriptor && (arrayHandler.set?.(target, name, descriptor.value, target) ?? false);
  },

  preventExtensions: refuseToFreeze,
};

/**
 * @param {any} value
 * @returns {PropertyDescriptor | undefined} undefined where there is no value
 */
function described(value) {
  return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
}

/**
 * Whether a name means something else on an array, so that a node that has become one since its proxy was made must be
 * asked.
 *
 * @param {PropertyKey} name
 * @returns {boolean}
 */
function isArrayName(name) {
  return (
    name === 'length' || (typeof name === 'string' && (arrayIndex(name) >= 0 || ARRAY_METHODS.has(name)))
  );
}

/** @type {ProxyHandler<any>} */
const objectHandler = {
  getPrototypeOf() {
    return Object.prototype;
  },

  get(target, name, proxy) {
    const node = nodeBehind(target);
    const member = nodeMember(node, name);
    if (member !== undefined) return member.value;
    if (isArrayName(name) && isArray(node)) return arrayHandler.get?.(target, name, proxy);
    return proxyOf(node.property(String(name)));
  },

  set(target, name, value, proxy) {
    const node = nodeBehind(target);
    if (setOnNode(node, name, value)) return true;
    if (typeof name === 'symbol') return false;
    if (isArrayName(name) && isArray(node)) return arrayHandler.set?.(target, name, value, proxy) ?? false;
    if (value !== undefined) setProperty(node, name, value);
    return true;
  },

  has(target, name) {
    if (typeof name === 'symbol') return false;
    const node = nodeBehind(target);
    if (name === '_node') return true;
    return isArrayName(name) && isArray(node)
      ? (arrayHandler.has?.(target, name) ?? false)
      : node.property(name).exists;
  },

  deleteProperty(target, name) {
    if (typeof name === 'symbol') return true;
    const node = nodeBehind(target);
    if (isArrayName(name) && isArray(node)) return arrayHandler.deleteProperty?.(target, name) ?? true;
    node.property(name).delete();
    return true;
  },

  ownKeys(target) {
    const node = nodeBehind(target);
    return isArray(node) ? Object.keys(node.document) : node.properties;
  },

  getOwnPropertyDescriptor(target, name) {
    if (typeof name === 'symbol') return undefined;
    const node = nodeBehind(target);
    if (isArrayName(name) && isArray(node)) {
      return name === 'length' ? undefined : arrayHandler.getOwnPropertyDescriptor?.(target, name);
    }
    const child = node.property(name);
    return child.exists ? described(proxyOf(child)) : undefined;
  },

  defineProperty(target, name, descriptor) {
    checkDescriptor(name, descriptor);
    return 'value' in descriptor && (objectHandler.set?.(target, name, descriptor.value, target) ?? false);
  },

  preventExtensions: refuseToFreeze,
};
