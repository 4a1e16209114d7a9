// Marks: the values that tell an empty object, an empty array or an object where plain nodes would not. The native face
// shows a node that holds one as a node with the value undefined; moving in and out keeps which one it is.

/** A mark as a value of its own. */
export class Mark {
  /** @param {'emptyObject' | 'emptyArray' | 'object'} name */
  constructor(name) {
    this.name = name;
    Object.freeze(this);
  }
}

/** @type {ReadonlyMap<string, Mark>} every mark by its name */
export const MARKS = new Map(
  /** @type {const} */ (['emptyObject', 'emptyArray', 'object']).map((name) => [name, new Mark(name)]),
);

/**
 * The value of a node, marks included.
 *
 * @param {any} global
 * @param {any[]} subscripts
 * @param {any} value what the native face gave for it
 * @returns {any} the value; undefined only where there is none
 */
export function withMark(global, subscripts, value) {
  return value === undefined ? MARKS.get(global.mark(...subscripts)) : value;
}

/**
 * Stores a value, marks included.
 *
 * @param {any} global
 * @param {any[]} subscripts
 * @param {any} value
 */
export function store(global, subscripts, value) {
  if (value instanceof Mark) global.setMark(...subscripts, value.name);
  else global.set(...subscripts, value);
}
