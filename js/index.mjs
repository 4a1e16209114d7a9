// The package's entry: all database classes. The servers have entries of their own.

export { glsDB } from './glsdb.mjs';
export { mclass, mcursor, mglobal, server } from './mg-dbx.mjs';
export { check } from './native/check.mjs';
export { compact, restore } from './native/long-work.mjs';
export { AsyncDatabase, AsyncGlobal, Database, Global, open, Watcher } from './native.mjs';
