// Takes the globals of a YottaDB or GT.M database along: `mupip extract -format=zwr extract.zwr` there, this here.
//
//   node examples/import-zwr.mjs extract.zwr
//   node examples/import-zwr.mjs extract.zwr --charset m    of a database in M mode, whose strings are bytes

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { open } from 'caretdb';

const args = process.argv.slice(2);
if (args.length === 0) throw new Error('name the extract: node examples/import-zwr.mjs extract.zwr');

// The command checks the whole file first: a line that is wrong is named, and nothing is imported.
const command = fileURLToPath(new URL('./js/cli.mjs', import.meta.resolve('caretdb/package.json')));
const { status } = spawnSync(process.execPath, [command, 'import', ...args], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const db = open();
for (const name of db.globals()) {
  let leaves = 0;
  for (const _ of db.global(name).leaves()) leaves += 1;
  console.log(`^${name}: ${db.global(name).count()} children, ${leaves} values`);
}
db.close();
