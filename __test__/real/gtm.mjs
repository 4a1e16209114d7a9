// A real M engine for tests: GT.M from Debian's package fis-gtm, with an empty database in a folder of the test's own.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { debianProgram } from './debian.mjs';

const found =
  process.arch === 'x64'
    ? debianProgram({ package: 'fis-gtm', programs: ['/usr/lib/*/fis-gtm/*/mupip'] })
    : { path: undefined, skip: `Debian has fis-gtm for x64, not for ${process.arch}` };

/** Why there is none here, or false. */
export const skip = found.skip;

/** A database of GT.M. */
export class Gtm {
  #environment;
  #mupip;

  /**
   * Makes one, which takes keys and strings as long as it can.
   *
   * @param {string} folder an empty folder
   * @param {'M' | 'UTF-8'} mode
   */
  constructor(folder, mode) {
    if (found.path === undefined) throw new Error(found.skip);
    const home = mode === 'M' ? dirname(found.path) : join(dirname(found.path), 'utf8');
    this.#mupip = join(home, 'mupip');
    this.#environment = {
      ...process.env,
      gtm_dist: home,
      gtmroutines: `${folder} ${join(home, 'libgtmutil.so')}`,
      gtmgbldir: join(folder, 'test.gld'),
      gtm_log: folder,
      gtm_tmp: folder,
      ...(mode === 'M' ? {} : { gtm_chset: 'UTF-8', LC_ALL: 'C.UTF-8', gtm_icu_version: icuVersion() }),
    };
    const settings = [
      `change -segment DEFAULT -file=${join(folder, 'test.dat')} -block_size=4096 -access_method=BG`,
      'change -region DEFAULT -stdnull -key_size=1019 -record_size=1048576',
      'exit',
    ];
    this.#run(join(home, 'mumps'), ['-run', 'GDE'], settings.join('\n'));
    this.#run(this.#mupip, ['create']);
  }

  /** @param {string} file @param {'zwr' | 'go'} format */
  load(file, format) {
    this.#run(this.#mupip, ['load', `-format=${format}`, file]);
  }

  /** @param {string} file @param {'zwr' | 'go'} format */
  extract(file, format) {
    this.#run(this.#mupip, ['extract', `-format=${format}`, file]);
  }

  /**
   * @param {string} program
   * @param {string[]} args
   * @param {string} [input]
   */
  #run(program, args, input) {
    const { status, error, stdout, stderr } = spawnSync(program, args, {
      env: this.#environment,
      input,
      encoding: 'utf8',
    });
    if (error !== undefined) throw error;
    if (status !== 0)
      throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  }
}

/** @returns {string} as GT.M asks for it: the name of the symbols in Debian's library ends in it */
function icuVersion() {
  const library = /^libicuio\.so\.(\d+\.\d+)$/;
  const folders = readdirSync('/usr/lib').filter((name) => name.endsWith('-linux-gnu'));
  const names = folders.flatMap((folder) => readdirSync(join('/usr/lib', folder)));
  const version = names.map((name) => library.exec(name)?.[1]).find(Boolean);
  if (version === undefined) throw new Error('GT.M needs ICU for UTF-8, and there is no libicuio');
  return version;
}
