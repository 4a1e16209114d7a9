// Whether a command of the documentation could be typed at all: its program, its flags, its scripts and its files are there. For
// commands that a test cannot run, since they need a server, a registry or hours.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../../js/cli/commands.mjs';
import { known, readArguments } from '../../js/cli/run.mjs';
import { readOptions } from '../../js/http/options.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CARGO = ['bench', 'build', 'clippy', 'deny', 'fmt', 'install', 'run', 'test'];
const NPM = ['ci', 'install', 'ls', 'pack'];

/** @param {string} folder @param {string} file */
const textOf = (folder, file) => readFileSync(join(root, folder, file), 'utf8');

/**
 * @param {string} text one command of a shell, or several joined by `&&`
 * @param {string} [folder] where it is typed, from the root of the repository
 * @throws where something it names is not there
 * @example
 * checkCommand('cd bench && npm run all');
 */
export function checkCommand(text, folder = '') {
  let place = folder;
  for (const command of text.split('&&')) {
    const words = wordsOf(command);
    if (words[0] === 'cd') place = requireFile(place, words[1]);
    else check(words, place);
  }
}

/** @param {string} command @returns {string[]} as a shell parts them, without a remark behind them */
function wordsOf(command) {
  const bare = command.replace(/(^|\s)#.*$/, '').trim();
  return [...bare.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));
}

/** @param {string} folder @param {string} path @returns {string} it, from the root */
function requireFile(folder, path) {
  if (!existsSync(join(root, folder, path))) throw new Error(`there is no ${join(folder, path)}`);
  return join(folder, path);
}

/** @param {string[]} words @param {string} folder */
function check([program, ...args], folder) {
  if (program === 'npm') return checkNpm(args, folder);
  if (program === 'cargo') return checkCargo(args);
  if (program === 'caretdb') return checkCaretdb(args);
  if (program === 'npx' && args[0] === 'caretdb') return checkCaretdb(args.slice(1));
  if (program === 'bash') return requireFile(folder, args[0]);
  if (program !== 'node' && program !== 'bun') throw new Error(`${program} is no program that is known here`);
  requireFile(folder, args[0]);
  if (/^[nb]ws\.m?js$/.test(args[0])) readOptions(args.slice(1), {});
  if (args[0] === 'js/cli.mjs') checkCaretdb(args.slice(1));
}

/** @param {string[]} args @param {string} folder */
function checkNpm(args, folder) {
  if (args[0] === '--prefix') return checkNpm(args.slice(2), args[1]);
  const script = args[0] === 'run' ? args[1] : args[0];
  if (args[0] !== 'run' && NPM.includes(script)) return;
  const { scripts } = JSON.parse(textOf(folder, 'package.json'));
  if (!Object.hasOwn(scripts, script)) throw new Error(`${folder || 'the package'} has no script ${script}`);
}

/** @param {string[]} args */
function checkCargo([command, ...args]) {
  if (!CARGO.includes(command)) throw new Error(`cargo ${command} is not known here`);
  const manifest = textOf('', 'Cargo.toml');
  for (const [at, flag] of args.entries()) {
    const name = args[at + 1];
    if (flag === '--features' && !new RegExp(`^${name} = \\[`, 'm').test(manifest))
      throw new Error(`there is no feature ${name}`);
    if (
      /^--(test|bench|example)$/.test(flag) &&
      !manifest.includes(`[[${flag.slice(2)}]]\nname = "${name}"\n`)
    )
      throw new Error(`there is no ${flag.slice(2)} ${name}`);
  }
}

/** @param {string[]} args */
function checkCaretdb([name, ...args]) {
  if (name === undefined || name === '--help' || name === '<command>') return;
  const { positionals } = readArguments(known(name), args);
  const most = COMMANDS[name]?.positionals[1] ?? 0;
  if (positionals.length > most) throw new Error(`caretdb ${name} takes ${most} arguments at most`);
}
