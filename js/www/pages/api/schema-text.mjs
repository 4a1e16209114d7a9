// A JSON schema in words that can be read at a glance: `array of integer, 1 or more`, and the members of an object one a line.

/** What a keyword with a value adds, in the order in which they are said. @type {[string, (value: any) => string][]} */
const LIMITS = [
  ['format', (value) => value],
  ['contentEncoding', (value) => `as ${value}`],
  ['minimum', (value) => `${value} or more`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `${value} or less`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['minLength', (value) => `${value} or more characters`],
  ['maxLength', (value) => `${value} or fewer characters`],
  ['minItems', (value) => `${value} or more items`],
  ['maxItems', (value) => `${value} or fewer items`],
  ['pattern', (value) => `like /${value}/`],
  ['default', (value) => `else ${JSON.stringify(value)}`],
  ['description', (value) => value],
];

/**
 * @param {any} schema
 * @param {string} [indent] of the lines behind the first
 * @returns {string}
 * @example schemaText({ type: 'integer', minimum: 1 }) // 'integer, 1 or more'
 */
export function schemaText(schema, indent = '') {
  if (schema === true || schema === undefined) return 'anything';
  if (schema === false) return 'nothing';
  const limits = LIMITS.filter(([keyword]) => schema[keyword] !== undefined);
  const words = limits.map(([keyword, say]) => say(schema[keyword]));
  return [kindText(schema, indent), ...words].join(', ') + membersText(schema, indent);
}

/** @param {any} schema @param {string} indent */
function kindText(schema, indent) {
  const { $ref, type, items } = schema;
  if ($ref !== undefined) return $ref.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.map((/** @type {unknown} */ one) => JSON.stringify(one)).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf;
  // An object whose choices only say which members it must have is an object first.
  if (choices !== undefined && type === undefined)
    return choices.map((/** @type {object} */ one) => schemaText(one, indent)).join(' or ');
  if (type === 'array' && items !== undefined) return `array of ${schemaText(items, indent)}`;
  return type === undefined ? 'anything' : [type].flat().join(' or ');
}

/** @param {any} schema of an object @param {string} indent */
function membersText({ properties = {}, required = [] }, indent) {
  const deeper = `${indent}  `;
  return Object.entries(properties)
    .map(([name, member]) => {
      const mark = required.includes(name) ? ' (required)' : '';
      return `\n${deeper}${name}${mark}: ${schemaText(member, deeper)}`;
    })
    .join('');
}
