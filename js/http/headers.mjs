// The header fields of every reply, on both servers: what a browser may do with it.

/**
 * Pages load scripts, styles, images and data from this server only, run no inline script, and are shown in no other page's
 * frame. Nothing is guessed about types, and no other site may read or embed a reply. Other sites get no referrer; this one does,
 * because without it browsers send the form of the login with the origin `null`, which could be anybody's.
 */
export const SECURITY_HEADERS = Object.freeze({
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; " +
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** What replies over https have besides: the browser asks by https only from then on, for a year. */
export const SECURE_HEADERS = Object.freeze({ 'strict-transport-security': 'max-age=31536000' });

/** What a reply of a handler has besides, unless the handler says otherwise. */
export const REPLY_HEADERS = Object.freeze({
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
});

/** What a stream of server-sent events has besides. */
export const EVENT_HEADERS = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
});
