// What a handler answers, made ready to be sent: status, header fields and body. This happens inside the worker, so that the
// main thread only passes text on.

/**
 * @typedef {object} Reply
 * @property {number} statusCode
 * @property {Record<string, string | string[]> | undefined} headers what the handler asked for, names in lower case
 * @property {string | Uint8Array | undefined} body JSON text, bytes, or nothing
 */

/** What the status is when CaretDB refused an operation because of what the request asked for, or cannot do it now. */
const STATUS_BY_CODE = new Map([
  ['ERR_BAD_NAME', 400],
  ['ERR_BAD_KEY', 400],
  ['ERR_BAD_VALUE', 400],
  ['ERR_KEY_TOO_LONG', 400],
  ['ERR_TOO_LARGE', 413],
  ['ERR_BUSY', 503],
  ['ERR_LOCKED', 503],
  ['ERR_DISK_FULL', 507],
]);

/** Fields that belong to the connection: the server sets them. */
const CONNECTION_FIELDS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * An error reply.
 * @param {number} statusCode
 * @param {string} error what went wrong, for the caller
 * @param {Record<string, string>} [headers]
 * @returns {Reply}
 */
export function errorReply(statusCode, error, headers) {
  return { statusCode, headers, body: JSON.stringify({ error }) };
}

/**
 * What a caller learns of an error that a handler threw: the reason, where it lies in the request or in the state of the
 * store; nothing of the inside otherwise (the log has it).
 * @param {unknown} error
 * @returns {Reply}
 */
export function replyOfError(error) {
  const { code, message, statusCode } = /** @type {any} */ (error ?? {});
  const known = STATUS_BY_CODE.get(code);
  if (known !== undefined) return errorReply(known, String(message));
  if (Number.isInteger(statusCode) && statusCode >= 400 && statusCode < 500)
    return errorReply(statusCode, String(message), statusCode === 408 ? { connection: 'close' } : undefined);
  return errorReply(500, 'The handler of this request failed');
}

/**
 * @param {unknown} headers as a handler gives them
 * @returns {Record<string, string | string[]>}
 */
function checkedHeaders(headers) {
  /** @type {Record<string, string | string[]>} */
  const checked = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = name.toLowerCase();
    if (CONNECTION_FIELDS.has(lower)) continue;
    const values = (Array.isArray(value) ? value : [value]).map(String);
    if (!FIELD_NAME.test(name) || !values.every((text) => FIELD_VALUE.test(text))) {
      throw new TypeError(`http_response: '${name}' is not a header field that can be sent`);
    }
    checked[lower] = Array.isArray(value) ? values : values[0];
  }
  return checked;
}

/** @param {unknown} status @param {number} otherwise */
function statusOr(status, otherwise) {
  const number = Number(status);
  return Number.isInteger(number) && number >= 200 && number <= 599 ? number : otherwise;
}

/**
 * Makes a handler's answer ready to be sent.
 *
 * An object with `error` has status 400, or the status in its `errorCode`; `http_response: {statusCode, headers}` sets
 * status and header fields; both are left out of the body. Bytes are sent as they are, or with header fields as
 * `{http_response: {headers, body}}`, where a body of text is sent as it is too; nothing (`undefined`) is 204;
 * 204 and 304 have no body.
 * @param {any} answer anything JSON can say, bytes, or undefined
 * @returns {Reply}
 * @throws where the answer cannot be written as JSON or a header field cannot be sent
 */
export function toReply(answer) {
  if (answer === undefined) return { statusCode: 204, headers: undefined, body: undefined };
  if (answer instanceof Uint8Array) {
    return { statusCode: 200, headers: { 'content-type': 'application/octet-stream' }, body: answer };
  }
  if (answer === null || typeof answer !== 'object' || Array.isArray(answer)) {
    return { statusCode: 200, headers: undefined, body: JSON.stringify(answer) ?? 'null' };
  }
  let statusCode = 200;
  let headers;
  let visible = answer;
  if (answer.error !== undefined && answer.error !== null && answer.error !== false && answer.error !== '') {
    const { errorCode, ...rest } = answer;
    statusCode = Math.max(400, statusOr(errorCode, 400));
    visible = rest;
  }
  if (answer.http_response !== undefined) {
    const { http_response: response, ...rest } = visible;
    statusCode = statusOr(response?.statusCode, statusCode);
    headers = checkedHeaders(response?.headers);
    const body = response?.body;
    if (statusCode === 204 || statusCode === 304) return { statusCode, headers, body: undefined };
    if (body instanceof Uint8Array || typeof body === 'string') return { statusCode, headers, body };
    visible = rest;
  }
  return { statusCode, headers, body: JSON.stringify(visible) };
}
