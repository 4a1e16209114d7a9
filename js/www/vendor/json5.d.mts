// The types of /vendor/json5.mjs, which the servers answer from the installed json5 package.
export { default } from 'json5';
