// Several threads or processes that work on one store at the same time.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const program = new URL('scaling-member.mjs', import.meta.url);

/**
 * @param {'threads' | 'processes'} kind
 * @param {number} count
 * @param {{ folder: string, act: 'get' | 'set', seconds: number }} task
 * @returns {Promise<number>} operations a second of all together
 */
export async function crowd(kind, count, task) {
  const members = Array.from({ length: count }, (_, member) => {
    const own = { ...task, member };
    return kind === 'threads' ? thread(own) : forked(own);
  });
  try {
    await Promise.all(members.map(({ answer }) => answer()));
    const answers = members.map(({ answer }) => answer());
    const begun = performance.now();
    for (const { tell } of members) tell('go');
    const counts = await Promise.all(answers);
    return counts.reduce((sum, done) => sum + done, 0) / ((performance.now() - begun) / 1000);
  } finally {
    await Promise.all(members.map(({ end }) => end()));
  }
}

/** @param {Record<string, unknown>} task */
function thread(task) {
  const worker = new Worker(program, { workerData: task });
  return {
    tell: (/** @type {string} */ message) => worker.postMessage(message),
    answer: () => next(worker),
    end() {
      const ended = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('end');
      return ended;
    },
  };
}

/** @param {Record<string, unknown>} task */
function forked(task) {
  const child = fork(fileURLToPath(program), [JSON.stringify(task)]);
  return {
    tell: (/** @type {string} */ message) => child.send(message),
    answer: () => next(child),
    end() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.send('end');
      return ended;
    },
  };
}

/** @param {import('node:events').EventEmitter} from @returns {Promise<any>} its next message */
function next(from) {
  return new Promise((resolve, reject) => {
    const failed = (/** @type {unknown} */ why) => reject(new Error(`a member failed: ${why}`));
    from.once('error', failed);
    from.once('exit', failed);
    from.once('message', (message) => {
      from.off('error', failed);
      from.off('exit', failed);
      resolve(message);
    });
  });
}
