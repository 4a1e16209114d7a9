// GET /benchmark/history answers the runs that are kept, the newest first; DELETE /benchmark/history/:id forgets one, and DELETE
// /benchmark/history all of them.

import { forgetAllRuns, forgetRun, pastRuns } from './history.mjs';

/**
 * @this {{ mgdbx: import('./counted.mjs').Mgdbx }}
 * @param {{ data: { method: string, params: { id?: string } } }} messageObj
 * @param {(reply: object) => void} finished
 */
export const handler = function (messageObj, finished) {
  const { method, params } = messageObj.data;
  const { mgdbx } = this;
  if (method === 'GET') return finished({ runs: pastRuns(mgdbx) });
  if (params.id === undefined) forgetAllRuns(mgdbx);
  else if (!/^\d{1,15}$/.test(params.id) || !forgetRun(mgdbx, params.id))
    return finished({ error: `No run ${params.id} is kept`, errorCode: 404 });
  finished({ ok: true });
};
