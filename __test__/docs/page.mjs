// The programs of a documentation page: what stands in its fenced blocks, and what each says that it prints.

import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Block
 * @property {number} line where it begins, for a person to find it
 * @property {string} language
 * @property {string} text
 * @property {string | undefined} file what it asks to be called, by a first line `// handlers/person.mjs`
 * @property {string | undefined} notRun the reason, from a comment `<!-- not run: reason -->` above it
 */

/**
 * @param {string} path of a Markdown file
 * @returns {Block[]} its fenced blocks in order
 */
export function blocksOf(path) {
  /** @type {Block[]} */
  const blocks = [];
  const lines = readFileSync(path, 'utf8').split('\n');
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)\s*$/.exec(lines[at])?.[1];
    if (language === undefined) continue;
    const start = at + 1;
    while (++at < lines.length && !/^```\s*$/.test(lines[at]));
    if (at === lines.length) throw new Error(`${path}:${start}: the block does not end`);
    const text = lines.slice(start, at).join('\n');
    blocks.push({
      line: start,
      language,
      text,
      file: /^\/\/ (\S+\.[cm]?[jt]s)$/.exec(lines[start])?.[1],
      notRun: /^<!-- not run: (.+) -->$/.exec(lines[start - 2] ?? '')?.[1],
    });
  }
  return blocks;
}

/**
 * @param {string} program
 * @returns {string[]} what it says that it prints: the remark behind each `console.log(…);`
 * @example
 * promisedLines("console.log(1 + 1); // 2"); // ['2']
 */
export function promisedLines(program) {
  return [...program.matchAll(/console\.log\(.*\); +\/\/ (.+)$/gm)].map((match) => match[1]);
}

/**
 * @typedef {object} Call
 * @property {string} command
 * @property {string} status what the remark below it says that the server answers
 * @property {string} body the same; `…` in it stands for anything
 */

/**
 * @param {string} commands of a block in `sh`
 * @returns {Call[]} its calls of curl
 * @throws where nothing says what a call answers
 * @example
 * callsOf('curl localhost:3000/local\n# 200 {"ok":true}'); // [{command: 'curl …', status: '200', body: '{"ok":true}'}]
 */
export function callsOf(commands) {
  return [...commands.replaceAll(/ \\\n */g, ' ').matchAll(/^(?!#)(.*\bcurl\b.*)\n?((?:# .*\n?)*)/gm)].map(
    ([, command, remark]) => {
      const [status, ...body] = remark
        .trimEnd()
        .replaceAll(/^# /gm, '')
        .split(/(?<=^\d+) /);
      if (!/^\d{3}$/.test(status)) throw new Error(`no status and answer stand below: ${command}`);
      return { command, status, body: body.join(' ') };
    },
  );
}

/**
 * @param {string} program
 * @returns {boolean} whether it listens, and so does not end by itself
 */
export function isServer(program) {
  return /\.listen\(|Bun\.serve\(/.test(program);
}
