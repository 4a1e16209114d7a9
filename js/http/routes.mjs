// The routes of the two servers that come with the package, nws.mjs and bws.js.

import { answerJson5 } from '../handlers/json5.mjs';
import { answerLocally } from '../handlers/local.mjs';
import { documentRoutes } from './documents/routes.mjs';
import { viewerRoutes } from './viewer-routes.mjs';

/** @param {string} name @returns {string} the URL of a handler module of this package */
function handler(name) {
  return new URL(`../handlers/${name}.mjs`, import.meta.url).href;
}

/** The folder of the browser pages. */
export const PAGES = new URL('../www/', import.meta.url).href;

/**
 * The routes.
 * @param {string} serverName the name that GET /local answers with
 * @param {{edit?: boolean} & import('./documents/routes.mjs').DocumentLimits} [options] `edit`: the viewer may change globals
 * @returns {import('./service.mjs').RouteOptions[]}
 */
export function showcaseRoutes(serverName, { edit = false, ...limits } = {}) {
  return [
    { method: 'get', url: '/local', mainHandler: () => answerLocally(serverName) },
    { method: 'get', url: '/helloworld', handlerPath: handler('helloworld') },
    { method: 'get', url: '/user/:id', handlerPath: handler('user') },
    { method: 'post', url: '/user', handlerPath: handler('user'), schema: { body: { type: 'object' } } },
    { method: 'get', url: '/viewer/globaldirectory', handlerPath: handler('viewer') },
    { method: 'get', url: '/viewer/documentNode/:documentName', handlerPath: handler('viewer') },
    {
      method: 'post',
      url: '/viewer/getChildNodes',
      handlerPath: handler('viewer'),
      schema: { body: CHILD_NODES_BODY },
      invalid: 'Invalid request',
    },
    ...viewerRoutes(handler, edit),
    { method: 'get', url: '/vendor/json5.mjs', mainHandler: answerJson5 },
    {
      method: 'get',
      url: '/api',
      mainHandler: () => ({ http_response: { statusCode: 303, headers: { location: '/#/api' } } }),
      openapi: {
        summary: 'The page that shows this document',
        tag: 'Server',
        replies: { 303: 'Where the page is' },
      },
    },
    { method: 'post', url: '/benchmark', handlerPath: handler('benchmark'), events: true },
    { method: 'get', url: '/benchmark/history', handlerPath: handler('benchmark/past-runs') },
    { method: 'delete', url: '/benchmark/history', handlerPath: handler('benchmark/past-runs') },
    { method: 'delete', url: '/benchmark/history/:id', handlerPath: handler('benchmark/past-runs') },
    ...documentRoutes(limits),
  ];
}

/** Ids are the page's own: positive numbers. */
const ID = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

const CHILD_NODES_BODY = {
  type: 'object',
  required: ['path', 'parentId', 'idCounter'],
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 8192 },
    parentId: ID,
    idCounter: ID,
    maxSubscripts: { type: 'integer', minimum: 1, maximum: 1000 },
    moreSiblings: { type: 'boolean' },
    morePreviousSiblings: { type: 'boolean' },
    seed: { type: ['string', 'number'] },
  },
};
