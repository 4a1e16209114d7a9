// Checked by `npm run types`, never run: the declared entry and the written one export the same names and methods.

import type * as declared from '../../index.d.ts';
import type * as written from '../../js/index.mjs';

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const check = <T extends true>(_proof?: T) => {};

check<Same<keyof typeof declared, keyof typeof written>>();
check<Same<keyof declared.Database, keyof written.Database>>();
check<Same<keyof declared.AsyncDatabase, keyof written.AsyncDatabase>>();
check<Same<keyof declared.AsyncGlobal, keyof written.AsyncGlobal>>();
